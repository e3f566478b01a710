// SPDX-License-Identifier: Apache-2.0
internal import ClientAddress
package import EventLoop

/// The WebSocket connections of one event loop that share limits and timeouts.
///
/// No connection has a timer of its own. Instead the group runs a sweep a few times a second: it finds the connections
/// whose handshake, pong or close is overdue, and the connections whose peers do not read.
package final class WebSocketGroup {
    /// The loop of all connections.
    package let loop: EventLoop
    /// The limits and timeouts of all connections.
    package let configuration: WebSocketConfiguration
    /// The timeouts that a sweep checks, in milliseconds.
    let sweepTimes: SweepTimes
    /// All connections, from the beginning of their TCP connection to its end, in no particular order.
    package private(set) var connections: [WebSocketConnection] = []
    /// The encoded ping that all connections of a server share.
    let ping: SharedBytes
    /// The source of random bits for masks and keys.
    let randomBits: () -> UInt64
    /// The number of bytes of unfinished messages that all connections buffer together.
    var unfinishedBytes = 0
    /// The number of connections that an admission rejected and that are still open.
    var rejectedCount = 0
    private var timer: LoopTimer?
    /// The connections below this index are still to be checked in the current interval.
    private var sweepPosition = 0

    /// Makes an empty group.
    ///
    /// - Parameters:
    ///   - loop: The loop of all connections.
    ///   - configuration: The limits and timeouts of all connections.
    ///   - randomBits: Returns 64 random bits for masks and keys; outside of tests they must be unpredictable.
    package init(
        loop: EventLoop, configuration: WebSocketConfiguration = WebSocketConfiguration(),
        randomBits: @escaping () -> UInt64 = { SystemRandomNumberGenerator.bits() }
    ) {
        self.loop = loop
        self.configuration = configuration
        self.sweepTimes = SweepTimes(configuration)
        self.randomBits = randomBits
        loop.outputBudget.limitBytes = min(loop.outputBudget.limitBytes, configuration.maxQueuedBytes)
        self.ping = FrameEncoder.frame(.ping, Span())
    }

    /// The number of connections, including those that are in their handshake or are closing.
    package var count: Int { self.connections.count }

    /// Begins to check the timeouts of each connection once per `interval`.
    ///
    /// A sweep of many connections would block the loop for long. Therefore each quarter of the interval checks the
    /// timeouts of a quarter of the connections. Each quarter also checks the memory of all queues.
    package func startSweeping(every interval: Duration = .seconds(1)) throws(LoopError) {
        self.timer?.close()
        let timer = try LoopTimer(loop: self.loop) { [weak self] _ in
            guard let self else { return }
            // A quarter of the connections, rounded up.
            self.sweep(next: (self.count + 3) / 4)
        }
        let quarter = max(.milliseconds(1), interval / 4)
        timer.start(after: quarter, repeating: quarter)
        self.timer = timer
    }

    /// Stops the timer of `startSweeping`, so that the loop can end by itself.
    package func stopSweeping() {
        self.timer?.close()
        self.timer = nil
    }

    /// Checks the queues of all connections, and the timeouts of the next `count` of them.
    func sweep(next count: Int) {
        self.endLargestQueues()
        let now = self.loop.now
        // A connection may end during its check; the last connection of the array then takes its index. The sweep goes
        // from the last index to the first, so it has already checked that connection.
        if self.sweepPosition <= 0 { self.sweepPosition = self.connections.count }
        let end = max(0, self.sweepPosition - count)
        while self.sweepPosition > end {
            self.sweepPosition -= 1
            if self.sweepPosition < self.connections.count { self.connections[self.sweepPosition].sweep(at: now) }
        }
    }

    func add(_ connection: WebSocketConnection) {
        connection.groupIndex = self.connections.count
        self.connections.append(connection)
    }

    func remove(_ connection: WebSocketConnection) {
        let index = connection.groupIndex
        guard index >= 0, index < self.connections.count, self.connections[index] === connection else { return }
        connection.groupIndex = -1
        self.unfinishedBytes -= connection.unfinishedBytes
        connection.removedFromGroup()
        let last = self.connections.removeLast()
        if last !== connection {
            self.connections[index] = last
            last.groupIndex = index
        }
    }

    /// Ends connections of the client addresses with the largest queues, if all queues together exceed their limit.
    ///
    /// Many clients can share an address, so one address may have many queues without any fault. Therefore the queues
    /// of an address are added up only while the limit is exceeded.
    private func endLargestQueues() {
        let excessBytes = self.loop.outputBudget.excessBytes
        if excessBytes == 0 { return }
        let queues = self.connections.map {
            OutputBudget.Queue(bytes: $0.stream?.heldBytes ?? 0, party: $0.clientAddress?.limitKey)
        }
        // The connections leave the group only when their streams have ended, so the indexes stay valid here.
        for index in OutputBudget.largestQueues(queues, freeing: excessBytes) {
            self.connections[index].endSlowReader(.outputLimit)
        }
    }

    /// Ends the input of connections, because the unfinished messages of all connections together exceed their limit.
    ///
    /// `OutputBudget.largestQueues` chooses the connections: it treats their unfinished messages like queues.
    ///
    /// - Parameter current: The connection that is being decoded.
    /// - Returns: Whether `current` is one of the chosen connections; the caller must then end its input.
    func endLargestInput(whileDecoding current: WebSocketConnection) -> Bool {
        let limit = self.configuration.maxUnfinishedBytes
        // More than the excess is freed, because each call of this method examines all connections.
        let excessBytes = self.unfinishedBytes - (limit - limit / 8)
        let holders = self.connections.filter { $0.unfinishedBytes > 0 }
        let queues = holders.map {
            OutputBudget.Queue(bytes: $0.unfinishedBytes, party: $0.clientAddress?.limitKey)
        }
        var endsCurrent = false
        for index in OutputBudget.largestQueues(queues, freeing: excessBytes) {
            if holders[index] === current {
                endsCurrent = true
            } else {
                holders[index].endInput(.unfinishedMessages)
            }
        }
        return endsCurrent
    }
}

extension SystemRandomNumberGenerator {
    /// 64 random bits from the system.
    package static func bits() -> UInt64 {
        var generator = SystemRandomNumberGenerator()
        return generator.next()
    }
}
