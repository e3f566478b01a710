// SPDX-License-Identifier: Apache-2.0
package import ClientAddress
package import EventLoop
package import MachineKit

/// One WebSocket on an event loop, on the client's or the server's side.
///
/// The `WebSocketGroup` retains a connection until the TCP connection has ended. The connection retains its delegate
/// and context until `webSocketClosed`. An idle connection has no buffer.
package final class WebSocketConnection {
    // The properties that a send uses come first, so that they share a cache line. With thousands of viewers, a
    // connection is usually not in the processor's cache, and each further cache line must be loaded from memory.
    /// The current state.
    package internal(set) var state = State.connecting
    /// Whether a ping was sent and nothing was received since.
    var awaitsPong = false
    /// Whether the last sweep (the group's regular check of all timeouts) found that this connection had waited too
    /// long for its peer; a connection that is overdue in two sweeps in a row ends.
    var isOverdue = false
    /// The side of this connection: client or server.
    package let role: Role
    /// The TCP connection; nil before it is created, and after it has ended.
    var stream: TCPStream?
    /// The group of connections that share limits and timeouts.
    package let group: WebSocketGroup
    /// Receives the connection's events.
    package var delegate: (any WebSocketDelegate)?
    /// Any object that the delegate keeps with this connection.
    package var context: AnyObject?
    /// The subprotocol that was negotiated in the handshake.
    package internal(set) var subprotocol: String?
    /// The index of the connection in its group; -1 if it is not in a group.
    var groupIndex = -1
    /// The state of the handshake; nil once it is over.
    var handshake: PendingHandshake?
    /// Why the connection ends; nil before the cause is known, and again after the delegate was notified.
    var closure: WebSocketClosure?
    /// When a byte was last received, in the loop's time.
    package internal(set) var lastReceivedAt: MonotonicTime
    /// When this side began to wait for the handshake, a pong, the peer's close frame or the end of the TCP connection,
    /// in the loop's time.
    var waitsSince: MonotonicTime
    private(set) var decoder: FrameDecoder
    /// Counts what the peer sends against the rate limits.
    private var meter = InboundMeter()
    /// How many of the group's `unfinishedBytes` are this connection's: its decoder's memory for an unfinished message.
    private(set) var unfinishedBytes = 0
    /// The client's address: the peer's, or the one that a trusted proxy reports; nil until it is known.
    package internal(set) var clientAddress: IPAddress?
    /// The admission (which limits what one client address may use) that counts this connection; nil if none does.
    var admission: (any WebSocketAdmission)?
    /// Whether the admission rejected the connection.
    var isRejected = false

    /// The states of a WebSocket.
    package enum State: Sendable {
        /// The TCP connection or the handshake is in progress; `open` or `ended` follows.
        case connecting
        /// Messages can be sent and received; `closing` or `ended` follows.
        case open
        /// Our close frame was sent and the peer's is awaited; `ended` follows.
        case closing
        /// The delegate was notified, or is about to be; the TCP connection may still be open.
        case ended
    }

    init(group: WebSocketGroup, role: Role, handshake: PendingHandshake) {
        self.group = group
        self.role = role
        self.handshake = handshake
        self.decoder = FrameDecoder(role: role, maxMessageBytes: group.configuration.maxMessageBytes)
        self.lastReceivedAt = group.loop.now
        self.waitsSince = self.lastReceivedAt
    }

    /// Begins to connect as a client.
    ///
    /// The delegate receives `webSocketOpened`, or `webSocketClosed` with the error.
    ///
    /// - Parameters:
    ///   - group: The group of the connection.
    ///   - target: The server.
    ///   - security: The TLS session of a `wss` address; nil sends clear text.
    ///   - delegate: Receives the connection's events.
    /// - Returns: The connection, whose WebSocket is not open yet.
    /// - Throws: `LoopError` when the attempt could not begin; the delegate then receives no event.
    package static func connect(
        group: WebSocketGroup, to target: WebSocketTarget, security: (any StreamSecurity)? = nil,
        delegate: any WebSocketDelegate
    ) throws(LoopError) -> WebSocketConnection {
        let client = ClientHandshake(target, nonce: (group.randomBits(), group.randomBits()))
        let handshake = PendingHandshake(client: client, maxBytes: group.configuration.maxHandshakeBytes)
        let connection = WebSocketConnection(group: group, role: .client, handshake: handshake)
        connection.delegate = delegate
        connection.stream = try TCPStream.connect(
            loop: group.loop, host: target.host, port: target.port, security: security, delegate: connection)
        group.add(connection)
        return connection
    }

    /// The number of bytes that the system has not yet accepted, because the peer reads slowly.
    package var pendingBytes: Int { self.stream?.pendingBytes ?? 0 }

    /// Sends an encoded frame, which any number of a server's connections may share.
    ///
    /// When more than `maxPendingBytes` would be pending, the unsent frames are dropped and the connection closes with
    /// `overflowCode`. When all connections of the loop together queue more than `maxQueuedBytes`, and this connection
    /// would queue more than its share (`maxQueuedBytes` divided by the number of queues), this connection ends.
    @discardableResult package func send(_ frame: SharedBytes) -> SendOutcome {
        guard self.state == .open, let stream = self.stream else { return .notOpen }
        do throws(LoopError) {
            return try stream.write(frame) ? .sent : .queued
        } catch { return self.handleSendError(error) }
    }

    /// Sends several encoded frames in one system call, all or none of them.
    @discardableResult package func send(_ frames: [SharedBytes]) -> SendOutcome {
        guard self.state == .open, let stream = self.stream else { return .notOpen }
        do throws(LoopError) {
            return try stream.write(contentsOf: frames) ? .sent : .queued
        } catch { return self.handleSendError(error) }
    }

    /// Sends several encoded frames as `send(_:)` does, but does not end the connection when it would exceed its share
    /// of `maxQueuedBytes`.
    ///
    /// - Returns: The outcome; nil if the share would be exceeded. Then no byte was accepted, and the frames may be
    ///   offered again later.
    package func offer(_ frames: [SharedBytes]) -> SendOutcome? {
        guard self.state == .open, let stream = self.stream else { return .notOpen }
        do throws(LoopError) {
            return try stream.write(contentsOf: frames) ? .sent : .queued
        } catch { return error == .overShare ? nil : self.handleSendError(error) }
    }

    /// Encodes a text message for this peer alone, and sends it.
    ///
    /// The bytes must be UTF-8.
    @discardableResult package func sendText(_ text: Span<UInt8>) -> SendOutcome {
        self.state == .open ? self.send(self.encoded(.text, text)) : .notOpen
    }

    /// Sends a ping now.
    package func ping() {
        guard self.state == .open else { return }
        self.awaitsPong = true
        self.waitsSince = self.group.loop.now
        self.send(self.role == .server ? self.group.ping : self.encoded(.ping, Span()))
    }

    /// Begins the close handshake.
    ///
    /// `webSocketClosed` is called when the peer has answered or the timeout is over. Further calls of `close` do
    /// nothing. A call before the WebSocket is open ends the TCP connection at once.
    package func close(_ code: CloseCode, reason: String = "") {
        switch self.state {
        case .closing, .ended: return
        case .connecting:
            // An earlier cause, such as a failed handshake, is kept.
            if self.closure == nil {
                self.closure = WebSocketClosure(code: code, reason: reason, cause: .thisSide)
            }
            self.stream?.abort()
        case .open:
            self.closure = WebSocketClosure(code: code, reason: reason, cause: .thisSide)
            self.state = .closing
            self.waitsSince = self.group.loop.now
            self.writeClose(code, reason: reason)
        }
    }

    /// Encodes a frame for the peer: masked if this side is a client.
    func encoded(_ opcode: Opcode, _ payload: Span<UInt8>) -> SharedBytes {
        switch self.role {
        case .server: FrameEncoder.frame(opcode, payload)
        case .client:
            FrameEncoder.maskedFrame(
                opcode, payload, mask: Mask(random: UInt32(truncatingIfNeeded: self.group.randomBits())))
        }
    }

    /// Ends the stricter limits of `InboundLimits`, which apply until this call.
    ///
    /// The delegate's side calls this when it trusts the peer, for example after a login.
    package func accept() { self.meter.accept() }

    /// Decodes received bytes from `start` on, and notifies the delegate of each message.
    func decode(_ bytes: inout MutableSpan<UInt8>, from start: Int) {
        guard !self.decoder.hasEnded else { return }
        var offset = start
        // Bytes are decoded and counted even while this side closes the connection, because the peer may send until the
        // close timeout.
        while self.state == .open || self.state == .closing {
            let eventStart = offset
            let event = self.decoder.next(&bytes, &offset)
            if let excess = self.countReceived(offset - eventStart) {
                return self.endInput(excess)
            }
            guard let event else { break }
            switch event {
            case .text(.inChunk(let range)): self.receivedText(bytes.span.extracting(range))
            case .text(.buffered(let message)): self.receivedText(message.span)
            case .binary(.inChunk(let range)): self.receivedBinary(bytes.span.extracting(range))
            case .binary(.buffered(let message)): self.receivedBinary(message.span)
            case .ping(.inChunk(let range)): self.receivedPing(bytes.span.extracting(range))
            case .ping(.buffered(let payload)): self.receivedPing(payload.span)
            // `stream(_:received:)` has already recorded that the peer is alive.
            case .pong: break
            case .close(let code, let reason): self.receivedClose(code, reason: reason)
            case .failure(let violation): self.fail(violation)
            }
        }
    }

    /// Counts received bytes, and the frames that they complete, against the limits; returns the limit that they
    /// exceed, if any.
    private func countReceived(_ byteCount: Int) -> InboundExcess? {
        let configuration = self.group.configuration
        let frameCount = self.decoder.takeFrameCount()
        let bufferedBytes = self.decoder.bufferedCapacityBytes
        // `maxUnfinishedBytes` limits the sum of all connections of the group, so each change is added to the sum.
        if bufferedBytes != self.unfinishedBytes {
            self.group.unfinishedBytes += bufferedBytes - self.unfinishedBytes
            let isLarger = bufferedBytes > self.unfinishedBytes
            self.unfinishedBytes = bufferedBytes
            if isLarger, self.group.unfinishedBytes > configuration.maxUnfinishedBytes,
                self.group.endLargestInput(whileDecoding: self)
            {
                return .unfinishedMessages
            }
        }
        guard let limits = configuration.inbound else { return nil }
        return self.meter.count(byteCount, frames: frameCount, limits, at: self.group.loop.now)
    }

    /// Ends the input of a peer that has exceeded a limit, and notifies the delegate.
    ///
    /// All bytes that are received from now on are discarded without decoding them, and the connection accepts no more
    /// writes.
    func endInput(_ excess: InboundExcess) {
        // The delegate decides how to close the connection. If the connection is closing already, nothing is to decide.
        if self.state == .open { self.delegate?.webSocket(self, exceeded: excess) }
        self.decoder.stop()
        self.group.unfinishedBytes -= self.unfinishedBytes
        self.unfinishedBytes = 0
        self.stream?.finish()
    }

    private func receivedText(_ text: Span<UInt8>) {
        // After our own close frame the delegate receives only `webSocketClosed`.
        if self.state == .open { self.delegate?.webSocket(self, receivedText: text) }
    }

    private func receivedBinary(_ bytes: Span<UInt8>) {
        if self.state == .open { self.delegate?.webSocket(self, receivedBinary: bytes) }
    }

    private func receivedPing(_ payload: Span<UInt8>) {
        if self.state == .open { self.send(self.encoded(.pong, payload)) }
    }

    /// Begins to close the connection of a slow reader; returns the outcome of the failed send.
    private func handleSendError(_ error: LoopError) -> SendOutcome {
        // All connections together queue too much, and this connection queues more than its share.
        if error == .overShare {
            self.endSlowReader(.outputLimit)
            return .overflow
        }
        // Any error but an overflow ends the stream, which calls `streamEnded` at the end of this turn.
        guard case .overflow = error else { return .notOpen }
        // This connection alone queues more than `maxPendingBytes`. Its unsent frames are dropped to make room for
        // the close frame.
        self.closure = WebSocketClosure(
            code: self.group.configuration.overflowCode, reason: "too slow", cause: .slowReader)
        self.state = .closing
        self.waitsSince = self.group.loop.now
        self.stream?.dropUnsent()
        self.writeClose(self.group.configuration.overflowCode, reason: "too slow")
        return .overflow
    }
}

/// The state of a connection until its handshake is over.
final class PendingHandshake {
    var reader: HandshakeHeadReader
    /// Reads the PROXY header of a trusted proxy; nil when no PROXY header is expected, or it was read.
    var proxyHeaderReader: ProxyHeaderReader?
    /// The address of the trusted proxy whose `X-Forwarded-For` contains the client's address; nil if there is none.
    var proxy: IPAddress?
    /// The handshake of a client; nil on the server's side.
    let client: ClientHandshake?
    /// The server that accepted the connection; nil on the client's side.
    let server: WebSocketServer?

    init(client: ClientHandshake, maxBytes: Int) {
        self.client = client
        self.server = nil
        self.reader = HandshakeHeadReader(maxBytes: maxBytes)
    }

    init(server: WebSocketServer, maxBytes: Int) {
        self.client = nil
        self.server = server
        self.reader = HandshakeHeadReader(maxBytes: maxBytes)
    }
}
