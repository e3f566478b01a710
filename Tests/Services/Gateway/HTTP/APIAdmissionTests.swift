// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import GatewayCore
import Glibc
import MachineKit
import PlazaModel
import Testing
import Tokens

@testable import Gateway
@testable import HTTPServer

/// The checks of the HTTP API before it reads a request's body.
///
/// They check the token, and the rates of an address, of a user and of an app's servers. A head handler that admits a
/// request gives no response yet (nil in these tests), because the body must be read first.
@Suite(.serialized, .timeLimit(.minutes(1))) struct APIAdmissionTests {
    /// A gateway with its HTTP API on a port.
    final class ServedGateway {
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

        /// Sends the head of a request that announces a body, but no body; returns the response's first bytes.
        ///
        /// The result is empty if there is no response within `seconds`, because the server waits for the body.
        func announceBody(ofBytes bytes: Int, token: String, waitingSeconds seconds: Double = 10) throws -> String {
            try self.response(
                to: "POST /v1/lives HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n"
                    + "Content-Length: \(bytes)\r\n\r\n",
                waitingSeconds: seconds)
        }

        /// Sends a text on a new connection; returns the response's first bytes, which are empty if none come within
        /// `seconds`.
        func response(to text: String, waitingSeconds seconds: Double = 10) throws -> String {
            let socket = try WireClient.connect(self.server.port)
            defer { close(socket) }
            let sent = Array(text.utf8)
            _ = unsafe sent.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            var entry = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&entry, 1, Int32(seconds * 1000)) == 1 else { return "" }
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
        // A rejection would come at once. The wait is short, because the next call must come within the same second.
        let firstResponse = try served.announceBody(ofBytes: 200_000, token: token, waitingSeconds: 0.3)
        #expect(firstResponse.isEmpty, "the first call is within the rate, so the gateway waits for the body")

        let response = try served.announceBody(ofBytes: 200_000, token: token)
        #expect(response.hasPrefix("HTTP/1.1 429") && response.contains("Retry-After: 1"))
        #expect(
            response.contains("\"code\":-2") && response.contains("\"retryAfter\":"), "-2 is the code of tooFrequent")
        #expect(served.cluster.metric("gateway_refusals_total") == 2, "the invalid token, and the exceeded rate")
    }

    /// Rules: R13.29.
    @Test func `an address that sends more than 20 invalid tokens in a second gets status 429`() throws {
        let served = try ServedGateway { _ in }
        // The response begins with `HTTP/1.1 `, then come the three digits of the status.
        let statuses = try (0..<30).map { _ in
            try served.announceBody(ofBytes: 0, token: "x.y.z").dropFirst(9).prefix(3)
        }
        #expect(statuses.prefix(20).allSatisfy { $0 == "401" })
        // A slow machine may need so long that some of the last ten requests are within the rate again.
        #expect(statuses.contains("429"))
    }

    /// Rules: R13.41.
    @Test func `an address's new tokens have a rate before their signatures are checked, known tokens do not count`()
        throws
    {
        let cluster = try FakeCluster {
            // Three checks at once, and then one more every 60 s / 3 = 20 s.
            $0.admission.tokenChecks = RateLimit(3, per: .seconds(60))
            // The calls of this test stay below these limits.
            $0.admission.refusedTokens = RateLimit(1000)
            $0.serverCallsPerSecond = 1000
        }
        let handler = GatewayAPI(cluster.gateway).handler
        func status(_ token: String, from address: String = "10.0.0.1") throws -> Int? {
            try self.response(handler, "/v1/lives", method: .post, from: address, token: token)?.status
        }
        let tokens = (0..<4).map { FakeCluster.Tokens.token("user-\($0)", role: .server) }
        // The check of the invalid token is the third one that counts.
        #expect(try status(tokens[0]) == nil && status(tokens[1]) == nil && status("a.b.c") == 401)
        let rejection = try #require(
            try self.response(handler, "/v1/lives", method: .post, from: "10.0.0.1", token: tokens[2]))
        #expect(rejection.status == 429)
        let wait = try #require(rejection.headers.first { $0.name == "Retry-After" }.flatMap { Int($0.value) })
        #expect((10...20).contains(wait))
        let body = String(decoding: rejection.body, as: UTF8.self)
        #expect(body.contains("\"code\":-2"), "-2 is the code of tooFrequent")
        // An invalid token gets status 429, not 401, because the rate is exceeded and the signature is not checked.
        #expect(try status("x.y.z") == 429)
        #expect(cluster.refusalCount(.httpTokenChecks) == 2 && cluster.refusalCount(.httpRate) == 0)
        for token in [tokens[0], tokens[1]] {
            for _ in 0..<50 { #expect(try status(token) == nil, "a token that was checked is served") }
        }
        #expect(try status(tokens[2], from: "10.0.0.2") == nil, "another address has its own rate")
        // The gateway knows this token now, so it serves the token for the first address too.
        #expect(try status(tokens[2]) == nil)
        #expect(try status(tokens[3]) == 429)
    }

    /// Rules: R13.41.
    @Test func `a token that was checked before is rejected when it has expired`() async throws {
        let cluster = try FakeCluster { _ in }
        let handler = GatewayAPI(cluster.gateway).handler
        let token = FakeCluster.Tokens.token("shop", role: .server, secondsFromNow: 2)
        #expect(try self.response(handler, "/v1/lives", from: "10.0.0.1", token: token) == nil)
        var status: Int?
        for _ in 0..<50 where status == nil {
            try await Task.sleep(for: .milliseconds(100))
            status = try self.response(handler, "/v1/lives", from: "10.0.0.1", token: token)?.status
        }
        #expect(status == 401)
    }

    /// Rules: R13.39, R13.41.
    @Test func `a known token is served although the address has sent too many rejected tokens`() throws {
        let cluster = try FakeCluster { $0.admission.refusedTokens = RateLimit(2, per: .seconds(60)) }
        let handler = GatewayAPI(cluster.gateway).handler
        func status(_ token: String) throws -> Int? {
            try self.response(handler, "/v1/lives", method: .post, from: "10.0.0.1", token: token)?.status
        }
        let known = FakeCluster.Tokens.token("shop", role: .server)
        #expect(try status(known) == nil, "the token is valid, so its body is read")
        for _ in 0..<3 { _ = try status("x.y.z") }
        #expect(try status("x.y.z") == 429)
        #expect(try status(known) == nil)
        let unknown = FakeCluster.Tokens.token("other", role: .server)
        #expect(try status(unknown) == 429, "the signature of an unknown token would have to be checked")
    }

    /// The response of a handler to the head of a request from a client address.
    ///
    /// - Returns: nil if the handler wants the body before it responds.
    /// - Throws: if the request or the address is invalid.
    private func response(
        _ handler: @escaping HTTPHeadHandler, _ path: String, method: HTTPMethod = .get, from client: String,
        token: String? = nil
    ) throws -> HTTPResponse? {
        var headers: [String: String] = [:]
        if let token { headers["authorization"] = "Bearer \(token)" }
        var request = try #require(HTTPRequest(method: method, path: path, headers: headers))
        let address: IPAddress = try #require(IPAddress(client))
        request.client = address
        guard case .reject(let response) = handler(request) else { return nil }
        return response
    }

    /// Rules: R13.39.
    @Test func `all requests of an address without a valid token share one rate, whatever they ask for`() throws {
        let cluster = try FakeCluster {
            $0.admission.anonymousRequests = RateLimit(4, per: .seconds(60))
            $0.pages = PagesSettings(site: StaticSite())
        }
        let handler = GatewayAPI(cluster.gateway).handler
        // The addresses of one IPv6 network, which have the same first 64 bits, count as one address.
        let address = "2001:db8::1"
        let neighborAddress = "2001:db8::2"
        let addressOfOtherNetwork = "2001:db8:0:1::1"
        #expect(try self.response(handler, "/openapi.json", from: address)?.status == 200)
        #expect(try self.response(handler, "/pages/settings.json", from: address, token: "a.b.c")?.status == 200)
        #expect(try self.response(handler, "/nowhere", from: address, token: "a.b.c")?.status == 404)
        #expect(
            try self.response(handler, "/v1/lives", from: neighborAddress)?.status == 401,
            "the fourth request of the network is within the rate")

        let requests: [(path: String, method: HTTPMethod)] = [
            ("/openapi.json", .get), ("/pages/settings.json", .get), ("/v1/lives", .get), ("/v1/lives", .post),
            ("/nowhere", .get), ("/v1/lives", .delete),
        ]
        for (path, method) in requests {
            let rejection = try #require(try self.response(handler, path, method: method, from: address), "\(path)")
            #expect(rejection.status == 429, "\(path)")
            let wait = try #require(rejection.headers.first { $0.name == "Retry-After" }.flatMap { Int($0.value) })
            // At four requests a minute, the next one is admitted after 60 s / 4 = 15 s, less the time that this test
            // has taken.
            #expect((10...15).contains(wait))
            let body = String(decoding: rejection.body, as: UTF8.self)
            #expect(body.contains("\"code\":-2"), "-2 is the code of tooFrequent")
        }
        #expect(cluster.refusalCount(.httpAnonymousRate) == requests.count)
        #expect(
            try self.response(handler, "/openapi.json", from: addressOfOtherNetwork)?.status == 200,
            "another network has its own rate")
    }

    /// Rules: R13.39.
    @Test func `an address may request ten times as many page files as other anonymous resources, counted separately`()
        throws
    {
        var site = StaticSite()
        site.add("pages/app.css", body: Array("a {}".utf8), gzip: Array("not used".utf8))
        let cluster = try FakeCluster { [site] in
            // One request a second, so ten requests a second for page files.
            $0.admission.anonymousRequests = RateLimit(1)
            $0.pages = PagesSettings(site: site)
        }
        let handler = GatewayAPI(cluster.gateway).handler
        let statuses = try (0..<200).map { _ in
            try self.response(handler, "/pages/app.css", from: "10.0.0.1")?.status
        }
        #expect(statuses.prefix(10).allSatisfy { $0 == 200 })
        #expect(statuses.contains(429))
        #expect(
            try self.response(handler, "/openapi.json", from: "10.0.0.1")?.status == 200,
            "the requests for page files do not count for other resources")
    }

    /// Rules: R13.1.
    @Test func `requests that a user's role does not allow count for the user's rate`() throws {
        let cluster = try FakeCluster { $0.userRequestsPerSecond = 2 }
        let handler = GatewayAPI(cluster.gateway).handler
        let token = FakeCluster.Tokens.token("anna")
        let statuses = try (0..<10).map { _ in
            try self.response(handler, "/v1/lives", method: .post, from: "10.0.0.1", token: token)?.status
        }
        #expect(statuses.prefix(2) == [403, 403])
        // A slow machine may need so long that some later requests are within the rate again.
        #expect(statuses.contains(429))
    }

    /// Rules: R13.39.
    @Test func `requests with a valid token never count for their address, and are served beyond its rate`() throws {
        let cluster = try FakeCluster {
            $0.admission.anonymousRequests = RateLimit(2, per: .seconds(60))
            // The calls of this test stay below this limit.
            $0.serverCallsPerSecond = 1_000_000
        }
        let handler = GatewayAPI(cluster.gateway).handler
        let token = FakeCluster.Tokens.token("shop", role: .server)
        for _ in 0..<500 {
            let response = try self.response(handler, "/v1/lives", method: .post, from: "10.0.0.1", token: token)
            #expect(response == nil, "the request is admitted, so the gateway waits for its body")
        }
        #expect(
            try self.response(handler, "/openapi.json", from: "10.0.0.1")?.status == 200,
            "this is the first request that counts for the address")

        // The address sends two requests without a token. The first is the second request that counts, so it is within
        // the rate of two, and gets status 401. The second exceeds the rate.
        for _ in 0..<2 { _ = try self.response(handler, "/v1/lives", from: "10.0.0.1") }
        #expect(try self.response(handler, "/openapi.json", from: "10.0.0.1")?.status == 429)
        #expect(
            try self.response(handler, "/v1/lives", method: .post, from: "10.0.0.1", token: token) == nil,
            "a request with a valid token is still admitted")
        #expect(cluster.refusalCount(.httpRefusedTokens) == 1, "only the request with status 401 is counted here")
    }
}
