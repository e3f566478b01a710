// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Shuts a shard down: asks clients to reconnect to another gateway, closes their connections gradually, and stops the
/// loop.
final class ShardDrain {
    private unowned let shard: Shard
    private(set) var isDraining = false
    /// The number of steps so far: one at the beginning of the shutdown, and one at each sweep.
    private var stepCount = 0

    init(_ shard: Shard) { self.shard = shard }

    /// Begins the shutdown: stops listening, and sends a drain frame to each client.
    func begin() {
        if self.isDraining { return }
        self.isDraining = true
        self.shard.stopListening()
        // The clients reconnect in the first half of the drain time; the second half remains for connections to close.
        let reconnectMilliseconds = self.shard.gateway.settings.drain.count / 2
        let frame = FrameEncoder.text(Wire.encode(ServerFrame.drain(reconnectWithin: reconnectMilliseconds)).span)
        for connection in self.shard.group.connections { connection.send(frame) }
        self.closeShare()
    }

    /// Closes the next share of the connections, if the shutdown has begun; called at each sweep.
    func continueIfDraining() {
        if self.isDraining { self.closeShare() }
    }

    /// Performs one step: closes a share of the open connections, so that the clients' reconnects are spread over the
    /// first half of the drain time.
    ///
    /// Stops the loop when all connections have closed, or when the drain time is over.
    private func closeShare() {
        self.stepCount += 1
        // The number of steps in each half of the drain time.
        let stepsPerHalf = max(1, Int(self.shard.gateway.settings.drain.count) / 2 / Int(Shard.sweepInterval.count))
        let openConnections = self.shard.group.connections.filter { $0.state == .open }
        // The open connections are divided equally among this step and the later steps of the first half. The last step
        // of the first half closes all connections that are left.
        let closeCount =
            self.stepCount >= stepsPerHalf
            ? openConnections.count : openConnections.count / (stepsPerHalf - self.stepCount + 1)
        for connection in openConnections.prefix(closeCount) {
            if let client = connection.context as? Client {
                self.shard.disconnect(client, .draining)
            } else {
                connection.close(
                    CloseCode(rawValue: DisconnectCode.draining.code), reason: DisconnectCode.draining.reason)
            }
        }
        // In the second half, the loop only waits for connections to close. The first step was at the beginning of the
        // drain time, so the loop stops one step earlier than `2 * stepsPerHalf`.
        if self.stepCount >= 2 * stepsPerHalf - 1 || self.shard.group.count == 0 {
            self.shard.httpCalls.failAll()
            self.shard.loop.stop()
        }
    }
}
