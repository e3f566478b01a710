// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Testing

/// Tests of requests to `WebServer` whose request line has many combining marks, such as U+0301 (an acute accent).
///
/// To hash or compare a string, Swift sorts its marks, in a time that grows with the square of their number.
@Suite(.timeLimit(.minutes(1))) struct HeadMarksTests {
    /// About as many marks as fit into a head of 16 KiB: 7,800 marks of two bytes are 15,600 bytes.
    ///
    /// They are in the order that takes the longest to sort: the marks U+0301 (combining class 230) come before the
    /// marks U+0334 (class 1).
    fileprivate static let marks =
        String(repeating: "\u{301}", count: 3_900) + String(repeating: "\u{334}", count: 3_900)
    /// A third of the marks, percent-encoded, because an encoded mark has six bytes instead of two.
    fileprivate static let encodedMarks =
        String(repeating: "%CC%81", count: 1_300) + String(repeating: "%CC%B4", count: 1_300)

    /// A server with a route whose path has a parameter, and one whose path has none.
    private static func makeServer() throws -> WebServer {
        var router = Router<HTTPHandler>()
        router.add(.get, "/lives") { request, responder in responder.complete(.text("list")) }
        router.add(.get, "/lives/{live}/stage") { request, responder in responder.complete(.text("stage")) }
        return try WebServer(port: 0, handler: router.handler())
    }

    /// The part of the request line in which the marks are.
    enum Place: CaseIterable {
        case method, methodWithoutRoute, endOfMethod, queryName, encodedQueryName, queryValue, encodedQueryValue
        case parameter, encodedParameter, path

        /// The method, the path and the query.
        var target: String {
            switch self {
            case .method: "\(HeadMarksTests.marks) /lives"
            case .methodWithoutRoute: "\(HeadMarksTests.marks) /none"
            case .endOfMethod: "GET\(HeadMarksTests.marks) /lives"
            case .queryName: "GET /lives?\(HeadMarksTests.marks)=1"
            case .encodedQueryName: "GET /lives?\(HeadMarksTests.encodedMarks)=1"
            case .queryValue: "GET /lives?order=\(HeadMarksTests.marks)"
            case .encodedQueryValue: "GET /lives?order=\(HeadMarksTests.encodedMarks)"
            case .parameter: "GET /lives/a\(HeadMarksTests.marks)/stage"
            case .encodedParameter: "GET /lives/\(HeadMarksTests.encodedMarks)/stage"
            case .path: "GET /\(HeadMarksTests.marks)"
            }
        }
    }

    /// Rules: R13.45.
    @Test(arguments: Place.allCases)
    func `I16 a request line of combining marks is rejected with 400 before anything compares them`(place: Place)
        throws
    {
        let target = place.target
        let server = try Self.makeServer()
        defer { server.stop() }
        let took = try ContinuousClock().measure {
            for _ in 0..<20 {
                let client = try RawClient(port: server.port)
                client.send("\(target) HTTP/1.1\r\nHost: a\r\n\r\n")
                #expect(try client.readResponse().status == 400)
            }
        }
        // One comparison of the marks takes about 25 ms. With four comparisons for each of the 20 requests, it would
        // take 2 s. The scans that reject the requests take far less.
        #expect(took < .seconds(2))
    }

    /// Rules: R13.45.
    @Test(arguments: [
        ("GE(T", 400), ("GÉT", 400), (String(repeating: "G", count: 33), 400),
        (String(repeating: "G", count: 32), 405), ("get", 405), ("GET", 200),
    ])
    func `a method is a token of at most 32 bytes`(method: String, status: Int) throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        client.send("\(method) /lives HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == status)
        // Other clients are served meanwhile and afterwards.
        let other = try RawClient(port: server.port)
        other.send("GET /lives HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try other.readResponse().status == 200)
    }
}
