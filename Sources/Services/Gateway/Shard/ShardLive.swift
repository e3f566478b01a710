// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel

/// A live that has viewers on this shard, an event loop of the gateway.
///
/// It is accessed only on the loop's thread. A member is a client with a ticket, which presence gave it at its join.
final class ShardLive {
    let key: LiveKey
    let frameEncoder: FeedFrameEncoder
    /// The epoch of the live whose items are delivered.
    ///
    /// When a later live with the same id begins, this object serves it, with the higher epoch.
    var epoch: Int64 = 0
    /// The number of the last item that this shard received; 0 before the first.
    var lastItemNumber: Int64 = 0
    /// The items that are buffered until the next flush.
    var bufferedItems: [EncodedFeedItem] = []
    var flushPlan = FlushPlan()
    /// When `bufferedItems` must be flushed; nil if it is empty.
    var flushAt: MonotonicTime?
    /// Whether the live is in the list of lives to flush at the end of this loop turn.
    var isInDueLives = false
    /// The clients that get the live's feed, in no particular order.
    private(set) var viewers: [Client] = []
    private var heartbeatCursor: HeartbeatCursor
    /// The members whose sockets have closed, until the next heartbeats report them to presence for the last time.
    private var departedMembers: [DepartedMember] = []
    /// The newest viewer count, until it is sent.
    var unsentCount: LiveCount?
    /// When the viewer count was last sent.
    var countSentAt = MonotonicTime.distantPast
    /// The live's index in the shard's list of lives.
    var index = 0

    /// A member whose socket has closed.
    private struct DepartedMember {
        var session: SessionID
        var user: UserID
        var ticket: Ticket
        /// When the last bytes were received from the member.
        var lastReceived: MonotonicTime
    }

    init(_ key: LiveKey) {
        self.key = key
        self.frameEncoder = FeedFrameEncoder(live: key.live)
        self.heartbeatCursor = HeartbeatCursor(seed: key.hashValue)
    }

    /// Whether the live has no viewers, and no departed members to report.
    var isUnused: Bool { self.viewers.isEmpty && self.departedMembers.isEmpty }

    /// Adds a viewer.
    func add(_ client: Client) {
        client.live = self
        client.indexInLive = self.viewers.count
        self.viewers.append(client)
    }

    /// Removes a viewer.
    func remove(_ client: Client) {
        guard client.live === self else { return }
        client.live = nil
        let last = self.viewers.count - 1
        // The cursor decides which viewers move, so that the removed viewer's index is filled, and the current round of
        // heartbeats skips no viewer.
        for (from, to) in self.heartbeatCursor.memberRemoved(at: client.indexInLive, last: last) {
            self.viewers[to] = self.viewers[from]
            self.viewers[to].indexInLive = to
        }
        self.viewers.removeLast()
    }

    /// Adds a member whose socket has closed to the next heartbeats, which report the member for the last time.
    func addDeparted(_ client: Client, _ ticket: Ticket) {
        // Above the limit, the member that departed first is dropped without a report; presence removes it when its
        // lease expires.
        if self.departedMembers.count >= HeartbeatPlan.departedLimit { self.departedMembers.removeFirst() }
        self.departedMembers.append(
            DepartedMember(
                session: client.session, user: client.user.userID, ticket: ticket, lastReceived: client.lastReceived))
    }

    /// Removes the departed members, and returns the heartbeats of one step of a round (`HeartbeatPlan`): one for each
    /// departed member, and one for each viewer with a ticket that this step reports.
    ///
    /// `step` is the number of the step, counted over all rounds.
    func takeHeartbeats(step: Int, at now: MonotonicTime) -> [Heartbeat] {
        var heartbeats: [Heartbeat] = self.departedMembers.map { departed in
            Heartbeat(
                session: departed.session, user: departed.user, ticket: departed.ticket,
                silentFor: max(0, (now - departed.lastReceived).count))
        }
        self.departedMembers = []
        for index in self.heartbeatCursor.advance(step: step, memberCount: self.viewers.count) {
            let client = self.viewers[index]
            guard let ticket = client.core.ticket else { continue }
            heartbeats.append(
                Heartbeat(
                    session: client.session, user: client.user.userID, ticket: ticket,
                    silentFor: max(0, (now - client.lastReceived).count)))
        }
        return heartbeats
    }

    /// Discards what is not sent yet, after the last viewer has left.
    ///
    /// The last item's number is discarded, too, because a live without viewers ignores new items
    /// (`feedItemsReceived`). With the old number, the first item after the next join would look as if the ignored
    /// items had been lost.
    func clear() {
        self.bufferedItems = []
        self.flushAt = nil
        self.lastItemNumber = 0
        self.unsentCount = nil
    }
}
