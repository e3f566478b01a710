// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import Glibc
import HTTPServer
import Synchronization
import Testing

/// The limits of the server for connections that wait, that send slowly, or that are too many (I16).
@Suite(.timeLimit(.minutes(1))) struct AdmissionTests {
    private final class ServerFixture: Sendable {
        let server: WebServer
        let refusals: RefusalLog

        init(_ change: (inout HTTPLimits) -> Void, head: @escaping HTTPHeadHandler = AdmissionTests.describe) throws {
            var limits = HTTPLimits()
            limits.bodyBytes = 1 << 20
            limits.idleTimeout = .seconds(2)
            change(&limits)
            let refusals = RefusalLog()
            self.refusals = refusals
            self.server = try WebServer(
                port: 0, limits: limits, refusalObserver: { refusals.add($0) }, headHandler: head)
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
            let began = ContinuousClock.now
            while try !condition(), ContinuousClock.now - began < .seconds(10) { usleep(10_000) }
        }
    }

    private final class RefusalLog: Sendable {
        private let refusals = Mutex<[HTTPRefusal]>([])
        func add(_ refusal: HTTPRefusal) { self.refusals.withLock { $0.append(refusal) } }
        var all: [HTTPRefusal] { self.refusals.withLock { $0 } }
    }

    /// Answers with the client's address and the number of bytes in the body.
    @Sendable private static func describe(_ request: HTTPRequest) -> HTTPHeadDecision {
        .read { request, responder in
            responder.complete(.text("\(request.client?.description ?? "-") \(request.body.count)"))
        }
    }

    /// Rules: R13.28.
    @Test func `slow sending does not extend the time for a head`() throws {
        let fixture = try ServerFixture { $0.headTimeout = .seconds(1) }
        let client = try RawClient(port: fixture.server.port)
        // The whole head would take more than 20 s. The upper bound of the time is large, for a busy machine.
        let elapsed = try client.sendSlowly("GET / HTTP/1.1\r\nX-Y: " + String(repeating: "a", count: 200))
        #expect((.milliseconds(900)...(.seconds(6))).contains(elapsed))
        #expect(fixture.waitForRefusals() == [.headTimeout])
    }

    @Test func `slow sending does not extend the time for a second head on the same connection`() throws {
        let fixture = try ServerFixture {
            $0.headTimeout = .seconds(1)
            $0.idleTimeout = .seconds(1)
        }
        let client = try RawClient(port: fixture.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 200)
        let elapsed = try client.sendSlowly("GET / HTTP/1.1\r\nX-Y: " + String(repeating: "a", count: 200))
        // For a second head the idle timeout and the head timeout add up, so the time is at least 2 s.
        #expect((.milliseconds(1900)...(.seconds(8))).contains(elapsed))
        #expect(fixture.waitForRefusals() == [.headTimeout])
    }

    /// Rules: R13.28.
    @Test func `slow sending does not extend the time for a body`() throws {
        let fixture = try ServerFixture { $0.bodyTimeout = .seconds(1) }
        let client = try RawClient(port: fixture.server.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
        let elapsed = try client.sendSlowly(String(repeating: "a", count: 200))
        #expect((.milliseconds(900)...(.seconds(6))).contains(elapsed))
        #expect(fixture.waitForRefusals() == [.bodyTimeout])
    }

    /// Rules: R13.28.
    @Test func `a connection whose client does not read its response is closed`() throws {
        let fixture = try ServerFixture({ $0.responseTimeout = .seconds(1) }) { _ in
            .read { _, responder in
                // The buffers of the two sockets are smaller than 32 MiB.
                responder.complete(HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 32 << 20)))
            }
        }
        let client = try RawClient(port: fixture.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(fixture.waitForRefusals() == [.responseTimeout])
    }

    /// Rules: R13.27.
    @Test func `an address has a limit of connections, and a closed connection does not count`() throws {
        let fixture = try ServerFixture { $0.connectionsPerAddress = 3 }
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        var clients: [RawClient] = []
        for _ in 0..<3 {
            let client = try RawClient(port: fixture.server.port)
            client.send(get)
            #expect(try client.readResponse().status == 200)
            clients.append(client)
        }

        let fourth = try RawClient(port: fixture.server.port)
        fourth.send(get)
        #expect(fourth.readToEnd().isEmpty)
        #expect(fixture.waitForRefusals() == [.connectionsPerAddress])

        clients[0].endSending()
        #expect(clients[0].readToEnd().isEmpty)
        var isServed = false
        ServerFixture.waitUntil {
            guard let fifth = try? RawClient(port: fixture.server.port) else { return false }
            fifth.send(get)
            isServed = (try? fifth.readResponse().status) == 200
            return isServed
        }
        #expect(isServed)
    }

    /// Rules: R13.30.
    @Test func `connections whose requests never end do not keep new connections from being served`() throws {
        let fixture = try ServerFixture {
            $0.connections = 20
            $0.idleTimeout = .seconds(30)
            $0.headTimeout = .seconds(30)
        }
        // The array keeps the connections open.
        var slowClients: [RawClient] = []
        for _ in 0..<60 {
            let client = try RawClient(port: fixture.server.port)
            client.send("GET / HTTP/1.1\r\nX-Y: ")
            slowClients.append(client)
        }
        // All clients have one address, so each connection over the limit closes the one with the earliest deadline.
        let began = ContinuousClock.now
        ServerFixture.waitUntil {
            guard let client = try? RawClient(port: fixture.server.port) else { return false }
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return (try? client.readResponse().status) == 200
        }
        #expect(ContinuousClock.now - began < .seconds(8))
        #expect(Set(fixture.waitForRefusals()) == [.connectionsPerAddress])
    }

    /// Rules: R12.7, R13.27.
    @Test func `behind a trusted proxy the requests of each client are limited, not the connections`() async throws {
        let responders = ResponderQueue()
        let proxy = try #require(AddressBlock("127.0.0.0/8"))
        let fixture = try ServerFixture({
            $0.connectionsPerAddress = 1
            $0.trustedProxies = TrustedProxies([proxy])
        }) { request in
            .read { request, responder in
                if request.path == "/later" {
                    responders.append(responder)
                } else {
                    responder.complete(.text(request.client?.description ?? "-"))
                }
            }
        }
        // The trusted proxy appends the last address; the client could have invented the one before.
        func send(_ path: String, _ address: String) throws -> RawClient {
            let client = try RawClient(port: fixture.server.port)
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 9.9.9.9, \(address)\r\n\r\n")
            return client
        }
        let waitingClient = try send("/later", "1.1.1.1")
        let responder = try await responders.next()
        let refusal = try send("/", "1.1.1.1").readResponse()
        #expect(refusal.status == 429 && refusal.headers["retry-after"] == "1")
        #expect(try send("/", "2.2.2.2").readResponse().body == "2.2.2.2")
        responder.complete(.text("done"))
        #expect(try waitingClient.readResponse().status == 200)
        #expect(fixture.waitForRefusals() == [.requestsPerAddress])
        var body: String?
        try ServerFixture.waitUntil {
            body = try send("/", "1.1.1.1").readResponse().body
            return body == "1.1.1.1"
        }
        #expect(body == "1.1.1.1", "an ended request does not count")
    }

    /// Rules: R12.7.
    @Test func `an address in a header of an untrusted client is ignored`() throws {
        let fixture = try ServerFixture { _ in }
        let client = try RawClient(port: fixture.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n")
        #expect(try client.readResponse().body == "127.0.0.1 0")
    }

    @Test func `a request that is rejected by its head is answered before its body has arrived`() throws {
        let fixture = try ServerFixture({ _ in }) { request in
            request.path == "/no" ? .reject(HTTPResponse(status: 429)) : AdmissionTests.describe(request)
        }
        let largeClient = try RawClient(port: fixture.server.port)
        largeClient.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        let response = try largeClient.readResponse()
        #expect(response.status == 429 && response.headers["connection"] == "close")

        let waitingClient = try RawClient(port: fixture.server.port)
        waitingClient.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        #expect(try waitingClient.readResponse().status == 429)

        let smallClient = try RawClient(port: fixture.server.port)
        smallClient.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789")
        #expect(try smallClient.readResponse().status == 429)
        smallClient.send("POST /yes HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n123")
        #expect(try smallClient.readResponse().body == "127.0.0.1 3", "the connection stays open")
    }
}
