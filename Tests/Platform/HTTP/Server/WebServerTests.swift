// SPDX-License-Identifier: Apache-2.0
import Foundation
import FoundationNetworking
import HTTPServer
import MachineKit
import Synchronization
import Testing

/// Collects the responders of requests, so that a test decides when they respond.
final class ResponderQueue: Sendable {
    private let responders = Mutex<[HTTPResponder]>([])
    private let arrivals: AsyncStream<Void>.Continuation
    private let arrivalStream: AsyncStream<Void>

    init() { (self.arrivalStream, self.arrivals) = AsyncStream.makeStream() }

    func append(_ responder: HTTPResponder) {
        self.responders.withLock { $0.append(responder) }
        self.arrivals.yield()
    }

    /// Waits for the next request and returns its responder.
    func next() async throws -> HTTPResponder {
        var iterator = self.arrivalStream.makeAsyncIterator()
        _ = await iterator.next()
        return try #require(self.responders.withLock { $0.isEmpty ? nil : $0.removeFirst() })
    }
}

/// Tests of `WebServer`: its answers, its size limits and timeouts, and how it stops.
@Suite(.timeLimit(.minutes(3))) struct WebServerTests {
    /// A time limit for handlers that no test reaches, although a test that waits with `await` may continue only after
    /// many other tests have run.
    private static let ampleTime = Duration.seconds(150)

    /// Makes a server; a request to `/later` waits until the test completes its responder, which is in `responders`.
    static func makeServer(
        _ responders: ResponderQueue = ResponderQueue(), changeLimits: (inout HTTPLimits) -> Void = { _ in }
    ) throws -> WebServer {
        var router = Router<HTTPHandler>()
        // Answers with the name, the query item `q` and the header `x-a`; `-` stands for one that is missing.
        router.add(.get, "/hello/{name}") { request, responder in
            let name = request.parameters["name"] ?? ""
            let query = request.query.first { $0.name == "q" }?.value ?? "-"
            responder.complete(.text("hello \(name) \(query) \(request.headers["x-a"] ?? "-")"))
        }
        router.add(.post, "/echo") { request, responder in
            responder.complete(HTTPResponse(status: 201, body: request.body))
        }
        router.add(.get, "/later") { _, responder in responders.append(responder) }
        router.add(.get, "/thread") { _, responder in
            DispatchQueue.global().async { responder.complete(.text("from another thread")) }
        }
        // Sends an invalid status, a header value with a line break that would add the header `X-Evil`, and a second
        // response.
        router.add(.get, "/odd") { _, responder in
            responder.complete(HTTPResponse(status: 99, headers: [HTTPHeader("X-Bad", "a\r\nX-Evil: b")]))
            #expect(!responder.complete(.text("again")))
        }
        var limits = HTTPLimits()
        limits.bodyBytes = 10_000
        limits.handlerTimeout = self.ampleTime
        changeLimits(&limits)
        return try WebServer(port: 0, limits: limits, handler: router.handler())
    }

    @Test func `requests on one connection are answered in order with decoded query and headers`() throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        client.send("GET /hello/bob?q=a+b%2B%26c&x HTTP/1.1\r\nHost: a\r\nX-A: 1\r\nx-a: 2\r\n\r\n")
        client.send(
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\n\r\n{\"a\"}GET /thread HTTP/1.1\r\nHost: a\r\n\r\n")
        client.send("GET /nowhere HTTP/1.1\r\nHost: a\r\n\r\nDELETE /echo HTTP/1.1\r\nHost: a\r\n\r\n")

        // In the query `+` is a blank, and `%2B%26` is `+&`. The values of the two headers are joined.
        #expect(try client.readResponse().body == "hello bob a b+&c 1, 2")
        let echo = try client.readResponse()
        #expect(echo.status == 201 && echo.body == "{\"a\"}" && echo.headers["content-type"] == "application/json")
        #expect(try client.readResponse().body == "from another thread")
        let missing = try client.readResponse()
        #expect(missing.status == 404 && missing.body == "{\"error\":{\"name\":\"notFound\"}}")
        let wrongMethod = try client.readResponse()
        #expect(wrongMethod.status == 405 && wrongMethod.headers["allow"] == "POST")

        client.send("HEAD /hello/bob HTTP/1.1\r\nHost: a\r\n\r\n")
        let head = try client.readResponse(hasBody: false)
        #expect(head.status == 200 && head.headers["content-length"] == "13", "the bytes of `hello bob - -`")

        client.send("GET /odd HTTP/1.1\r\nHost: a\r\n\r\n")
        let odd = try client.readResponse()
        #expect(odd.status == 500 && odd.headers["x-evil"] == nil, "an invalid response becomes a 500")
    }

    @Test func `the observer receives each response once, with its status and time`() async throws {
        let observed = Mutex<[(status: Int, microseconds: Int)]>([])
        let responders = ResponderQueue()
        var limits = HTTPLimits()
        limits.bodyBytes = 10
        limits.handlerTimeout = Self.ampleTime
        let server = try WebServer(
            port: 0, limits: limits,
            observer: { status, microseconds in observed.withLock { $0.append((status, microseconds)) } },
            handler: { request, responder in
                if request.path == "/later" { responders.append(responder) } else { responder.complete(.text("now")) }
            })
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        client.send("GET /now HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 200)

        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        let responder = try await responders.next()
        #expect(observed.withLock { $0.map(\.status) } == [200], "a request without a response yet is not observed")
        #expect(responder.complete(HTTPResponse(status: 409, body: [])))
        #expect(!responder.complete(.text("again")))
        #expect(try client.readResponse().status == 409)

        // The body has 11 bytes, one more than the limit.
        let largeClient = try RawClient(port: server.port)
        largeClient.send("POST /now HTTP/1.1\r\nHost: a\r\nContent-Length: 11\r\n\r\n01234567890")
        #expect(try largeClient.readResponse().status == 413)
        let unreadableClient = try RawClient(port: server.port)
        unreadableClient.send("GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try unreadableClient.readResponse().status == 400)
        #expect(observed.withLock { $0.map(\.status) } == [200, 409, 413, 400])
        // Every response takes less than a minute.
        #expect(observed.withLock { $0.allSatisfy { (0..<60_000_000).contains($0.microseconds) } })
    }

    @Test func `a request of URLSession with a large body is answered`() async throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        let session = URLSession(configuration: .ephemeral)
        defer { session.invalidateAndCancel() }
        var request = URLRequest(url: try #require(URL(string: "http://127.0.0.1:\(server.port)/echo")))
        request.httpMethod = "POST"
        request.httpBody = Data(repeating: UInt8(ascii: "x"), count: 10_000)
        let (data, response) = try await session.data(for: request)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        #expect(data.count == 10_000)
    }

    @Test func `a deferred response is sent at the call of complete, and only once`() async throws {
        let responders = ResponderQueue()
        let server = try Self.makeServer(responders)
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        let responder = try await responders.next()
        // The server answers other clients while the first one waits.
        let secondClient = try RawClient(port: server.port)
        secondClient.send("GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try secondClient.readResponse().status == 200)
        #expect(responder.complete(.text("now")))
        #expect(!responder.complete(.text("again")))
        #expect(try client.readResponse().body == "now")
    }

    @Test func `I16 a request whose handler exceeds its time limit is answered with 504`() async throws {
        let responders = ResponderQueue()
        let server = try Self.makeServer(responders) { $0.handlerTimeout = .milliseconds(30) }
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        // The connection stays open for further requests.
        for _ in 0..<3 {
            client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
            let responder = try await responders.next()
            #expect(try client.readResponse().status == 504)
            #expect(!responder.complete(.text("late")))
        }
    }

    @Test func `stopping answers waiting requests with 503, and the responder outlives the server`() async throws {
        let responders = ResponderQueue()
        let server = try Self.makeServer(responders)
        let client = try RawClient(port: server.port)
        client.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
        let responder = try await responders.next()
        server.stop()
        // A second stop does nothing.
        server.stop()
        #expect(try client.readResponse().status == 503)
        #expect(!responder.complete(.text("late")))
        #expect(throws: RawClient.Failure.self) { try RawClient(port: server.port).readResponse() }
    }

    @Test func `I16 a body over the limit is rejected, however its length is announced`() throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        let clientWithLength = try RawClient(port: server.port)
        clientWithLength.send("POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10001\r\n\r\n")
        let rejection = try clientWithLength.readResponse()
        #expect(rejection.status == 413 && rejection.headers["connection"]?.lowercased() == "close")

        let chunkedClient = try RawClient(port: server.port)
        chunkedClient.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        // 11 chunks of 0x3e8 = 1000 bytes exceed the limit of 10,000.
        for _ in 0..<11 { chunkedClient.send("3e8\r\n\(String(repeating: "x", count: 1_000))\r\n") }
        chunkedClient.send("0\r\n\r\n")
        #expect(try chunkedClient.readResponse().status == 413)

        let endlessClient = try RawClient(port: server.port)
        endlessClient.send("POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n")
        // The server reads and ignores at most four times the limit plus 64 KiB: 4 * 10,000 + 65,536 = 105,536 bytes.
        // The client sends 200,000 bytes and does not end its body. Therefore the server closes the connection, and no
        // response can be read.
        for _ in 0..<200 { endlessClient.send("3e8\r\n\(String(repeating: "x", count: 1_000))\r\n") }
        #expect(throws: RawClient.Failure.self) { try endlessClient.readResponse() }

        // A body of exactly the limit is accepted.
        let exactClient = try RawClient(port: server.port)
        exactClient.send(
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 10000\r\n\r\n\(String(repeating: "y", count: 10_000))")
        #expect(try exactClient.readResponse().body.count == 10_000)
    }

    // A request may have at most 1000 query items.
    @Test(arguments: [1001, 2000, 3000, 5000, 7000])
    func `I16 a request with too many query items is answered with 431 and not left waiting`(count: Int) throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        let items = Array(repeating: "a", count: count).joined(separator: "&")
        client.send("GET /hello/bob?\(items) HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 431)
    }

    @Test(arguments: [10, 100, 300, 1000, 4000])
    func `I16 a request with very many parts of any kind is answered, or its connection is closed`(count: Int) throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        func repeated(_ part: String) -> String { String(repeating: part, count: count) }
        let chunkedHead = "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
        for request in [
            "GET /hello/bob HTTP/1.1\r\nHost: a\r\nCookie: \(repeated("a=1; "))a=1\r\n\r\n",
            "GET /hello/bob HTTP/1.1\r\nHost: a\r\n\(repeated("a: b\r\n"))\r\n",
            "GET /hello/bob?\(repeated("a&")) HTTP/1.1\r\nHost: a\r\n\(repeated("a: b\r\n"))\r\n",
            "GET /\(repeated("a/")) HTTP/1.1\r\nHost: a\r\n\r\n",
            "\(chunkedHead)1;\(repeated("e"))\r\na\r\n0\r\n\r\n",
            "\(chunkedHead)1\r\na\r\n0\r\n\(repeated("a: b\r\n"))\r\n",
        ] {
            let client = try RawClient(port: server.port)
            client.send(request)
            #expect(client.waitForResponseOrEnd(), "no answer to \(request.prefix(120))")
        }
    }

    @Test func `query items are split at ampersands and at the first equals sign`() throws {
        var router = Router<HTTPHandler>()
        router.add(.get, "/items") { request, responder in
            responder.complete(.text(request.query.map { "\($0.name)>\($0.value)" }.joined(separator: "|")))
        }
        let server = try WebServer(port: 0, handler: router.handler())
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        // A request may have at most 1000 query items.
        let allowedItems = (0..<1000).map { "k\($0)=v" }
        for (query, expectedBody) in [
            ("", ""), ("?", ""), ("?a", "a>"), ("?a=", "a>"), ("?=b", ">b"), ("?a=b=c", "a>b=c"),
            ("?a=1&&a=2&", "a>1|a>2"),
            ("?a=1?b", "a>1?b"), ("?%61+%3D=%C3%A9", "a =>é"),
            (
                "?" + allowedItems.joined(separator: "&"),
                allowedItems.map { $0.replacing("=", with: ">") }.joined(separator: "|")
            ),
        ] {
            client.send("GET /items\(query) HTTP/1.1\r\nHost: a\r\n\r\n")
            #expect(try client.readResponse().body == expectedBody, "\(query)")
        }
    }

    @Test(arguments: BadRequest.allCases)
    func `each invalid request is answered with the status for its fault`(request: BadRequest) throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        let client = try RawClient(port: server.port)
        client.send(request.text)
        #expect(try client.readResponse().status == request.status)
    }

    @Test func `mutated and truncated requests never stop the server`() throws {
        // An incomplete request keeps its connection until the idle timeout. Therefore the limits are higher than the
        // number of requests, 1,500.
        let server = try Self.makeServer {
            $0.connections = 2_000
            $0.connectionsPerAddress = 2_000
        }
        defer { server.stop() }
        let validRequest = Array(
            "POST /echo?a=b%20c HTTP/1.1\r\nHost: a\r\nContent-Length: 5\r\nX: y\r\n\r\nhello".utf8)
        var random = SeededRandom(seed: 11)
        for _ in 0..<1_500 {
            var bytes = validRequest
            for _ in 0..<Int.random(in: 1...6, using: &random) {
                let index = Int.random(in: bytes.indices, using: &random)
                bytes[index] = UInt8.random(in: 0...255, using: &random)
            }
            let client = try RawClient(port: server.port)
            client.send(Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random))))
            if Bool.random(using: &random) { client.endSending() }
        }
        let client = try RawClient(port: server.port)
        client.send("GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 200)
    }

    @Test func `the server still answers after clients have disconnected while they waited`() async throws {
        let responders = ResponderQueue()
        let server = try Self.makeServer(responders)
        defer { server.stop() }
        for _ in 0..<50 {
            var client: RawClient? = try RawClient(port: server.port)
            client?.send("GET /later HTTP/1.1\r\nHost: a\r\n\r\n")
            let responder = try await responders.next()
            // The client disconnects before the response.
            client = nil
            responder.complete(.text("to nobody"))
        }
        let client = try RawClient(port: server.port)
        client.send("GET /hello/x HTTP/1.1\r\nHost: a\r\n\r\n")
        #expect(try client.readResponse().status == 200)
    }

    @Test func `responses that race with deadlines and with the end of the server have a valid status`() throws {
        let workerCount = 8
        for round in 0..<15 {
            // The handler has 0 to 2 ms.
            let server = try Self.makeServer { $0.handlerTimeout = .milliseconds(round % 3) }
            // In every second round the last worker stops the server while the others send requests.
            let endsEarly = round % 2 == 0
            DispatchQueue.concurrentPerform(iterations: workerCount) { worker in
                if worker == workerCount - 1, endsEarly { return server.stop() }
                for _ in 0..<20 {
                    do {
                        let client = try RawClient(port: server.port)
                        client.send("GET /thread HTTP/1.1\r\nHost: a\r\n\r\n")
                        let status = try client.readResponse().status
                        #expect([200, 503, 504].contains(status))
                    } catch {
                        #expect(endsEarly, "only a server that stops may leave a request without a response: \(error)")
                        return
                    }
                }
            }
            server.stop()
        }
    }

    @Test func `a server on a port in use or at an address of another host throws a typed error`() throws {
        let server = try Self.makeServer()
        defer { server.stop() }
        #expect(throws: HTTPServerError.portInUse(host: "127.0.0.1", port: server.port)) {
            try WebServer(port: server.port) { _, _ in }
        }
        // 192.0.2.1 is reserved for documentation, so it is not an address of this machine.
        #expect(throws: HTTPServerError.self) { try WebServer(host: "192.0.2.1", port: 0) { _, _ in } }
        #expect(throws: HTTPServerError.self) { try WebServer(host: "no such host", port: 0) { _, _ in } }
    }
}

/// Invalid requests, named by their faults, with the status of each.
enum BadRequest: String, CaseIterable {
    case badEscape, notUnicode, noPath, longPath, manyHeaders, longHeader, negativeLength, hugeLength
    case lengthAndCoding, unknownCoding, codingInHTTP10, blankBeforeColon, signedLength

    var text: String {
        // These exceed the default limits: 16 KiB for the request line and headers, and 100 headers.
        let longText = String(repeating: "a", count: 40_000)
        let headerLines = String(repeating: "X-A: b\r\n", count: 120)
        return switch self {
        case .badEscape: "GET /hello/%zz HTTP/1.1\r\nHost: a\r\n\r\n"
        case .notUnicode: "GET /hello/x?q=%ff HTTP/1.1\r\nHost: a\r\n\r\n"
        case .noPath: "GET * HTTP/1.1\r\nHost: a\r\n\r\n"
        case .longPath: "GET /\(longText) HTTP/1.1\r\nHost: a\r\n\r\n"
        case .manyHeaders: "GET / HTTP/1.1\r\nHost: a\r\n\(headerLines)\r\n"
        case .longHeader: "GET / HTTP/1.1\r\nHost: a\r\nX-A: \(longText)\r\n\r\n"
        case .negativeLength: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: -1\r\n\r\n"
        case .hugeLength: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 99999999999999999999999\r\n\r\n"
        case .lengthAndCoding:
            "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
        case .codingInHTTP10:
            "POST /echo HTTP/1.0\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nhi\r\n0\r\n\r\n"
        case .unknownCoding: "POST /echo HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: gzip\r\n\r\n"
        case .signedLength: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length: +2\r\n\r\nhi"
        case .blankBeforeColon: "POST /echo HTTP/1.1\r\nHost: a\r\nContent-Length : 5\r\n\r\n"
        }
    }

    var status: Int {
        switch self {
        case .badEscape, .notUnicode, .noPath, .negativeLength: 400
        case .lengthAndCoding, .unknownCoding, .codingInHTTP10, .blankBeforeColon, .signedLength: 400
        case .longPath: 414
        case .manyHeaders, .longHeader: 431
        case .hugeLength: 413
        }
    }
}
