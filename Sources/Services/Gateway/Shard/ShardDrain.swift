// SPDX-License-Identifier: Apache-2.0
internal import EventLoop
internal import MachineKit
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Shuts a shard down: asks clients to reconnect to another gateway, closes their connections step by step, and stops
/// the loop.
final class ShardDrain {
    private unowned let shard: Shard
    private(set) var isDraining = false
    private var ticks = 0

    init(_ shard: Shard) { self.shard = shard }

    /// Begins the shutdown: stops listening, and sends a drain frame to each client.
    func begin() {
        if self.isDraining { return }
        self.isDraining = true
        self.shard.stopListening()
        let within = self.shard.gateway.settings.drain.count / 2
        let frame = FrameEncoder.text(Wire.encode(ServerFrame.drain(reconnectWithin: within)).span)
        for connection in self.shard.group.connections { connection.send(frame) }
        self.closeShare()
    }

    /// Closes the next share of connections, if the shutdown has begun; called at each sweep.
    func continueIfDraining() {
        if self.isDraining { self.closeShare() }
    }

    /// Closes a share of the connections, so that the reconnects are spread over time; after the last share, stops the
    /// loop.
    private func closeShare() {
        self.ticks += 1
        let limit = max(1, Int(self.shard.gateway.settings.drain.count) / 2 / Int(Shard.sweepMilliseconds))
        let open = self.shard.group.connections.filter { $0.state == .open }
        let share = self.ticks >= limit ? open.count : open.count / (limit - self.ticks + 1)
        for connection in open.prefix(share) {
            if let client = connection.context as? Client {
                self.shard.disconnect(client, .draining)
            } else {
                connection.close(
                    CloseCode(rawValue: DisconnectCode.draining.code), reason: DisconnectCode.draining.reason)
            }
        }
        if self.ticks >= 2 * limit - 1 || self.shard.group.count == 0 {
            self.shard.httpCalls.failAll()
            self.shard.loop.stop()
        }
    }
}
