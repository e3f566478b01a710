// SPDX-License-Identifier: Apache-2.0
package import EventLoop
internal import MachineKit
internal import WebSocket

/// The group of all clients on one event loop, which share limits and timers.
package final class PlazaConnectionGroup {
    let sockets: WebSocketGroup
    private var timer: LoopTimer?
    /// The connections in no particular order; each stores its index.
    private var connections: [PlazaConnection] = []
    /// The index of the connection that the next tick checks first.
    private var nextIndex = 0
    /// The number of ticks that together check each connection once.
    ///
    /// A tick comes every 10 ms, so a round of ten ticks takes 100 ms, and each connection is checked ten times a
    /// second. If one tick checked thousands of connections, it would delay received frames.
    private static let ticksPerRound = 10
    private static let tickInterval = Duration.milliseconds(10)
    /// The maximum size of a server's message: 4 MiB (PROTOCOL.md, section 12).
    private static let maxMessageBytes = 4 << 20
    /// The time without a received byte after which a WebSocket ping is sent, so that a dead gateway is noticed.
    private static let pingInterval = Duration.seconds(15)

    /// Creates an empty group on `loop`.
    package init(loop: EventLoop) throws(LoopError) {
        var configuration = WebSocketConfiguration()
        configuration.maxMessageBytes = Self.maxMessageBytes
        configuration.pingInterval = Self.pingInterval
        self.sockets = WebSocketGroup(loop: loop, configuration: configuration)
        // From now on the group regularly checks the timeouts of its WebSockets.
        try self.sockets.startSweeping()
        let timer = try LoopTimer(loop: loop) { [weak self] _ in self?.tick() }
        timer.start(after: Self.tickInterval, repeating: Self.tickInterval)
        self.timer = timer
    }

    /// Ends all connections and the timers, so that the loop can end by itself.
    package func stop() {
        for connection in self.connections { connection.stop() }
        self.timer?.close()
        self.timer = nil
        self.sockets.stopSweeping()
    }

    /// The loop's time.
    var now: MonotonicTime { self.sockets.loop.now }

    func add(_ connection: PlazaConnection) {
        connection.groupIndex = self.connections.count
        self.connections.append(connection)
    }

    /// Removes a connection; the last connection of the list takes its index.
    func remove(_ connection: PlazaConnection) {
        guard let index = connection.groupIndex else { return }
        connection.groupIndex = nil
        let last = self.connections.removeLast()
        guard last !== connection else { return }
        self.connections[index] = last
        last.groupIndex = index
    }

    private func tick() {
        for _ in 0..<(self.connections.count / Self.ticksPerRound + 1) {
            // A tick may end connections.
            guard !self.connections.isEmpty else { return }
            if self.nextIndex >= self.connections.count { self.nextIndex = 0 }
            self.connections[self.nextIndex].tick()
            self.nextIndex += 1
        }
    }
}
