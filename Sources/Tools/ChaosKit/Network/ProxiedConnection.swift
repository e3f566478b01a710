// SPDX-License-Identifier: Apache-2.0
internal import EventLoop

/// One connection through a proxy: a stream from the client, and one to the server.
///
/// It lives on the proxy's loop. A half-closed connection is not needed by the protocols that go through it: when one
/// stream ends, the other ends after the bytes in transit were delivered.
final class ProxiedConnection: TCPStreamDelegate {
    private let loop: EventLoop
    private let port: UInt16
    private let client: TCPStream
    private var server: TCPStream?
    private var isConnected = false
    private var toServer = Lane()
    private var toClient = Lane()
    private var interruption = Interruption.none
    private let onEnd: (ProxiedConnection) -> Void

    /// The bytes of one direction that are on their way.
    private struct Lane {
        /// What arrives later, in order; nil bytes are the end of the stream.
        var queue: [(due: UInt64, bytes: SharedBytes?)] = []
        var timer: LoopTimer?
        /// Whether the receiver has not accepted enough yet.
        var isFull = false
        var hasEnded = false
    }

    /// The number of bytes that a receiver may leave behind before its sender is not read any more.
    private static let window = 1_048_576

    /// Takes an accepted stream; the first `apply` connects it to the server as soon as the network lets it.
    init(
        loop: EventLoop, client: TCPStream, port: UInt16, onEnd: @escaping (ProxiedConnection) -> Void
    ) {
        self.loop = loop
        self.client = client
        self.port = port
        self.onEnd = onEnd
        client.delegate = self
        client.pendingLimitBytes = 128 * Self.window
    }

    /// Applies an interruption, or its end, to the connection.
    func apply(_ interruption: Interruption) {
        self.interruption = interruption
        if interruption == .cut { return self.close() }
        if self.server == nil, interruption.connects { self.connect() }
        self.read()
    }

    /// Ends both streams; the bytes in transit are lost.
    func close() {
        self.toServer.timer?.close()
        self.toClient.timer?.close()
        self.client.close()
        self.server?.close()
        self.onEnd(self)
    }

    private func connect() {
        do throws(LoopError) {
            let server = try TCPStream.connect(loop: self.loop, host: "127.0.0.1", port: self.port, delegate: self)
            server.pendingLimitBytes = 128 * Self.window
            self.server = server
        } catch {
            self.close()
        }
    }

    /// Reads from each side whose bytes may arrive.
    private func read() {
        guard self.isConnected, let server = self.server else { return }
        for (stream, direction) in [(self.client, Direction.toServer), (server, .toClient)] {
            let lane = direction == .toServer ? self.toServer : self.toClient
            if self.interruption.passes(direction), !lane.isFull {
                stream.startReading()
            } else {
                stream.pauseReading()
            }
        }
    }

    // MARK: Events

    func streamConnected(_ stream: TCPStream) {
        self.isConnected = true
        self.read()
    }

    func stream(_ stream: TCPStream, received bytes: inout MutableSpan<UInt8>) {
        self.send(SharedBytes(bytes.span), stream === self.client ? .toServer : .toClient)
    }

    func streamDrained(_ stream: TCPStream) {
        if stream === self.client { self.toClient.isFull = false } else { self.toServer.isFull = false }
        self.read()
    }

    func streamEnded(_ stream: TCPStream, _ error: LoopError) {
        let direction: Direction = stream === self.client ? .toServer : .toClient
        if direction == .toServer { self.toServer.hasEnded = true } else { self.toClient.hasEnded = true }
        if self.toServer.hasEnded, self.toClient.hasEnded || !self.isConnected { return self.close() }
        if self.toClient.hasEnded, !self.isConnected { return self.close() }
        self.send(nil, direction)
    }

    // MARK: A lane

    private func send(_ bytes: SharedBytes?, _ direction: Direction) {
        let delay = self.interruption.delayMilliseconds
        let isIdle = (direction == .toServer ? self.toServer : self.toClient).queue.isEmpty
        if delay == 0, isIdle { return self.deliver(bytes, direction) }
        let entry = (due: self.loop.nowMilliseconds + delay, bytes: bytes)
        if direction == .toServer { self.toServer.queue.append(entry) } else { self.toClient.queue.append(entry) }
        if isIdle { self.wait(direction) }
    }

    /// Starts the timer for the first of the bytes that are on their way.
    private func wait(_ direction: Direction) {
        let lane = direction == .toServer ? self.toServer : self.toClient
        guard let first = lane.queue.first else { return }
        let timer: LoopTimer
        if let existing = lane.timer {
            timer = existing
        } else {
            guard
                let made = try? LoopTimer(loop: self.loop, { [weak self] _ in self?.deliverDue(direction) })
            else { return self.close() }
            timer = made
            if direction == .toServer { self.toServer.timer = made } else { self.toClient.timer = made }
        }
        let now = self.loop.nowMilliseconds
        timer.start(after: .milliseconds(first.due > now ? Int64(first.due - now) : 0))
    }

    private func deliverDue(_ direction: Direction) {
        let now = self.loop.nowMilliseconds
        while true {
            let queue = direction == .toServer ? self.toServer.queue : self.toClient.queue
            guard let first = queue.first, first.due <= now else { break }
            if direction == .toServer { self.toServer.queue.removeFirst() } else { self.toClient.queue.removeFirst() }
            self.deliver(first.bytes, direction)
        }
        self.wait(direction)
    }

    private func deliver(_ bytes: SharedBytes?, _ direction: Direction) {
        guard let target = direction == .toServer ? self.server : self.client else { return }
        guard let bytes else {
            // An end passes even where reading is paused: the peer has nobody left to talk to.
            target.finish()
            return target.startReading()
        }
        do throws(LoopError) {
            if try target.write(bytes) { return }
        } catch {
            // The target has ended, of which `streamEnded` tells.
            return
        }
        guard target.pendingBytes > Self.window else { return }
        if direction == .toServer { self.toServer.isFull = true } else { self.toClient.isFull = true }
        self.read()
    }
}
