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
    /// The number of shares of the connections that were closed so far; each sweep closes one share.
    private var shareCount = 0

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

    /// Closes the next share of connections, if the shutdown has begun; called at each sweep.
    func continueIfDraining() {
        if self.isDraining { self.closeShare() }
    }

    /// Closes a share of the open connections, so that the reconnects are spread over the first half of the drain time.
    ///
    /// Stops the loop when all connections have closed, or when the drain time is over.
    private func closeShare() {
        self.shareCount += 1
        let maxShares = max(1, Int(self.shard.gateway.settings.drain.count) / 2 / Int(Shard.sweepInterval.count))
        let openConnections = self.shard.group.connections.filter { $0.state == .open }
        // The number of connections to close now: an equal part for each share that is left, this one included.
        let closeCount =
            self.shareCount >= maxShares
            ? openConnections.count : openConnections.count / (maxShares - self.shareCount + 1)
        for connection in openConnections.prefix(closeCount) {
            if let client = connection.context as? Client {
                self.shard.disconnect(client, .draining)
            } else {
                connection.close(
                    CloseCode(rawValue: DisconnectCode.draining.code), reason: DisconnectCode.draining.reason)
            }
        }
        // The drain time has two halves of `maxShares` sweeps each. In the second half no share is left to close; the
        // loop only waits for closing connections.
        if self.shareCount >= 2 * maxShares - 1 || self.shard.group.count == 0 {
            self.shard.httpCalls.failAll()
            self.shard.loop.stop()
        }
    }
}
