// SPDX-License-Identifier: Apache-2.0
package import EventLoop

/// The connections of one loop that share their limits, and whose times one timer watches.
///
/// No connection has a timer of its own: `sweep()`, called a few times a second, finds those whose handshake, pong or
/// close is overdue.
package final class WebSocketGroup {
    /// The loop they live on.
    package let loop: EventLoop
    /// Their limits and times.
    package let configuration: WebSocketConfiguration
    /// All connections, from the TCP connection's begin to its end, in no order.
    package private(set) var connections: [WebSocketConnection] = []
    /// An empty ping of a server, shared by all.
    let ping: SharedBytes
    /// Where random bits for masks and keys come from.
    let randomBits: () -> UInt64
    private var timer: LoopTimer?
    private var sweepPosition = 0

    /// Makes an empty group.
    ///
    /// - Parameters:
    ///   - loop: The loop that the connections will live on.
    ///   - configuration: Their limits and times.
    ///   - randomBits: 64 bits for masks and keys; they must be unforeseeable outside of tests.
    package init(
        loop: EventLoop, configuration: WebSocketConfiguration = WebSocketConfiguration(),
        randomBits: @escaping () -> UInt64 = { SystemRandomNumberGenerator.bits() }
    ) {
        self.loop = loop
        self.configuration = configuration
        self.randomBits = randomBits
        self.ping = FrameEncoder.frame(.ping, Span())
    }

    /// How many connections there are, those in their handshake or close included.
    package var count: Int { self.connections.count }

    /// Begins to look after the connections' times: all of them once per `milliseconds`, in four parts so that many
    /// connections are no long pause.
    package func startSweeping(everyMilliseconds milliseconds: UInt64 = 1_000) throws(LoopError) {
        self.timer?.close()
        let timer = try LoopTimer(loop: self.loop) { [weak self] _ in self?.sweepPart() }
        let part = max(1, milliseconds / 4)
        timer.start(afterMilliseconds: part, repeatingMilliseconds: part)
        self.timer = timer
    }

    /// Ends what `startSweeping` began, so that the loop can end by itself.
    package func stopSweeping() {
        self.timer?.close()
        self.timer = nil
    }

    /// Looks after the times of all connections now; for owners with a timer of their own.
    package func sweep() {
        let now = self.loop.nowMilliseconds
        // From the end: a connection that ends at once swaps places with the last one only.
        for index in self.connections.indices.reversed() where index < self.connections.count {
            self.connections[index].sweep(now: now)
        }
    }

    /// Begins to close all connections, for a graceful end.
    package func closeAll(_ code: CloseCode, reason: String = "") {
        for connection in self.connections { connection.close(code, reason: reason) }
    }

    func add(_ connection: WebSocketConnection) {
        connection.groupIndex = self.connections.count
        self.connections.append(connection)
    }

    func remove(_ connection: WebSocketConnection) {
        let index = connection.groupIndex
        guard index >= 0, index < self.connections.count, self.connections[index] === connection else { return }
        connection.groupIndex = -1
        let last = self.connections.removeLast()
        if last !== connection {
            self.connections[index] = last
            last.groupIndex = index
        }
    }

    /// A quarter of the connections, from where the last part ended.
    private func sweepPart() {
        let now = self.loop.nowMilliseconds
        if self.sweepPosition <= 0 { self.sweepPosition = self.connections.count }
        let end = max(0, self.sweepPosition - (self.connections.count + 3) / 4)
        while self.sweepPosition > end {
            self.sweepPosition -= 1
            if self.sweepPosition < self.connections.count { self.connections[self.sweepPosition].sweep(now: now) }
        }
    }
}

extension SystemRandomNumberGenerator {
    /// 64 bits from the system.
    package static func bits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
