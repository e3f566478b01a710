// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Testing

/// Tests of the limit of `WebServer` for the head of a request, which is the request line and all headers together.
@Suite(.timeLimit(.minutes(1))) struct HeadSizeTests {
    /// Rules: R13.44.
    @Test func `I16 a head of more than 16 KiB is answered with 431, whatever is long, and one of 16 KiB is served`()
        throws
    {
        let server = try WebServer(port: 0) { request, responder in responder.complete(.text("hello")) }
        defer { server.stop() }
        /// A head of this many bytes: the letter `a`, repeated between the two texts.
        func head(_ before: String, _ after: String, bytes: Int) -> String {
            before + String(repeating: "a", count: bytes - before.utf8.count - after.utf8.count) + after
        }
        let manyHeaders = String(repeating: "X: y\r\n", count: 97)
        // The two texts around the long part. The long part is, in this order: a header's value, a header's name, the
        // value of the last of 99 headers, the query, and the path.
        let forms = [
            ("GET /hello/bob HTTP/1.1\r\nHost: a\r\nX-A: ", "\r\n\r\n"),
            ("GET /hello/bob HTTP/1.1\r\nHost: a\r\nX-", ": a\r\n\r\n"),
            ("GET /hello/bob HTTP/1.1\r\nHost: a\r\n\(manyHeaders)X-A: ", "\r\n\r\n"),
            ("GET /hello/bob?q=", " HTTP/1.1\r\nHost: a\r\n\r\n"),
            ("GET /hello/", " HTTP/1.1\r\nHost: a\r\n\r\n"),
        ]
        // Beyond 32 KiB the library of the server, libmicrohttpd, answers by itself. Near 32 KiB the library has hardly
        // any memory left for a response, so the test tries many sizes there.
        let limit = 16 << 10
        let sizes = [limit - 300, limit - 100, limit, limit + 1, limit + 200, 20_000, 40_000]
        for size in sizes + Array(stride(from: 31_000, through: 33_500, by: 50)) {
            for (index, form) in forms.enumerated() {
                let client = try RawClient(port: server.port)
                client.send(head(form.0, form.1, bytes: size))
                let response = try client.readResponse()
                let expected = size <= limit ? [200] : [431, 414]
                #expect(expected.contains(response.status), "form \(index), \(size) bytes: \(response.status)")
                if size > limit, size < 30_000 {
                    #expect(response.status == 431 && response.body.contains("headersTooLarge"))
                    #expect(response.headers["connection"] == "close")
                }
            }
        }
        let client = try RawClient(port: server.port)
        client.send(head("HEAD /hello/bob HTTP/1.1\r\nHost: a\r\nX-A: ", "\r\n\r\n", bytes: 20_000))
        #expect(client.readToEnd().hasSuffix("\r\n\r\n"), "the response to HEAD has no body")
    }
}
