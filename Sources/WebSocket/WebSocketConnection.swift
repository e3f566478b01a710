// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// One WebSocket on a loop, of either side.
///
/// It is alive, and keeps its delegate and context alive, until `webSocketClosed`. An idle one holds no buffer.
package final class WebSocketConnection {
    // What a delivery needs comes first, to lie in one line of the cache: with thousands of viewers each is cold.
    /// Where it stands.
    package internal(set) var state = State.connecting
    var awaitsPong = false
    /// Whether the last sweep found that the peer took too long.
    var isOverdue = false
    /// Our side.
    package let role: Role
    var stream: TCPStream?
    /// What it shares its limits with.
    package let group: WebSocketGroup
    /// Who is told of what happens here.
    package var delegate: (any WebSocketDelegate)?
    /// The owner's own data.
    package var context: AnyObject?
    /// What was agreed on in the handshake.
    package internal(set) var subprotocol: String?
    /// Its place in the group, or -1.
    var groupIndex = -1
    /// What only the handshake needs; gone when the WebSocket is open.
    var handshake: PendingHandshake?
    /// Why it ends, as soon as that is known, until the delegate was told.
    var closure: WebSocketClosure?
    /// When the peer was last heard of, in the loop's time.
    package internal(set) var lastReceivedMilliseconds: UInt64
    /// Since when the handshake, a pong or the peer's close is awaited.
    var waitingSince: UInt64
    private var decoder: FrameDecoder

    /// Where a WebSocket stands.
    package enum State: Sendable {
        /// TCP connects or the handshake is under way; then open, or ended.
        case connecting
        /// Messages flow; then closing, or ended.
        case open
        /// Our close frame waits for the peer's; then ended.
        case closing
        /// The delegate was told, or is about to be; perhaps TCP has yet to end.
        case ended
    }

    init(group: WebSocketGroup, role: Role, handshake: PendingHandshake) {
        self.group = group
        self.role = role
        self.handshake = handshake
        self.decoder = FrameDecoder(role: role, maxMessageBytes: group.configuration.maxMessageBytes)
        self.lastReceivedMilliseconds = group.loop.nowMilliseconds
        self.waitingSince = self.lastReceivedMilliseconds
    }

    /// Begins to connect as a client.
    ///
    /// The delegate hears `webSocketOpened`, or `webSocketClosed` with what went wrong.
    ///
    /// - Throws: `LoopError` when not even the attempt could begin; the delegate then hears nothing.
    package static func connect(
        group: WebSocketGroup, to target: WebSocketTarget, delegate: any WebSocketDelegate
    ) throws(LoopError) -> WebSocketConnection {
        let client = ClientHandshake(target, nonce: (group.randomBits(), group.randomBits()))
        let handshake = PendingHandshake(client: client, maxBytes: group.configuration.maxHandshakeBytes)
        let connection = WebSocketConnection(group: group, role: .client, handshake: handshake)
        connection.delegate = delegate
        connection.stream = try TCPStream.connect(
            loop: group.loop, host: target.host, port: target.port, delegate: connection)
        group.add(connection)
        return connection
    }

    /// How many bytes wait for the peer to read.
    package var pendingBytes: Int { self.stream?.pendingBytes ?? 0 }

    /// The peer's address without its port.
    package var peerHost: String? { self.stream?.peerHost }

    /// Sends a frame that is encoded already, and may be shared by any number of connections (of a server).
    ///
    /// When more is pending than `maxPendingBytes`, what is not on its way is dropped and the connection closes with
    /// `overflowCode`.
    @discardableResult package func send(_ frame: SharedBytes) -> SendOutcome {
        guard self.state == .open, let stream = self.stream else { return .notOpen }
        do throws(LoopError) {
            return try stream.write(frame) ? .sent : .queued
        } catch { return self.couldNotSend(error) }
    }

    /// Sends several encoded frames in one system call, all or none of them.
    @discardableResult package func send(_ frames: [SharedBytes]) -> SendOutcome {
        guard self.state == .open, let stream = self.stream else { return .notOpen }
        do throws(LoopError) {
            return try stream.write(contentsOf: frames) ? .sent : .queued
        } catch { return self.couldNotSend(error) }
    }

    /// Encodes one text for this peer alone, and sends it.
    ///
    /// The bytes must be UTF-8.
    @discardableResult package func sendText(_ text: Span<UInt8>) -> SendOutcome {
        self.state == .open ? self.send(self.encoded(.text, text)) : .notOpen
    }

    /// Encodes one text for this peer alone, and sends it.
    @discardableResult package func sendText(_ text: String) -> SendOutcome { self.sendText(Array(text.utf8).span) }

    /// Asks the peer for a sign of life now.
    package func ping() {
        guard self.state == .open else { return }
        self.awaitsPong = true
        self.waitingSince = self.group.loop.nowMilliseconds
        self.send(self.role == .server ? self.group.ping : self.encoded(.ping, Span()))
    }

    /// Stops, or resumes, to read what the peer sends; its own socket then fills up.
    package func setReading(_ isReading: Bool) {
        if isReading { self.stream?.startReading() } else { self.stream?.pauseReading() }
    }

    /// Begins the close handshake.
    ///
    /// `webSocketClosed` follows when the peer has answered, or its time is up. Only the first call does anything; in a
    /// handshake it ends the connection.
    package func close(_ code: CloseCode, reason: String = "") {
        switch self.state {
        case .closing, .ended: return
        case .connecting:
            self.closure = WebSocketClosure(code: code, reason: reason, cause: .own)
            self.stream?.abort()
        case .open:
            self.closure = WebSocketClosure(code: code, reason: reason, cause: .own)
            self.state = .closing
            self.waitingSince = self.group.loop.nowMilliseconds
            self.writeClose(code, reason: reason)
        }
    }

    /// Ends the TCP connection without a word.
    ///
    /// `webSocketClosed` follows at the end of this turn.
    package func terminate() { self.stream?.abort() }

    /// Encodes a frame as our side does.
    func encoded(_ opcode: Opcode, _ payload: Span<UInt8>) -> SharedBytes {
        switch self.role {
        case .server: FrameEncoder.frame(opcode, payload)
        case .client:
            FrameEncoder.maskedFrame(
                opcode, payload, mask: Mask(random: UInt32(truncatingIfNeeded: self.group.randomBits())))
        }
    }

    /// Decodes what came, from `offset` on.
    func decode(_ bytes: inout MutableSpan<UInt8>, from start: Int) {
        var offset = start
        while self.state == .open || self.state == .closing, let event = self.decoder.next(&bytes, &offset) {
            switch event {
            case .text(.inChunk(let range)): self.receivedText(bytes.span.extracting(range))
            case .text(.gathered(let message)): self.receivedText(message.span)
            case .binary(.inChunk(let range)): self.receivedBinary(bytes.span.extracting(range))
            case .binary(.gathered(let message)): self.receivedBinary(message.span)
            case .ping(.inChunk(let range)): self.receivedPing(bytes.span.extracting(range))
            case .ping(.gathered(let payload)): self.receivedPing(payload.span)
            case .pong: break
            case .close(let code, let reason): self.receivedClose(code, reason: reason)
            case .failure(let violation): self.failed(violation)
            }
        }
    }

    private func receivedText(_ text: Span<UInt8>) {
        // After our own close frame the owner wants to hear nothing but the end.
        if self.state == .open { self.delegate?.webSocket(self, receivedText: text) }
    }

    private func receivedBinary(_ bytes: Span<UInt8>) {
        if self.state == .open { self.delegate?.webSocket(self, receivedBinary: bytes) }
    }

    private func receivedPing(_ payload: Span<UInt8>) {
        if self.state == .open { self.send(self.encoded(.pong, payload)) }
    }

    private func couldNotSend(_ error: LoopError) -> SendOutcome {
        // Any other error has ended the stream already, which says so at the end of this turn.
        guard case .overflow = error else { return .notOpen }
        self.closure = WebSocketClosure(
            code: self.group.configuration.overflowCode, reason: "too slow", cause: .slowReader)
        self.state = .closing
        self.waitingSince = self.group.loop.nowMilliseconds
        self.stream?.dropUnsent()
        self.writeClose(self.group.configuration.overflowCode, reason: "too slow")
        return .overflow
    }
}

/// What a connection needs until its handshake is over.
final class PendingHandshake {
    var reader: HTTPHeadReader
    /// The client's side; nil on a server's.
    let client: ClientHandshake?
    /// The server that accepted it; nil on a client's side.
    let server: WebSocketServer?

    init(client: ClientHandshake, maxBytes: Int) {
        self.client = client
        self.server = nil
        self.reader = HTTPHeadReader(maxBytes: maxBytes)
    }

    init(server: WebSocketServer, maxBytes: Int) {
        self.client = nil
        self.server = server
        self.reader = HTTPHeadReader(maxBytes: maxBytes)
    }
}
