// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import GatewayCore
import MachineKit
import PlazaModel
import Testing
import Tokens

@testable import Gateway
@testable import HTTPServer

/// The rates of the bytes of bodies: of a user, and of an app's servers together.
///
/// A slow machine may need so long that a later request is within the rate again. So the tests send several requests of
/// which at least one must be rejected.
@Suite(.serialized, .timeLimit(.minutes(1))) struct BodyRateTests {
    /// The response to the head of a request; nil if the gateway wants the body before it responds.
    private func response(
        _ handler: @escaping HTTPHeadHandler, _ token: String, bodyBytes: Int?
    ) throws -> HTTPResponse? {
        var headers = ["authorization": "Bearer \(token)"]
        headers["content-length"] = bodyBytes.map { "\($0)" }
        var request = try #require(HTTPRequest(method: .post, path: "/v1/call/live.get", headers: headers))
        request.client = IPAddress("10.0.0.1")
        guard case .reject(let response) = handler(request) else { return nil }
        return response
    }

    /// Rules: R13.46.
    @Test(arguments: [TokenRole.user, .server])
    func `I16 a caller's bodies have a rate of bytes, and other callers and requests without a body are served`(
        role: TokenRole
    ) throws {
        let cluster = try FakeCluster {
            $0.userBodyBytesPerSecond = 1000
            $0.serverBodyBytesPerSecond = 1000
            // The number of requests stays below these limits.
            $0.userRequestsPerSecond = 1_000_000
            $0.serverCallsPerSecond = 1_000_000
        }
        let handler = GatewayAPI(cluster.gateway).handler
        let token = FakeCluster.Tokens.token("bob", role: role)
        #expect(try self.response(handler, token, bodyBytes: 1000) == nil, "the bytes of one second may come at once")
        let rejections = try (0..<20).compactMap { _ in try self.response(handler, token, bodyBytes: 1000) }
        let rejection = try #require(rejections.first)
        #expect(rejection.status == 429 && rejection.headers.contains { $0.name == "Retry-After" && $0.value == "1" })
        let body = String(decoding: rejection.body, as: UTF8.self)
        #expect(body.contains("\"code\":-2") && body.contains("1000 bytes of bodies a second"), "\(body)")
        #expect(cluster.refusalCount(.httpBodyBytes) == rejections.count && cluster.refusalCount(.httpRate) == 0)

        for bodyBytes in [nil, 0] { #expect(try self.response(handler, token, bodyBytes: bodyBytes) == nil) }
        let otherRole: TokenRole = role == .user ? .server : .user
        for other in [
            FakeCluster.Tokens.token("bob", role: otherRole), FakeCluster.Tokens.token("bob", app: "other", role: role),
        ] {
            #expect(try self.response(handler, other, bodyBytes: 1000) == nil, "another caller has its own rate")
        }
        let colleague = FakeCluster.Tokens.token("carol", role: role)
        let colleagueResponses = try (0..<20).map { _ in try self.response(handler, colleague, bodyBytes: 1000) }
        // Carol is another user with a rate of her own, or another server, which shares the rate of the app's servers.
        if role == .user { #expect(colleagueResponses[0] == nil) }
        #expect(colleagueResponses.contains { $0?.status == 429 })
    }

    /// Rules: R13.29, R13.46.
    @Test func `a body beyond the rate is rejected before it is read`() throws {
        let served = try APIAdmissionTests.ServedGateway { $0.serverBodyBytesPerSecond = 200_000 }
        let token = FakeCluster.Tokens.token("shop", role: .server)
        // A rejection would come at once. The wait is short, because the next call must come within the same second.
        let firstResponse = try served.announceBody(ofBytes: 200_000, token: token, waitingSeconds: 0.3)
        #expect(firstResponse.isEmpty, "the gateway waits for the body")
        let response = try served.announceBody(ofBytes: 200_000, token: token)
        #expect(response.hasPrefix("HTTP/1.1 429"), "\(response)")
        #expect(served.cluster.refusalCount(.httpBodyBytes) == 1)
    }

    /// Rules: R13.46.
    @Test func `a chunked body counts, too, although its length is unknown before it is read`() throws {
        let served = try APIAdmissionTests.ServedGateway { $0.userBodyBytesPerSecond = 1000 }
        served.cluster.create("room")
        let token = FakeCluster.Tokens.token("bob")
        let json = #"{"live":"room"}"#
        // The body is one chunk of 1000 bytes, in hexadecimal 3e8.
        let body = json + String(repeating: " ", count: 1000 - json.utf8.count)
        let request =
            "POST /v1/call/live.get HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
            + "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3e8\r\n\(body)\r\n0\r\n\r\n"
        // The response begins with `HTTP/1.1 `, then come the three digits of the status.
        let statuses = try (0..<15).map { _ in try served.response(to: request).dropFirst(9).prefix(3) }
        #expect(statuses.first == "200")
        #expect(statuses.contains("429"), "\(statuses)")
        #expect(served.cluster.refusalCount(.httpBodyBytes) == statuses.count { $0 == "429" })
    }
}
