// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The repeat of a join whose connection was lost after the reply and before the first frame of the feed.
struct Rejoin: Sendable {
    /// How long after the first sending a join is repeated; the server recognises a repeated call for a minute.
    private static let limit = Milliseconds.seconds(30)

    /// The last join that has succeeded.
    private var join: UnfinishedCall?
    /// Whether `join` was repeated, and the repeated join has not ended yet.
    private(set) var isRepeating = false
    /// Whether the client must reconnect after the reply to its ping, to resume at the feed position of the first join.
    private(set) var resumesAfterPing = false

    /// Remembers a join that has succeeded.
    mutating func joined(by call: UnfinishedCall) { self.join = call }

    /// Whether a call is the repeated join.
    func isRepeat(_ call: UnfinishedCall) -> Bool { self.isRepeating && call.handle == self.join?.handle }

    /// Ends the repeat, because the client has a new connection, or the repeated join has ended.
    ///
    /// - Returns: the handle of the repeated join; nil if there was none.
    mutating func endRepeat() -> Int? {
        defer { (self.isRepeating, self.resumesAfterPing) = (false, false) }
        return self.isRepeating ? self.join?.handle : nil
    }

    /// Begins to repeat the join of a live whose first feed frame has not arrived, if the join is not too long ago.
    ///
    /// - Returns: the call to send.
    mutating func repeatJoin(
        for membership: LiveMembership, until deadline: MonotonicTime, at now: MonotonicTime
    ) -> UnfinishedCall? {
        guard membership.awaitsFirstFrame, let join = self.join, join.live == membership.live,
            let sentAt = join.firstSentAt, now - sentAt < Self.limit
        else { return nil }
        self.isRepeating = true
        return join.repeated(until: deadline)
    }

    /// Whether the client must send a ping now, because the history has begun to arrive.
    ///
    /// The reply to the ping comes after the last frame of the history, and so shows the end of the history.
    mutating func mustPing(_ membership: LiveMembership) -> Bool {
        guard membership.firstFrame == .received, !self.resumesAfterPing else { return false }
        self.resumesAfterPing = true
        return true
    }
}
