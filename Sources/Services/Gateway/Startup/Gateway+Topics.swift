// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
package import MachineKit
internal import Observability
package import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Applies records of the public topics, replies and notices. Only the thread of `TableReader` calls the `received`
/// methods.
extension Gateway {
    /// Applies a live's record.
    package func received(_ record: LiveRecord) { self.change { $0.apply(record) } }

    /// Applies a stage's record.
    package func received(_ record: StageRecord) { self.change { $0.apply(record) } }

    /// Applies an app's settings.
    package func received(_ record: AppRecord) { self.change { $0.apply(record) } }

    /// Applies a live's viewer count, and posts it to the shards that have viewers of the live.
    package func received(_ record: CountRecord) {
        guard self.change({ $0.apply(record) }) else { return }
        // A set of shard numbers, one bit for each shard.
        var remainingShards = self.feeds.subscribers(of: record.key)
        while remainingShards != 0 {
            let shard = remainingShards.trailingZeroBitCount
            // Clears the lowest bit.
            remainingShards &= remainingShards - 1
            self.post(shard, [.count(record.key, LiveCount(record))])
        }
    }

    /// Removes a live's record, and makes the shards remove the viewers who are still in the live.
    package func liveRemoved(_ key: LiveKey) {
        self.change { model in
            model.removeLive(key)
            return true
        }
        self.feeds.forget(key)
        self.postToAll(.liveRemoved(key))
    }

    /// Removes a stage's record.
    package func stageRemoved(_ key: LiveKey) {
        self.change { model in
            model.removeStage(key)
            return true
        }
    }

    /// Removes a live's viewer count.
    package func countRemoved(_ key: LiveKey) {
        self.change { model in
            model.removeCount(key)
            return true
        }
    }

    /// Makes the shards assert their members, that is, report all of them again, if presence (the machine that knows
    /// who is in a live) has lost the partition's state (I5, docs/RULES.md).
    package func received(_ record: PresenceEpochRecord) {
        if self.storePresenceEpoch(record) { self.postToAll(.assertMembers(partition: record.partition)) }
    }

    /// Routes a reply to its caller's shard, or buffers it until the tables have the revision that the reply requires.
    package func received(_ reply: Reply) {
        if !self.tables.bufferIfPremature(reply, at: MonotonicClock.now) { self.route(reply) }
    }

    /// Adds a notice, and posts it to all shards unless it was added before.
    package func received(_ notice: Notice, partition: Int, offset: Int64) {
        let id = NoticeID(partition: partition, offset: offset)
        // A notice between gateways, such as a sign-in, is not sent to clients, so it needs no frame.
        let json = notice.content.isForClients ? Wire.encode(ServerFrame.notice(id: id.text, notice)) : []
        let entry = NoticeRing.Entry(id: id, notice: notice, json: json)
        // Before the tables are filled, the gateway has no clients. A stopping gateway still delivers notices, because
        // its clients stay connected until they are drained; so `isReady` is not required here.
        guard self.tables.add(entry, at: MonotonicClock.now), self.areTablesFilled else { return }
        self.postToAll(.notice(entry, frame: FrameEncoder.text(json.span)))
    }

    /// Routes the buffered replies whose deadline has passed.
    ///
    /// - Returns: When to call again; nil if no reply is buffered.
    @discardableResult package func routeOverdueReplies() -> MonotonicTime? {
        for reply in self.tables.removeOverdueReplies(at: MonotonicClock.now) { self.route(reply) }
        return self.tables.nextReplyDeadline
    }

    /// Refreshes the order of lives in lists, and removes expired notices; called every five seconds.
    package func refreshRankingAndPruneNotices() {
        self.tables.refreshRanking(at: MonotonicClock.now)
        self.tables.pruneNotices(at: MonotonicClock.now)
    }

    /// Changes the read model, routes the replies that can be sent after the change, and returns whether it changed.
    @discardableResult private func change(_ body: (inout ReadModel) -> Bool) -> Bool {
        let (hasChanged, replies) = self.tables.change(at: MonotonicClock.now, body)
        for reply in replies { self.route(reply) }
        return hasChanged
    }
}
