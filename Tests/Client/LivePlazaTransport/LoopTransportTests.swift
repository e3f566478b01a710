// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EventLoop
import LivePlazaKit
import Testing
import WebSocket

@testable import LivePlazaTransport

@Suite struct LoopTransportTests {
    @Test(arguments: [
        ("ws://gateway/v1", "gateway", 80, "/v1"), ("ws://127.0.0.1:9001", "127.0.0.1", 9001, "/"),
        ("ws://[::1]:9001/v1", "::1", 9001, "/v1"), ("ws://[::1]/", "::1", 80, "/"),
    ])
    func `an address has host, port and path`(text: String, host: String, port: Int, path: String) throws {
        let address = try GatewayAddress(text)
        #expect(address.host == host && address.port == UInt16(port) && address.path == path)
    }

    @Test(arguments: [
        "wss://gateway/v1", "http://gateway", "gateway", "ws://", "ws://gateway:x/", "ws://gateway:0/", "ws://[::1/",
        "ws://gateway:70000/", "ws://[::1]9/",
    ])
    func `what is no address, or needs TLS, is refused at once`(text: String) throws {
        let transport = try LoopTransport()
        #expect { try transport.connect(to: text) { _ in } } throws: { ($0 as? ErrorInfo)?.code == -1001 }
    }

    @Test func `texts go both ways, and the server's close code comes back`() throws {
        let server = try EchoServer()
        defer { server.stop() }
        let transport = try LoopTransport()
        let log = EventLog()
        let connection = try transport.connect(to: "ws://127.0.0.1:\(server.port)/v1") { log.add($0) }
        #expect(log.wait(for: 1) == [.opened])
        connection.send(Array("hello".utf8))
        #expect(log.wait(for: 2).last == .text(Array("hello".utf8)))
        connection.send(Array("close 4102".utf8))
        #expect(log.wait(for: 3).last == .closed(code: 4102))
    }

    @Test func `an attempt that fails is closed with 1006`() throws {
        let server = try EchoServer()
        let port = server.port
        server.stop()
        let transport = try LoopTransport()
        let log = EventLog()
        _ = try transport.connect(to: "ws://127.0.0.1:\(port)/v1") { log.add($0) }
        #expect(log.wait(for: 1) == [.closed(code: 1006)])
    }
}

/// The events of a connection, for which a test waits.
private final class EventLog: Sendable {
    private let events = ConditionVariable<[TransportEvent]>([])

    func add(_ event: TransportEvent) { self.events.update { $0.append(event) } }

    /// The first events, when there are so many.
    func wait(for count: Int) -> [TransportEvent] {
        self.events.wait(timeout: .seconds(20)) { $0.count >= count ? $0 : nil } ?? []
    }
}

/// A server on its own thread that sends back what it receives, and closes when it is told to.
private final class EchoServer: Sendable {
    let port: UInt16
    private let thread: LoopThread

    init() throws {
        (self.thread, self.port) = try EventLoop.start(name: "echo") { (loop) throws(LoopError) -> UInt16 in
            var configuration = WebSocketConfiguration()
            configuration.policy = HandshakePolicy(subprotocols: ["liveplaza.v1"], requiresSubprotocol: true)
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            return try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: Echo()).port
        }
    }

    func stop() {
        self.thread.stop()
        self.thread.join()
    }
}

private final class Echo: WebSocketDelegate {
    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {}

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        let string = String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
        let words = string.split(separator: " ")
        if words.first == "close", let code = words.last.flatMap({ UInt16($0) }) {
            connection.close(CloseCode(rawValue: code))
        } else {
            connection.sendText(text)
        }
    }

    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {}
}
