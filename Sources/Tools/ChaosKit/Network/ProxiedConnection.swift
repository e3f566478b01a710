// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import MachineKit

/// One connection through a proxy: a stream from the client, and a stream to the server.
///
/// It is used only on the proxy's loop. The protocols of the clients need no half-closed connections. So when one
/// stream ends, the other stream ends too, as soon as the bytes in transit to the other stream are delivered.
final class ProxiedConnection: TCPStreamDelegate {
    private let loop: EventLoop
    /// The port of the server on 127.0.0.1.
    private let port: UInt16
    private let client: TCPStream
    /// The stream to the server; nil until the first call of `apply` whose interruption allows new connections.
    private var server: TCPStream?
    /// Whether the stream to the server is connected.
    private var isConnected = false
    private let toServer = DirectionState()
    private let toClient = DirectionState()
    private var interruption = Interruption.none
    private let onEnd: (ProxiedConnection) -> Void

    /// What the proxy forwards from one side to the other.
    private enum Delivery {
        case bytes(SharedBytes)
        /// The sender's stream has ended.
        case end
    }

    /// The bytes in transit in one direction, from a sender to a receiver.
    private final class DirectionState {
        /// The delayed deliveries in order, with the loop's time at which they are due.
        var queue: [(due: MonotonicTime, delivery: Delivery)] = []
        /// Fires when the first delivery of the queue is due.
        var timer: LoopTimer?
        /// Whether the receiver has too many pending bytes, so that the proxy does not read from the sender.
        var isFull = false
        /// Whether the sender's stream has ended.
        var hasEnded = false
    }

    /// When more than this number of bytes (1 MiB) wait for a receiver, the proxy stops reading from the sender.
    private static let highWaterMarkBytes = 1 << 20
    /// The number of pending bytes (128 MiB) at which a stream ends.
    ///
    /// It is far above the high-water mark, so that delayed bytes that are delivered together never reach it.
    private static let pendingLimitBytes = 128 * ProxiedConnection.highWaterMarkBytes

    /// Takes over an accepted stream.
    ///
    /// The first call of `apply` whose interruption allows new connections connects to the server.
    init(
        loop: EventLoop, client: TCPStream, port: UInt16, onEnd: @escaping (ProxiedConnection) -> Void
    ) {
        self.loop = loop
        self.client = client
        self.port = port
        self.onEnd = onEnd
        client.delegate = self
        client.pendingLimitBytes = Self.pendingLimitBytes
    }

    /// Applies an interruption, or its end, to the connection.
    func apply(_ interruption: Interruption) {
        self.interruption = interruption
        if interruption == .cut { return self.close() }
        if self.server == nil, interruption.allowsNewConnections { self.connect() }
        self.updateReading()
    }

    /// Ends both streams; the bytes in transit are lost.
    func close() {
        self.toServer.timer?.close()
        self.toClient.timer?.close()
        self.client.close()
        self.server?.close()
        self.onEnd(self)
    }

    private func state(of direction: Direction) -> DirectionState {
        direction == .toServer ? self.toServer : self.toClient
    }

    private func connect() {
        do throws(LoopError) {
            let server = try TCPStream.connect(loop: self.loop, host: "127.0.0.1", port: self.port, delegate: self)
            server.pendingLimitBytes = Self.pendingLimitBytes
            self.server = server
        } catch {
            self.close()
        }
    }

    /// Reads from each side unless the interruption stops its direction, or too many bytes wait for the other side.
    private func updateReading() {
        guard self.isConnected, let server = self.server else { return }
        for (stream, direction) in [(self.client, Direction.toServer), (server, .toClient)] {
            if self.interruption.forwards(direction), !self.state(of: direction).isFull {
                stream.startReading()
            } else {
                stream.pauseReading()
            }
        }
    }

    // MARK: Events

    func streamConnected(_ stream: TCPStream) {
        self.isConnected = true
        self.updateReading()
    }

    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        self.forward(.bytes(SharedBytes(bytes.span)), stream === self.client ? .toServer : .toClient)
    }

    func streamDrained(_ stream: TCPStream) {
        if stream === self.client { self.toClient.isFull = false } else { self.toServer.isFull = false }
        self.updateReading()
    }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        let direction: Direction = stream === self.client ? .toServer : .toClient
        self.state(of: direction).hasEnded = true
        // If both sides have ended, nobody is left to receive anything. If one side ended before the server was
        // connected, nothing was read that could be forwarded.
        let haveBothEnded = self.toServer.hasEnded && self.toClient.hasEnded
        if haveBothEnded || !self.isConnected { return self.close() }
        self.forward(.end, direction)
    }

    // MARK: One direction

    /// Delivers bytes or the end of a stream at once, or queues them if there is a delay or earlier deliveries wait.
    private func forward(_ delivery: Delivery, _ direction: Direction) {
        let delay = self.interruption.delay
        let state = self.state(of: direction)
        let isFirst = state.queue.isEmpty
        if delay == Milliseconds(0), isFirst { return self.deliver(delivery, direction) }
        state.queue.append((due: self.loop.now + delay, delivery: delivery))
        if isFirst { self.startTimer(for: direction) }
    }

    /// Starts the timer for the first delivery of the queue, if there is one.
    private func startTimer(for direction: Direction) {
        let state = self.state(of: direction)
        guard let first = state.queue.first else { return }
        let timer: LoopTimer
        if let existing = state.timer {
            timer = existing
        } else {
            guard
                let newTimer = try? LoopTimer(loop: self.loop, { [weak self] _ in self?.deliverDue(direction) })
            else { return self.close() }
            timer = newTimer
            state.timer = newTimer
        }
        timer.start(after: .milliseconds(max(0, (first.due - self.loop.now).count)))
    }

    /// Delivers everything in the queue that is due.
    private func deliverDue(_ direction: Direction) {
        let now = self.loop.now
        let state = self.state(of: direction)
        while let first = state.queue.first, first.due <= now {
            state.queue.removeFirst()
            self.deliver(first.delivery, direction)
        }
        self.startTimer(for: direction)
    }

    private func deliver(_ delivery: Delivery, _ direction: Direction) {
        guard let receiver = direction == .toServer ? self.server : self.client else { return }
        guard case .bytes(let bytes) = delivery else {
            // The sender has ended, so bytes from the receiver reach nobody any more. The proxy still reads from the
            // receiver, even if reading was paused, in order to notice the receiver's end.
            receiver.finish()
            return receiver.startReading()
        }
        do throws(LoopError) {
            let areAllBytesAccepted = try receiver.write(bytes)
            if areAllBytesAccepted { return }
        } catch {
            // The receiver has ended; `streamEnded` is called for it.
            return
        }
        guard receiver.pendingBytes > Self.highWaterMarkBytes else { return }
        self.state(of: direction).isFull = true
        self.updateReading()
    }
}
