// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import Glibc
import HTTPServer
import Synchronization
import Testing

/// Tests of the limits of `WebServer` for slow and idle connections, and for the number of connections.
///
/// A refusal is the server's report that it has rejected a request or closed a connection because of such a limit.
@Suite(.timeLimit(.minutes(3))) struct AdmissionTests {
    /// A server that reads bodies of up to 1 MiB and has an idle timeout of 2 s, with a log of its refusals.
    private final class ServerFixture: Sendable {
        let server: WebServer
        let refusals: RefusalLog

        init(
            _ changeLimits: (inout HTTPLimits) -> Void, admission: (any HTTPAdmission)? = nil,
            headHandler: @escaping HTTPHeadHandler = AdmissionTests.answerWithAddressAndSize
        ) throws {
            var limits = HTTPLimits()
            limits.bodyBytes = 1 << 20
            limits.idleTimeout = .seconds(2)
            changeLimits(&limits)
            let refusals = RefusalLog()
            self.refusals = refusals
            self.server = try WebServer(
                port: 0, limits: limits, refusalObserver: { refusals.add($0) }, admission: admission,
                headHandler: headHandler)
        }

        deinit { self.server.stop() }

        /// Waits for the first refusal, and returns all refusals.
        ///
        /// A client sees the end of its connection before the server reports the refusal.
        func waitForRefusals() -> [HTTPRefusal] {
            Self.waitUntil { !self.refusals.all.isEmpty }
            return self.refusals.all
        }

        /// Checks `condition` every 10 ms until it is true, for at most 10 s.
        static func waitUntil(_ condition: () throws -> Bool) rethrows {
            let giveUpAt = ContinuousClock.now + .seconds(10)
            while try !condition(), ContinuousClock.now < giveUpAt { usleep(10_000) }
        }
    }

    /// Collects the refusals that the server reports.
    private final class RefusalLog: Sendable {
        private let refusals = Mutex<[HTTPRefusal]>([])
        func add(_ refusal: HTTPRefusal) { self.refusals.withLock { $0.append(refusal) } }
        var all: [HTTPRefusal] { self.refusals.withLock { $0 } }
    }

    /// An admission that counts the malformed requests of all addresses, and accepts connections until the count
    /// reaches `limit`.
    private final class MalformedCounter: HTTPAdmission {
        private let limit: Int
        private let malformedCount = Mutex(0)
        init(limit: Int) { self.limit = limit }
        var count: Int { self.malformedCount.withLock { $0 } }
        func allowsHTTPConnection(from address: IPAddress) -> Bool { self.count < self.limit }
        func httpRequestMalformed(from address: IPAddress) { self.malformedCount.withLock { $0 += 1 } }
    }

    /// Reads the body, then answers with the client's address and the number of bytes in the body.
    @Sendable private static func answerWithAddressAndSize(_ request: HTTPRequest) -> HTTPHeadDecision {
        .read { request, responder in
            responder.complete(.text("\(request.client?.description ?? "-") \(request.body.count)"))
        }
    }

    /// Rules: R13.28.
    @Test func `a client that sends its head slowly is disconnected at the head timeout`() throws {
        let fixture = try ServerFixture { $0.headTimeout = .seconds(1) }
        let client = try RawClient(port: fixture.server.port)
        // At one byte each 100 ms, the whole head would take more than 20 s. The timeout is 1 s. The upper bound is far
        // above it, because the machine may be busy.
        let elapsed = try client.sendSlowly("GET / HTTP/1.1\r\nX-Y: " + String(repeating: "a", count: 200))
        #expect((.milliseconds(900)...(.seconds(6))).contains(elapsed))
        #expect(fixture.waitForRefusals() == [.headTimeout])
    }

    @Test func `a client that sends a second head slowly is disconnected after the idle and the head timeout`() throws {
        let fixture = try ServerFixture {
            $0.headTimeout = .seconds(1)
            $0.idleTimeout = .seconds(1)
        }
        let client = try RawClient(port: fixture.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 200)
        let elapsed = try client.sendSlowly("GET / HTTP/1.1\r\nX-Y: " + String(repeating: "a", count: 200))
        // The idle timeout and the head timeout add up: 1 s + 1 s = 2 s.
        #expect((.milliseconds(1900)...(.seconds(8))).contains(elapsed))
        #expect(fixture.waitForRefusals() == [.headTimeout])
    }

    @Test func `an idle timeout of less than a second is one second, and not none`() throws {
        let fixture = try ServerFixture {
            $0.headTimeout = .seconds(60)
            $0.idleTimeout = .milliseconds(100)
        }
        let client = try RawClient(port: fixture.server.port)
        let startedAt = ContinuousClock.now
        #expect(client.readToEnd().isEmpty)
        // The client itself gives up after 20 s.
        #expect(ContinuousClock.now - startedAt < .seconds(15), "the server must close the connection")
    }

    /// Rules: R13.28.
    @Test func `a client that sends its body slowly is disconnected at the body timeout`() throws {
        let fixture = try ServerFixture { $0.bodyTimeout = .seconds(1) }
        let client = try RawClient(port: fixture.server.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
        let elapsed = try client.sendSlowly(String(repeating: "a", count: 200))
        #expect((.milliseconds(900)...(.seconds(6))).contains(elapsed))
        #expect(fixture.waitForRefusals() == [.bodyTimeout])
    }

    /// Rules: R13.28.
    @Test func `a connection whose client does not read its response is closed at the response timeout`() throws {
        let fixture = try ServerFixture({ $0.responseTimeout = .seconds(1) }) { _ in
            .read { _, responder in
                // The response is larger than the buffers of the two sockets, so the server cannot send all of it.
                responder.complete(HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 32 << 20)))
            }
        }
        let client = try RawClient(port: fixture.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(fixture.waitForRefusals() == [.responseTimeout])
    }

    /// What a client sends on a connection before it ends its side: malformed requests, cut off ones, and nothing.
    private static let malformedRequests = [
        "\u{0}\u{1}\r\n\r\n", "GET\r\n\r\n", "GET / HTTP/1.1\r\nHost : a\r\n\r\n",
        "GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", "G\u{301}T / HTTP/1.1\r\nHost: a\r\n\r\n",
        "\(String(repeating: "G", count: 33)) / HTTP/1.1\r\nHost: a\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 20_000))\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nX: \(String(repeating: "a", count: 40_000))\r\n\r\n",
        "GET / HTTP/1.1\r\nHos", "G", "",
    ]

    /// Rules: R13.43.
    @Test func `each malformed request counts for its address once, and beyond the limit its connections are closed`()
        throws
    {
        let counter = MalformedCounter(limit: Self.malformedRequests.count)
        let fixture = try ServerFixture({ _ in }, admission: counter)
        func sendOnNewConnection(_ text: String) throws -> String {
            let client = try RawClient(port: fixture.server.port)
            client.send(text)
            client.endSending()
            return client.readToEnd()
        }
        // Well-formed requests do not count, also if the response is an error.
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        #expect(try sendOnNewConnection(get + get).hasPrefix("HTTP/1.1 200"))
        let large = "POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999\r\n\r\n"
        #expect(try sendOnNewConnection(large).hasPrefix("HTTP/1.1 413"))
        #expect(counter.count == 0)

        for (index, request) in Self.malformedRequests.enumerated() {
            let response = try sendOnNewConnection(request)
            #expect(!response.hasPrefix("HTTP/1.1 200"))
            ServerFixture.waitUntil { counter.count > index }
            #expect(counter.count == index + 1, "request \(index): \(request.prefix(60))")
        }

        #expect(try sendOnNewConnection(get).isEmpty, "the connection is closed without a response")
        #expect(fixture.waitForRefusals() == [.malformedRequests])
    }

    /// Rules: R13.43.
    @Test func `a malformed request after a well-formed one counts, but no request of a trusted proxy counts`() throws {
        let counter = MalformedCounter(limit: 10)
        let fixture = try ServerFixture({ _ in }, admission: counter)
        let client = try RawClient(port: fixture.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 200)
        client.send("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 400)
        ServerFixture.waitUntil { counter.count > 0 }
        #expect(counter.count == 1)

        let proxy = try #require(AddressBlock("127.0.0.0/8"))
        let proxyFixture = try ServerFixture({ $0.trustedProxies = TrustedProxies([proxy]) }, admission: counter)
        let proxyClient = try RawClient(port: proxyFixture.server.port)
        proxyClient.send("GET /%zz HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n")
        proxyClient.endSending()
        #expect(proxyClient.readToEnd().hasPrefix("HTTP/1.1 400"))
        proxyFixture.server.stop()
        #expect(counter.count == 1)
    }

    /// Rules: R13.27.
    @Test func `a connection beyond its address's limit is closed, until another connection has ended`() throws {
        let fixture = try ServerFixture { $0.connectionsPerAddress = 3 }
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        var clients: [RawClient] = []
        for _ in 0..<3 {
            let client = try RawClient(port: fixture.server.port)
            client.send(get)
            #expect(try client.readResponse().status == 200)
            clients.append(client)
        }

        let fourthClient = try RawClient(port: fixture.server.port)
        fourthClient.send(get)
        #expect(fourthClient.readToEnd().isEmpty, "the server closes the connection without a response")
        #expect(fixture.waitForRefusals() == [.connectionsPerAddress])

        // The first client ends its connection. A moment later the server accepts another one.
        clients[0].endSending()
        #expect(clients[0].readToEnd().isEmpty)
        var isServed = false
        ServerFixture.waitUntil {
            guard let fifthClient = try? RawClient(port: fixture.server.port) else { return false }
            fifthClient.send(get)
            isServed = (try? fifthClient.readResponse().status) == 200
            return isServed
        }
        #expect(isServed)
    }

    /// Rules: R13.30.
    @Test func `a new connection is served although other clients never end their requests`() throws {
        let fixture = try ServerFixture {
            $0.connections = 20
            $0.idleTimeout = .seconds(30)
            $0.headTimeout = .seconds(30)
        }
        // The array keeps the connections open: three times as many as the server accepts.
        var slowClients: [RawClient] = []
        for _ in 0..<60 {
            let client = try RawClient(port: fixture.server.port)
            client.send("GET / HTTP/1.1\r\nX-Y: ")
            slowClients.append(client)
        }
        // When the server is nearly full, it closes an old connection for each new one. All clients have one address,
        // so the server chooses the connection that has waited the longest.
        let startedAt = ContinuousClock.now
        ServerFixture.waitUntil {
            guard let client = try? RawClient(port: fixture.server.port) else { return false }
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return (try? client.readResponse().status) == 200
        }
        #expect(ContinuousClock.now - startedAt < .seconds(8), "a new connection is served")
        #expect(Set(fixture.waitForRefusals()) == [.connectionsPerAddress])
    }

    /// Rules: R13.30.
    @Test func `I16 new connections are served although other clients do not read their responses`() throws {
        // One such body is more than the buffers of the two sockets hold. Nine responses with it are within the limit
        // `unreadResponseBytes`.
        let largeBody = [UInt8](repeating: 65, count: 12 << 20)
        let fixture = try ServerFixture({
            $0.connections = 10
            $0.idleTimeout = .seconds(30)
        }) { request in
            .reject(HTTPResponse(status: 200, body: request.path == "/large" ? largeBody : [66]))
        }
        // The array keeps the connections open. Of the 10 connections that the server may have, a tenth is to be free.
        // So nine may be open, and for each further one the server closes an old one.
        var silentClients: [RawClient] = []
        for _ in 0..<9 {
            let client = try RawClient(port: fixture.server.port)
            client.send("GET /large HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(client.waitForResponseOrEnd(), "the server sends the response")
            silentClients.append(client)
        }
        // Each of these clients takes the place of a silent client, and keeps its connection.
        let readingClients = try (0..<6).map { _ in
            let client = try RawClient(port: fixture.server.port)
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse().body == "B")
            return client
        }
        for client in readingClients {
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse().body == "B")
        }
        #expect(fixture.refusals.all == [HTTPRefusal](repeating: .connectionsPerAddress, count: 6))
    }

    /// Rules: R12.7, R13.27.
    @Test func `behind a trusted proxy the open requests of each client are limited, not the proxy's connections`()
        async throws
    {
        let responders = ResponderQueue()
        let proxy = try #require(AddressBlock("127.0.0.0/8"))
        let fixture = try ServerFixture({
            $0.connectionsPerAddress = 1
            $0.trustedProxies = TrustedProxies([proxy])
            // A test that waits with `await` may continue only after many other tests have run.
            $0.handlerTimeout = .seconds(150)
        }) { request in
            .read { request, responder in
                if request.path == "/later" {
                    responders.append(responder)
                } else {
                    responder.complete(.text(request.client?.description ?? "-"))
                }
            }
        }
        /// Sends a request as the proxy does for the client with this address.
        ///
        /// A proxy appends the client's address to the header. The client itself may have sent any address before.
        func send(_ path: String, from address: String) throws -> RawClient {
            let client = try RawClient(port: fixture.server.port)
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 9.9.9.9, \(address)\r\n\r\n")
            return client
        }
        let waitingClient = try send("/later", from: "1.1.1.1")
        let responder = try await responders.next()
        let rejection = try send("/", from: "1.1.1.1").readResponse()
        #expect(rejection.status == 429 && rejection.headers["retry-after"] == "1")
        #expect(try send("/", from: "2.2.2.2").readResponse().body == "2.2.2.2")
        responder.complete(.text("done"))
        #expect(try waitingClient.readResponse().status == 200)
        #expect(fixture.waitForRefusals() == [.requestsPerAddress])
        var body: String?
        try ServerFixture.waitUntil {
            body = try send("/", from: "1.1.1.1").readResponse().body
            return body == "1.1.1.1"
        }
        #expect(body == "1.1.1.1", "a client whose request has ended may send another")
    }

    /// Rules: R12.7.
    @Test func `the X-Forwarded-For header of a client that is not a trusted proxy is ignored`() throws {
        let fixture = try ServerFixture { _ in }
        let client = try RawClient(port: fixture.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n")
        #expect(try client.readResponse().body == "127.0.0.1 0")
    }

    @Test func `a request that the head handler rejects is answered before its body has arrived`() throws {
        let fixture = try ServerFixture({ _ in }) { request in
            guard request.path == "/no" else { return AdmissionTests.answerWithAddressAndSize(request) }
            return .reject(HTTPResponse(status: 429))
        }
        // Before a large body, which is never sent, the server closes the connection.
        let largeClient = try RawClient(port: fixture.server.port)
        largeClient.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        let response = try largeClient.readResponse()
        #expect(response.status == 429 && response.headers["connection"] == "close")

        // This client sends its body only if the server asks for it.
        let waitingClient = try RawClient(port: fixture.server.port)
        waitingClient.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        #expect(try waitingClient.readResponse().status == 429)

        // A small body is read and ignored.
        let smallClient = try RawClient(port: fixture.server.port)
        smallClient.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789")
        #expect(try smallClient.readResponse().status == 429)
        smallClient.send("POST /yes HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n123")
        #expect(try smallClient.readResponse().body == "127.0.0.1 3", "the connection stays open")
    }
}
