// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import Glibc
import HTTPServer
import Synchronization
import Testing

/// Connections that wait, trickle, or come in numbers (I16, everything has a limit).
@Suite(.timeLimit(.minutes(1))) struct AdmissionTests {
    private final class Served: Sendable {
        let server: WebServer
        let refusals: RefusalLog

        init(_ change: (inout HTTPLimits) -> Void, head: @escaping HTTPHeadHandler = AdmissionTests.echo) throws {
            var limits = HTTPLimits()
            limits.bodyBytes = 1 << 20
            limits.idleTimeout = .seconds(2)
            change(&limits)
            let refusals = RefusalLog()
            self.refusals = refusals
            self.server = try WebServer(
                port: 0, limits: limits, refused: { refusals.add($0) }, headHandler: head)
        }

        deinit { self.server.stop() }

        /// Returns the refusals, once there is one: a client sees the end of its connection before the server has counted it.
        func refusal() -> [HTTPRefusal] {
            Self.eventually { !self.refusals.list.isEmpty }
            return self.refusals.list
        }

        /// Asks again until it is so, for at most 10 s.
        static func eventually(_ isSo: () throws -> Bool) rethrows {
            let began = ContinuousClock.now
            while try !isSo(), ContinuousClock.now - began < .seconds(10) { usleep(10_000) }
        }
    }

    private final class RefusalLog: Sendable {
        private let all = Mutex<[HTTPRefusal]>([])
        func add(_ refusal: HTTPRefusal) { self.all.withLock { $0.append(refusal) } }
        var list: [HTTPRefusal] { self.all.withLock { $0 } }
    }

    @Sendable private static func echo(_ request: HTTPRequest) -> HTTPHeadDecision {
        .read { request, responder in
            responder.complete(.text("\(request.client?.description ?? "-") \(request.body.count)"))
        }
    }

    /// Rules: R13.28.
    @Test func `a trickle does not extend the time for a head`() throws {
        let served = try Served { $0.headTimeout = .seconds(1) }
        let client = try RawClient(port: served.server.port)
        let time = try client.trickle("GET / HTTP/1.1\r\nX-Y: " + String(repeating: "a", count: 200))
        #expect((.milliseconds(900)...(.seconds(6))).contains(time))
        #expect(served.refusal() == [.headTimeout])
    }

    @Test func `a trickle does not extend the time for a second head`() throws {
        let served = try Served {
            $0.headTimeout = .seconds(1)
            $0.idleTimeout = .seconds(1)
        }
        let client = try RawClient(port: served.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.answer().status == 200)
        let time = try client.trickle("GET / HTTP/1.1\r\nX-Y: " + String(repeating: "a", count: 200))
        #expect((.milliseconds(1900)...(.seconds(8))).contains(time))
        #expect(served.refusal() == [.headTimeout])
    }

    /// Rules: R13.28.
    @Test func `a trickle does not extend the time for a body`() throws {
        let served = try Served { $0.bodyTimeout = .seconds(1) }
        let client = try RawClient(port: served.server.port)
        client.send("POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 1000\r\n\r\n")
        let time = try client.trickle(String(repeating: "a", count: 200))
        #expect((.milliseconds(900)...(.seconds(6))).contains(time))
        #expect(served.refusal() == [.bodyTimeout])
    }

    /// Rules: R13.28.
    @Test func `a client that does not take its response is cut off`() throws {
        let served = try Served({ $0.responseTimeout = .seconds(1) }) { _ in
            .read { _, responder in
                responder.complete(HTTPResponse(status: 200, body: [UInt8](repeating: 65, count: 32 << 20)))
            }
        }
        let client = try RawClient(port: served.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(served.refusal() == [.responseTimeout])
    }

    /// Rules: R13.27.
    @Test func `an address has so many connections and no more, and gets a place back`() throws {
        let served = try Served { $0.connectionsPerAddress = 3 }
        let get = "GET / HTTP/1.1\r\nHost: a\r\n\r\n"
        var clients: [RawClient] = []
        for _ in 0..<3 {
            let client = try RawClient(port: served.server.port)
            client.send(get)
            #expect(try client.answer().status == 200)
            clients.append(client)
        }
        let fourth = try RawClient(port: served.server.port)
        fourth.send(get)
        #expect(fourth.rest().isEmpty)
        #expect(served.refusal() == [.connectionsPerAddress])
        clients[0].endSending()
        #expect(clients[0].rest().isEmpty)
        var isServed = false
        Served.eventually {
            guard let fifth = try? RawClient(port: served.server.port) else { return false }
            fifth.send(get)
            isServed = (try? fifth.answer().status) == 200
            return isServed
        }
        #expect(isServed)
    }

    /// Rules: R13.30.
    @Test func `requests that never end leave a place for others`() throws {
        let served = try Served {
            $0.connections = 20
            $0.idleTimeout = .seconds(30)
            $0.headTimeout = .seconds(30)
        }
        var slow: [RawClient] = []
        for _ in 0..<60 {
            let client = try RawClient(port: served.server.port)
            client.send("GET / HTTP/1.1\r\nX-Y: ")
            slow.append(client)
        }
        // The clients of this test have one address; on several, the one with the most loses its oldest connection.
        let began = ContinuousClock.now
        Served.eventually {
            guard let client = try? RawClient(port: served.server.port) else { return false }
            client.send("GET / HTTP/1.1\r\nHost: a\r\n\r\n")
            return (try? client.answer().status) == 200
        }
        #expect(ContinuousClock.now - began < .seconds(8))
        #expect(Set(served.refusal()) == [.connectionsPerAddress])
    }

    /// Rules: R12.7, R13.27.
    @Test func `behind a trusted proxy the client counts, not the connection`() async throws {
        let shelf = Shelf()
        let proxy = try #require(AddressBlock("127.0.0.0/8"))
        let served = try Served({
            $0.connectionsPerAddress = 1
            $0.trustedProxies = TrustedProxies([proxy])
        }) { request in
            .read { request, responder in
                if request.path == "/later" {
                    shelf.keep(responder)
                } else {
                    responder.complete(.text(request.client?.description ?? "-"))
                }
            }
        }
        func send(_ path: String, _ address: String) throws -> RawClient {
            let client = try RawClient(port: served.server.port)
            client.send("GET \(path) HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 9.9.9.9, \(address)\r\n\r\n")
            return client
        }
        let waiting = try send("/later", "1.1.1.1")
        let responder = try await shelf.next()
        let second = try send("/", "1.1.1.1").answer()
        #expect(second.status == 429 && second.headers["retry-after"] == "1")
        #expect(try send("/", "2.2.2.2").answer().body == "2.2.2.2")
        responder.complete(.text("done"))
        #expect(try waiting.answer().status == 200)
        #expect(served.refusal() == [.requestsPerAddress])
        var body: String?
        try Served.eventually {
            body = try send("/", "1.1.1.1").answer().body
            return body == "1.1.1.1"
        }
        #expect(body == "1.1.1.1", "the place of a request that ended")
    }

    /// Rules: R12.7.
    @Test func `an address in a header of a client is not believed`() throws {
        let served = try Served { _ in }
        let client = try RawClient(port: served.server.port)
        client.send("GET / HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: 1.1.1.1\r\n\r\n")
        #expect(try client.answer().body == "127.0.0.1 0")
    }

    @Test func `a request that its head rejects is answered before its body is there`() throws {
        let served = try Served({ _ in }) { request in
            request.path == "/no" ? .reject(HTTPResponse(status: 429)) : AdmissionTests.echo(request)
        }
        let large = try RawClient(port: served.server.port)
        large.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 900000\r\n\r\n")
        let answer = try large.answer()
        #expect(answer.status == 429 && answer.headers["connection"] == "close")
        let waiting = try RawClient(port: served.server.port)
        waiting.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\nExpect: 100-continue\r\n\r\n")
        #expect(try waiting.answer().status == 429)
        let small = try RawClient(port: served.server.port)
        small.send("POST /no HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\n123456789")
        #expect(try small.answer().status == 429)
        small.send("POST /yes HTTP/1.1\r\nHost: a\r\nContent-Length: 3\r\n\r\n123")
        #expect(try small.answer().body == "127.0.0.1 3", "the connection goes on")
    }
}
