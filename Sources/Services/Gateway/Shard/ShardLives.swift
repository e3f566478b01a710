// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The lives that have viewers on this shard.
///
/// Adds and removes viewers, and subscribes to the feeds of their lives.
final class ShardLives {
    private unowned let shard: Shard
    private var byKey: [LiveKey: ShardLive] = [:]
    /// All lives, in no particular order.
    private(set) var all: [ShardLive] = []

    init(_ shard: Shard) { self.shard = shard }

    /// Returns the live; nil if this shard does not have it.
    subscript(key: LiveKey) -> ShardLive? { self.byKey[key] }

    /// Returns the live; creates it if this shard does not have it.
    func findOrAdd(_ key: LiveKey) -> ShardLive {
        if let existing = self.byKey[key] { return existing }
        let live = ShardLive(key)
        live.index = self.all.count
        self.byKey[key] = live
        self.all.append(live)
        return live
    }

    /// Adds a viewer to a live.
    func add(_ client: Client, to live: ShardLive) {
        live.add(client)
        self.shard.gateway.metrics.members.add(1)
    }

    /// Removes a viewer from its live.
    ///
    /// The removal of the last viewer ends the subscription.
    func remove(_ client: Client, from live: ShardLive) {
        guard client.live === live else { return }
        live.remove(client)
        self.shard.gateway.metrics.members.add(-1)
        if let backlog = client.backlog {
            self.shard.delivery.viewerLeft(deferredItems: backlog.deferredCount)
            client.backlog = nil
            if case .reading(let number) = backlog.replay { self.shard.replay.cancel(number) }
        }
        if live.viewers.isEmpty { self.lastViewerLeft(live) }
    }

    /// Removes a client from `live`, which has ended; does nothing if the client is no longer in the live.
    func removeAfterEnd(_ client: Client, from live: ShardLive) {
        if client.core.liveEnded(live.key.live) { self.remove(client, from: live) }
    }

    /// Removes the remaining viewers of a live whose record was removed; they have not got the live's last item.
    func removeViewers(ofRemoved key: LiveKey) {
        guard let live = self.byKey[key] else { return }
        for client in live.viewers { self.removeAfterEnd(client, from: live) }
    }

    /// Reports to presence, the machine that knows who is in a live, that a member's session has ended.
    ///
    /// So the member leaves the live immediately, and not when its lease expires (R2.23, docs/RULES.md).
    ///
    /// - Returns: False if the client is not in a live, or if the record could not be written.
    func signOff(_ client: Client) -> Bool {
        guard let live = client.core.live, let ticket = client.core.ticket else { return false }
        let command = AudienceCommand.signOff(session: client.session, user: client.user.userID, ticket: ticket)
        do throws(SinkRejection) {
            let record = TopicRecord(.audience(AudienceInput(client.key(live), command)))
            try self.shard.write(record, token: RecordToken.unreported)
            return true
        } catch {
            return false
        }
    }

    /// Subscribes to a live's feed.
    ///
    /// - Returns: Whether the feed's partition was read up to its end. If not, `partitionLoaded` is posted when that
    ///   happens.
    func subscribe(_ key: LiveKey) -> Bool { self.shard.gateway.feeds.subscribe(key, shard: self.shard.number) }

    /// Ends the subscription to a live's feed if this shard has no viewers of the live, no pending joins, and no
    /// clients that wait for the live's end.
    func unsubscribeIfUnused(_ key: LiveKey) {
        if self.byKey[key]?.viewers.isEmpty ?? true, !self.shard.joins.hasPendingJoin(key),
            !self.shard.missedEnds.isEndAwaited(key)
        {
            self.shard.gateway.feeds.unsubscribe(key, shard: self.shard.number)
        }
    }

    /// Removes a live without viewers.
    func removeUnused(_ live: ShardLive) {
        guard self.byKey[live.key] === live, live.viewers.isEmpty else { return }
        self.byKey[live.key] = nil
        // The last live takes the index of the removed one.
        let last = self.all.removeLast()
        if last !== live {
            self.all[live.index] = last
            last.index = live.index
        }
    }

    /// Ends the subscription of a live without viewers.
    ///
    /// A live with departed members is removed later, when the next heartbeats have reported these members to presence.
    private func lastViewerLeft(_ live: ShardLive) {
        live.clear()
        self.unsubscribeIfUnused(live.key)
        if live.isUnused { self.removeUnused(live) }
    }
}
