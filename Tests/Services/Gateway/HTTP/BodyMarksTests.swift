// SPDX-License-Identifier: Apache-2.0
import HTTPServer
import PlazaModel
import Testing

@testable import Gateway

/// Request bodies with many combining marks, such as accents.
///
/// To hash or compare a text of n marks takes Swift a time that grows with the square of n.
@Suite struct BodyMarksTests {
    /// Marks in the order that takes the longest to sort by combining class.
    ///
    /// U+0301 has the class 230, and U+0334, which comes after it in the text, has the class 1.
    private static func marks(_ count: Int) -> String {
        String(repeating: "\u{301}", count: count) + String(repeating: "\u{334}", count: count)
    }

    /// The error for a body of this route; nil if it is accepted.
    private static func rejection(of body: String, _ route: Route) throws -> APIError? {
        let request = try #require(HTTPRequest(method: route.method, path: "/", body: Array(body.utf8)))
        do throws(APIError) {
            _ = try RouteInput.parameters(of: request, route)
            return nil
        } catch {
            return error
        }
    }

    @Test func `I16 a body whose names and texts are combining marks is rejected before they are hashed`() throws {
        let route = try #require(RouteTable.all.first { $0.path == "/v1/lives" && $0.body != nil })
        let name = Self.marks(20_000)
        let elapsed = try ContinuousClock().measure {
            for body in ["{\"\(name)\":1}", "{\"a\":\"\(name)\"}", "{\"a\":[{\"\(name)\":\"\(name)\"}]}"] {
                let error = try Self.rejection(of: body, route)
                #expect(error?.status == 400 && error?.error.code == .badParameter)
            }
        }
        // The scans of the three bodies take much less than a second. To hash one of the names, Swift would sort its
        // marks, which takes longer than a second.
        #expect(elapsed < .seconds(1))
    }

    @Test func `each operation with a body rejects more than thirty combining marks in a row`() throws {
        for route in RouteTable.all where route.body != nil {
            let error = try Self.rejection(of: "{\"a\(Self.marks(16))\":1}", route)
            #expect(error?.error.code == .badParameter, "\(route.path)")
            #expect(error?.error.message.contains("combining marks") == true, "\(route.path)")
        }
    }
}
