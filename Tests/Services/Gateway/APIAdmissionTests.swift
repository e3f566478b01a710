// SPDX-License-Identifier: Apache-2.0
import Glibc
import HTTPServer
import MachineKit
import Testing
import Tokens

@testable import Gateway

/// What the HTTP API checks before it reads a body.
@Suite(.serialized, .timeLimit(.minutes(1))) struct APIAdmissionTests {
    /// A gateway with its HTTP API on a port.
    private final class ServedGateway {
        let cluster: FakeCluster
        let server: WebServer

        init(_ change: (inout GatewaySettings) -> Void) throws {
            self.cluster = try FakeCluster { change(&$0) }
            self.server = try WebServer(
                port: 0, limits: GatewayService.httpLimits(for: self.cluster.gateway.settings),
                failureBody: GatewayAPI.failureBody, refusalObserver: self.cluster.gateway.metrics.refused,
                headHandler: GatewayAPI(self.cluster.gateway).handler)
        }

        deinit { self.server.stop() }

        /// Sends a head that announces a body, but no body, and returns the response's first bytes.
        func announceBody(ofBytes bytes: Int, token: String) throws -> String {
            // The response is empty if the server waits for the body for more than 300 ms.
            let socket = try WireClient.connect(self.server.port)
            defer { close(socket) }
            let head =
                "POST /v1/lives HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\nContent-Length: \(bytes)\r\n\r\n"
            let sent = Array(head.utf8)
            _ = unsafe sent.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            var receiveTimeout = timeval(tv_sec: 0, tv_usec: 300_000)
            unsafe setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &receiveTimeout, socklen_t(MemoryLayout<timeval>.size))
            var buffer = [UInt8](repeating: 0, count: 4096)
            let count = unsafe recv(socket, &buffer, buffer.count, 0)
            return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
        }
    }

    /// Rules: R13.1, R13.29.
    @Test func `token and rate are checked before a body is read`() throws {
        let served = try ServedGateway { $0.serverCallsPerSecond = 1 }
        #expect(try served.announceBody(ofBytes: 200_000, token: "x.y.z").hasPrefix("HTTP/1.1 401"))
        let token = FakeCluster.Tokens.token("shop", role: .server)
        #expect(try served.announceBody(ofBytes: 200_000, token: token).isEmpty, "the body is awaited")
        let response = try served.announceBody(ofBytes: 200_000, token: token)
        #expect(response.hasPrefix("HTTP/1.1 429") && response.contains("Retry-After: 1"))
        #expect(response.contains("\"code\":-2") && response.contains("\"retryAfter\":"))
        #expect(served.cluster.metric("gateway_refusals_total") == 2)
    }

    /// Rules: R13.29.
    @Test func `an address whose tokens are rejected again and again gets status 429`() throws {
        let served = try ServedGateway { _ in }
        // The status follows `HTTP/1.1 ` in the response.
        let statuses = try (0..<30).map { _ in
            try served.announceBody(ofBytes: 0, token: "x.y.z").dropFirst(9).prefix(3)
        }
        #expect(statuses.prefix(20).allSatisfy { $0 == "401" })
        #expect(statuses.contains("429"))
    }
}
