// SPDX-License-Identifier: Apache-2.0
import EventLoop
import Testing
import WebSocket

extension WebSocketConnection {
    /// Encodes a text and sends it to this connection's peer.
    @discardableResult func sendText(_ text: String) -> SendOutcome { self.sendText(Array(text.utf8).span) }
}

extension FrameEncoder {
    /// Encodes a server's text frame.
    static func text(_ payload: String) -> SharedBytes { Self.text(Array(payload.utf8).span) }
}

/// A delegate that records the events of all its connections, and passes them to the test's closures.
final class EventRecorder: WebSocketDelegate {
    /// The upgrade request of each opened connection; nil for a client's connection, which receives none.
    var requests: [UpgradeRequest?] = []
    var connections: [WebSocketConnection] = []
    var texts: [String] = []
    var closures: [WebSocketClosure] = []
    var onOpened: ((WebSocketConnection) -> Void)?
    var onText: ((WebSocketConnection, String) -> Void)?
    var onClosed: ((WebSocketConnection, WebSocketClosure) -> Void)?
    var onWritable: ((WebSocketConnection) -> Void)?

    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        self.requests.append(request)
        self.connections.append(connection)
        self.onOpened?(connection)
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        let string = String(decoding: text.indices.map { text[$0] }, as: UTF8.self)
        self.texts.append(string)
        self.onText?(connection, string)
    }

    func webSocketWritable(_ connection: WebSocketConnection) { self.onWritable?(connection) }

    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {
        self.closures.append(closure)
        self.onClosed?(connection, closure)
    }
}

/// A client that can send arbitrary bytes over TCP, and records the received bytes and frames.
///
/// By itself it sends only its handshake, so it answers no ping and no close frame.
final class RawClient: TCPStreamDelegate {
    /// A valid upgrade request.
    static let request =
        "GET / HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"

    var stream: TCPStream?
    /// The received bytes up to the end of the handshake's response; if the server rejects the handshake, all bytes.
    var received: [UInt8] = []
    /// The error with which the stream ended; nil while it is open.
    var endError: LoopError?
    /// The bytes after the handshake's response that are not decoded yet.
    private var undecodedBytes: [UInt8] = []
    private var decoder = FrameDecoder(role: .client, maxMessageBytes: 1_000_000)
    var events: [DecodedEvent] = []
    var isUpgraded = false
    var onConnected: ((RawClient) -> Void)?
    var onUpgraded: ((RawClient) -> Void)?
    var onEvent: ((RawClient, DecodedEvent) -> Void)?
    var onEnded: ((RawClient) -> Void)?
    /// The bytes that the client sends when it has connected: by default a valid upgrade request.
    private let opening: [UInt8]

    /// Connects to a server at 127.0.0.1, from the local address `source` if there is one.
    init(_ loop: EventLoop, port: UInt16, opening: String = RawClient.request, from source: String? = nil) throws {
        self.opening = Array(opening.utf8)
        self.stream = try TCPStream.connect(loop: loop, host: "127.0.0.1", port: port, from: source, delegate: self)
    }

    func send(_ bytes: [UInt8]) { _ = try? self.stream?.write(SharedBytes(bytes)) }

    /// The response to the handshake, as text.
    var response: String { String(decoding: self.received, as: UTF8.self) }

    func streamConnected(_ stream: TCPStream) {
        stream.startReading()
        self.send(self.opening)
        self.onConnected?(self)
    }

    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        let span = bytes.span
        for index in span.indices {
            if self.isUpgraded {
                self.undecodedBytes.append(span[index])
            } else {
                self.received.append(span[index])
            }
            // A response ends with an empty line, CR LF CR LF; CR is 13, and LF is 10. `HTTP/1.1 101` has 12 bytes.
            if !self.isUpgraded, self.received.count > 12, self.received.suffix(4) == [13, 10, 13, 10],
                self.response.hasPrefix("HTTP/1.1 101")
            {
                self.isUpgraded = true
                self.onUpgraded?(self)
            }
        }
        for event in decode(&self.decoder, [self.undecodedBytes]) {
            self.events.append(event)
            self.onEvent?(self, event)
        }
        self.undecodedBytes = []
    }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        self.endError = error
        self.stream = nil
        self.onEnded?(self)
    }
}

/// Makes a WebSocket server that checks the timeouts and queues of its connections every 20 ms.
///
/// `configure` changes the server's configuration.
func makeServer(
    _ loop: EventLoop, _ delegate: EventRecorder, _ configure: (inout WebSocketConfiguration) -> Void = { _ in }
) throws -> WebSocketServer {
    var configuration = WebSocketConfiguration()
    configure(&configuration)
    let group = WebSocketGroup(loop: loop, configuration: configuration)
    try group.startSweeping(every: .milliseconds(20))
    return try WebSocketServer(group: group, host: "127.0.0.1", port: 0, delegate: delegate)
}
