// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import PlazaModel
import PlazaWire
import Testing

@testable import Gateway

/// The parameters that are read from paths and queries.
@Suite struct RouteInputTests {
    /// Rules: R13.4.
    @Test func `repeated query items give a list in their order, and the list's length is limited`() throws {
        let route = try #require(RouteTable.all.first { $0.query.contains { $0.isList && $0.name == "word" } })
        let item = try #require(route.query.first { $0.isList })
        guard case .list(_, let range, _) = item.schema else { throw Failure.noList }
        func request(_ words: [String]) -> HTTPRequest? {
            HTTPRequest(
                method: route.method, path: "/", query: words.map { HTTPQueryItem(name: item.name, value: $0) })
        }
        let words = (0..<range.upperBound).map { "word\($0)" }
        let parameters = try RouteInput.parameters(of: try #require(request(words)), route)
        #expect(parameters[item.field] == .array(words.map { .text($0) }))

        // The server accepts 1,000 query items in a request, but the list may have fewer elements.
        let tooMany = try #require(request((0..<1_000).map { "word\($0)" }))
        let error = #expect(throws: APIError.self) { try RouteInput.parameters(of: tooMany, route) }
        #expect(error?.status == 400 && error?.error.code == .badParameter)
    }

    /// Rules: R13.4.
    @Test func `in a method in the path, each byte that is not ASCII is replaced by a question mark`() throws {
        let route = try #require(RouteTable.all.first { $0.path == "/v1/call/{method}" })
        var request = try #require(HTTPRequest(method: route.method, path: "/v1/call/x"))
        request.parameters["method"] = "live.g\u{301}et"
        #expect(route.method(of: request) == "live.g??et")
        request.parameters["method"] = "live.get"
        #expect(route.method(of: request) == "live.get")
    }

    private enum Failure: Error { case noList }
}
