// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// One connection of an attack; it runs on the event loop of its swarm.
final class AttackConnection: TCPStreamDelegate {
    /// The index of the connection in its swarm; a replacement has the index of the connection that it replaces.
    let index: Int
    private unowned let swarm: AttackSwarm
    private var client: any AttackClient
    private var random: SeededRandom
    /// The WebSocket handshake; nil if the attack writes a handshake itself, or uses HTTP.
    private let handshake: ClientHandshake?
    private var stream: TCPStream?
    private var reader = AnswerReader()
    /// Whether the client may send: the connection is established and its handshake, if any, is complete.
    private var isOpen = false
    /// Whether the tally already has the reason for which the connection ends.
    private var isEndCounted = false

    init(
        _ index: Int, _ client: any AttackClient, random: SeededRandom, target: WebSocketTarget, channel: AttackChannel,
        swarm: AttackSwarm
    ) {
        self.index = index
        self.client = client
        self.random = random
        self.swarm = swarm
        self.handshake =
            channel == .webSocket
            ? ClientHandshake(target, nonce: (self.random.next(), self.random.next())) : nil
    }

    /// Begins to connect; if `readsSlowly`, the receive buffer is as small as that of a client in a slow network.
    ///
    /// The source address depends on the index, because a gateway limits the connections of one address.
    func start(_ loop: EventLoop, host: String, port: UInt16, readsSlowly: Bool) throws(LoopError) {
        self.stream = try TCPStream.connect(
            loop: loop, host: host, port: port, from: Loopback.source(of: self.index, to: host),
            receiveBufferBytes: readsSlowly ? Self.slowReceiveBufferBytes : 0, delegate: self)
    }

    /// Sends what the client sends in a turn; called at each interval `Attack.turnInterval`.
    func takeTurn() { if self.isOpen { self.send(self.client.takeTurn()) } }

    /// Lets the client remove what it has created.
    func cleanUp() { if self.isOpen { self.send(self.client.cleanUp()) } }

    /// Closes the connection without a close frame.
    func close() {
        self.isOpen = false
        self.stream?.close()
        self.stream = nil
    }

    func streamConnected(_ stream: TCPStream) {
        self.swarm.tally.opened += 1
        stream.startReading()
        guard let handshake else { return self.open() }
        self.write(SharedBytes(handshake.request))
    }

    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        for answer in self.reader.read(&bytes) {
            switch answer {
            // The status 101 completes a handshake. An attack that writes the handshake itself could send from the
            // beginning, so nothing changes for it.
            case .status(101): if self.handshake != nil { self.open() }
            case .status(let status): self.abort("HTTP \(status)")
            case .close(let code): self.abort("close \(code)")
            case .malformed: self.abort("malformed")
            case .text(let text): self.receive(text)
            }
        }
    }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        if !self.isEndCounted {
            // A lack of ports or descriptors on this machine is not an answer of the gateway.
            let isLocalFailure = error == .outOfResources || error == .addressInUse || error == .addressInvalid
            self.swarm.tally.count(isLocalFailure ? "not connected: \(error)" : "cut off")
        }
        (self.isOpen, self.stream) = (false, nil)
        self.swarm.connectionEnded(self)
    }

    private func open() {
        self.isOpen = true
        self.send(self.client.opened())
    }

    /// Counts the reason for which the gateway ends the connection, and aborts the connection.
    private func abort(_ reason: String) {
        if !self.isEndCounted { self.swarm.tally.count(reason) }
        self.isEndCounted = true
        self.isOpen = false
        // The connection is aborted at once. Otherwise the gateway would decide how long it stays open.
        self.stream?.abort()
    }

    private func receive(_ text: [UInt8]) {
        // Frames other than replies, such as feed items, are not counted.
        guard text.starts(with: Self.replyPrefix), let frame = try? Wire.decode(ServerFrame.self, from: text),
            case .reply(_, let outcome) = frame
        else { return }
        switch outcome {
        case .success: self.swarm.tally.accepted += 1
        case .failure(let error): self.swarm.tally.count(error.code.name)
        }
        self.send(self.client.replied(outcome))
    }

    private func send(_ actions: [AttackAction]) {
        for action in actions {
            switch action {
            case .raw(let bytes): self.write(SharedBytes(bytes))
            case .text(let text): self.writeFrame(.text, Array(text.utf8))
            case .ping: self.writeFrame(.ping, [])
            case .stopReading: self.stream?.pauseReading()
            }
        }
    }

    private func writeFrame(_ opcode: Opcode, _ payload: [UInt8]) {
        let mask = Mask(random: UInt32(truncatingIfNeeded: self.random.next()))
        self.write(FrameEncoder.maskedFrame(opcode, payload.span, mask: mask))
    }

    private func write(_ bytes: SharedBytes) {
        // The stream accepts no bytes if too many wait because the gateway reads slowly, or if the connection is
        // closed. Bytes that were not accepted are not counted.
        guard let stream, (try? stream.write(bytes)) != nil else { return }
        self.swarm.tally.writes += 1
        self.swarm.tally.bytes += bytes.count
    }

    private static let slowReceiveBufferBytes: Int32 = 8 << 10
    private static let replyPrefix = Array(#"{"reply""#.utf8)
}
