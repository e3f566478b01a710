// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Testing

/// What is checked in a request's head; `HeadMarksTests` and `HeadSizeTests` do that with a running server.
@Suite struct HTTPHeadTests {
    /// Decodes a head, with limits of 3 headers, 2 query items and a body of 1000 bytes.
    private func read(
        _ method: String = "POST", _ path: String = "/lives", version: String = "HTTP/1.1", query: String = "",
        _ headers: [(String, String)] = []
    ) -> (request: HTTPRequest, failure: HTTPFailure?) {
        var limits = HTTPLimits()
        limits.headers = 3
        limits.queryItems = 2
        limits.bodyBytes = 1000
        let head = HTTPHead(
            method: method, version: version, path: path, query: Array(query.utf8), headers: headers.map { ($0, $1) })
        return head.request(within: limits)
    }

    /// Rules: R13.45.
    @Test func `path, query and headers are decoded`() throws {
        let (request, failure) = self.read(
            "GET", "/lives/a%2Fb", query: "name=a+b%20c&none",
            [("Accept", "a"), ("X-Forwarded-For", "1.2.3.4"), ("accept", "é")])
        #expect(failure == nil)
        #expect(request.method == .get && request.segments == ["lives", "a/b"])
        #expect(request.query == [HTTPQueryItem(name: "name", value: "a b c"), HTTPQueryItem(name: "none", value: "")])
        // Each byte that is not ASCII becomes the control character SUB.
        #expect(request.headers == ["accept": "a, \u{1A}\u{1A}", "x-forwarded-for": "1.2.3.4"])
    }

    /// Rules: R13.44, R13.45.
    @Test func `a head that is malformed or too large is rejected`() {
        // One combining mark more than may be in a row.
        let marks = String(repeating: "\u{301}", count: 31)
        for failure in [
            self.read("").failure, self.read("GE T").failure, self.read("GET", "lives").failure,
            self.read("GET", "/%").failure, self.read("GET", "/%00").failure, self.read("GET", "/\(marks)").failure,
            self.read(query: "a=%zz").failure, self.read(query: "\(marks)=1").failure,
            self.read([("a b", "1")]).failure, self.read([(marks, "1")]).failure,
        ] {
            #expect(failure == .badRequest)
        }
        #expect(self.read(query: "a&b&c").failure == .headersTooLarge)
        #expect(self.read((0..<4).map { ("a\($0)", "") }).failure == .headersTooLarge)
    }

    /// The version and headers of a head, the length of the body that they announce, and why they are rejected.
    struct Announcement: Sendable {
        var version = "HTTP/1.1"
        var headers: [(String, String)]
        /// Nil if the body is chunked.
        var bytes: Int?
        /// Nil if the head is accepted.
        var failure: HTTPFailure?

        static let all = [
            Self(headers: [], bytes: 0),
            Self(headers: [("Content-Length", "1000")], bytes: 1000),
            Self(headers: [("Content-Length", "1001")], bytes: 1001, failure: .payloadTooLarge),
            Self(headers: [("Content-Length", "+1")], bytes: 1, failure: .badRequest),
            Self(headers: [("Content-Length", "")], bytes: .max, failure: .badRequest),
            Self(headers: [("content-length", "1"), ("Content-Length", "1")], bytes: .max, failure: .badRequest),
            Self(headers: [("Transfer-Encoding", "Chunked")], bytes: nil),
            Self(version: "HTTP/1.0", headers: [("Content-Length", "1000")], bytes: 1000),
            Self(
                version: "HTTP/1.0", headers: [("Transfer-Encoding", "chunked")], bytes: nil, failure: .badRequest),
            Self(headers: [("Transfer-Encoding", "gzip, chunked")], bytes: nil, failure: .badRequest),
            Self(
                headers: [("Transfer-Encoding", "chunked"), ("Content-Length", "1")], bytes: nil, failure: .badRequest),
        ]
    }

    /// Rules: R13.46.
    @Test(arguments: Announcement.all)
    func `a head announces the length of its body, or that it is chunked, and never both`(announcement: Announcement) {
        let result = self.read("POST", "/lives", version: announcement.version, announcement.headers)
        #expect(result.failure == announcement.failure)
        #expect(result.request.announcedBodyBytes == announcement.bytes)
    }
}

extension HTTPHeadTests {
    private func read(_ headers: [(String, String)]) -> (request: HTTPRequest, failure: HTTPFailure?) {
        self.read("POST", "/lives", headers)
    }
}
