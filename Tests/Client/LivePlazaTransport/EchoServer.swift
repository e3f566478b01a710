// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EventLoop
import LivePlazaKit
import WebSocket

/// The recorded events of a connection.
final class EventLog: Sendable {
    private let events = ConditionVariable<[TransportEvent]>([])

    func add(_ event: TransportEvent) { self.events.update { $0.append(event) } }

    /// Waits for at most 20 s until there are `count` events; returns all events, or none if there are fewer.
    func events(waitingForCount count: Int) -> [TransportEvent] {
        self.events.wait(timeout: .seconds(20)) { $0.count >= count ? $0 : nil } ?? []
    }
}

/// A WebSocket server on its own thread that sends each text back.
///
/// After the text `close CODE` the server closes the connection with the close code CODE.
final class EchoServer: Sendable {
    let port: UInt16
    private let thread: LoopThread

    init() throws {
        (self.thread, self.port) = try EventLoop.start(name: "echo") { (loop) throws(LoopError) -> UInt16 in
            var configuration = WebSocketConfiguration()
            // The longest text of the tests has 900,000 bytes.
            configuration.maxMessageBytes = 2_000_000
            configuration.maxPendingBytes = 8_000_000
            configuration.policy = HandshakePolicy(subprotocols: ["liveplaza.v1"])
            let group = WebSocketGroup(loop: loop, configuration: configuration)
            return try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: Echo()).port
        }
    }

    /// Stops the server, and waits until its thread has ended.
    func stop() {
        self.thread.stop()
        self.thread.join()
    }
}

/// What the server does with a text: sends the text back, or closes the connection.
private final class Echo: WebSocketDelegate {
    /// Closes a connection whose client has not offered the subprotocol of the gateways.
    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        if connection.subprotocol == nil { connection.close(.policyViolation) }
    }

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
