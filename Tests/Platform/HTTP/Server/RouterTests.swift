// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import Testing

/// Tests of the route that `Router` finds for a method and a path.
@Suite struct RouterTests {
    static let router: Router<String> = {
        var router = Router<String>()
        router.add(.get, "/v1/lives", "list")
        router.add(.post, "/v1/lives", "create")
        router.add(.get, "/v1/lives/{live}", "info")
        router.add(.get, "/v1/lives/mine", "mine")
        router.add(.put, "/v1/lives/{live}/admins/{user}", "admin")
        router.add(.delete, "/v1/lives/{id}/admins/{who}", "dismiss")
        router.add(.get, "/", "root")
        return router
    }()

    /// The name of the found route with its parameters, or the status of the error, or `unreadable`.
    static func matchText(_ method: HTTPMethod, _ path: String) -> String {
        guard let request = HTTPRequest(method: method, path: path) else { return "unreadable" }
        switch Self.router.match(method, request.segments) {
        case .found(let route, let parameters):
            let parameterTexts = parameters.sorted { $0.key < $1.key }.map { " \($0.key)=\($0.value)" }
            return route + parameterTexts.joined()
        case .notFound: return "404"
        case .methodNotAllowed(let allowed): return "405 " + allowed.map(\.rawValue).joined(separator: ",")
        }
    }

    @Test func `a route is found by method and path, and a fixed segment takes precedence over a parameter`() {
        #expect(Self.matchText(.get, "/v1/lives") == "list")
        #expect(Self.matchText(.post, "/v1/lives") == "create")
        #expect(Self.matchText(.get, "/v1/lives/abc") == "info live=abc")
        #expect(Self.matchText(.get, "/v1/lives/mine") == "mine")
        #expect(Self.matchText(.put, "/v1/lives/a/admins/b") == "admin live=a user=b")
        #expect(Self.matchText(.put, "/v1/lives/mine/admins/b") == "admin live=mine user=b")
        #expect(Self.matchText(.delete, "/v1/lives/a/admins/b") == "dismiss id=a who=b")
        #expect(Self.matchText(.get, "/") == "root")
        #expect(Self.matchText(.head, "/v1/lives/abc") == "info live=abc")
    }

    @Test func `a path is split before its segments are decoded, so that an encoded slash is part of a segment`() {
        #expect(Self.matchText(.get, "/v1/lives/a%2Fb%20%C3%A9") == "info live=a/b é")
        #expect(Self.matchText(.get, "/v1/lives/..%2f..") == "info live=../..")
    }

    @Test(arguments: ["/v1", "/v1/lives/", "/v1/lives/a/", "/v1//lives", "//", "/v1/lives/a/admins", "/V1/lives"])
    func `a path without a route is not found`(path: String) {
        #expect(Self.matchText(.get, path) == "404")
    }

    @Test func `if a path has routes only for other methods, the answer names these methods`() {
        #expect(Self.matchText(.delete, "/v1/lives") == "405 GET,HEAD,POST")
        #expect(Self.matchText(.get, "/v1/lives/a/admins/b") == "405 DELETE,PUT")
        let lowercaseMethod = HTTPMethod(rawValue: "get")
        #expect(Self.matchText(lowercaseMethod, "/v1/lives") == "405 GET,HEAD,POST")
    }

    @Test(arguments: ["", "v1/lives", "*", "/%", "/%4", "/%zz", "/%00", "/%ff%fe", "/a\u{0}b"])
    func `a path that is no absolute path or no valid percent-encoded text is unreadable`(path: String) {
        #expect(Self.matchText(.get, path) == "unreadable")
    }

    /// Rules: R13.45.
    @Test func `a part of a path has at most thirty combining marks in a row, as it is or percent-encoded`() {
        let marks = String(repeating: "\u{301}", count: 30)
        #expect(Self.matchText(.get, "/v1/lives/a\(marks)") == "info live=a\(marks)")
        #expect(Self.matchText(.get, "/v1/lives/a\(marks)\u{301}") == "unreadable")
        #expect(Self.matchText(.get, "/v1/lives/a\(String(repeating: "%CC%81", count: 31))") == "unreadable")
        // A slash stands for itself, whatever marks follow it.
        #expect(Self.matchText(.get, "/v1/lives/\u{301}a") == "info live=\u{301}a")
    }

    @Test func `the handler for requests without a route may answer instead of a 404`() throws {
        var router = Router<HTTPHeadHandler>()
        router.add(.get, "/found") { _ in .reject(HTTPResponse(status: 200)) }
        let handler = router.headHandler(unrouted: { $0.path == "/refused" ? HTTPResponse(status: 429) : nil })
        func status(_ method: HTTPMethod, _ path: String) throws -> Int? {
            guard case .reject(let response) = handler(try #require(HTTPRequest(method: method, path: path))) else {
                return nil
            }
            return response.status
        }
        #expect(try status(.get, "/found") == 200)
        #expect(try status(.get, "/refused") == 429 && status(.get, "/other") == 404)
        #expect(try status(.post, "/found") == 405)
    }

    @Test func `a bearer token is found, in whatever case its scheme is written`() {
        func token(_ value: String?) -> String? {
            HTTPRequest(method: .get, path: "/", headers: value.map { ["authorization": $0] } ?? [:])?.bearerToken
        }
        #expect(token("Bearer abc") == "abc")
        #expect(token("bearer  abc") == "abc")
        #expect(token("Basic abc") == nil)
        #expect(token("Bearer ") == nil)
        #expect(token(nil) == nil)
    }
}
