// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when the members of a live are reported to presence in heartbeats.
///
/// Each member is reported once per round, with nine rounds per lease. A round is spread evenly over steps, so that a
/// big live causes no burst.
package struct HeartbeatPlan: Hashable, Sendable {
    /// The number of steps in a round.
    package static let steps = 20
    /// The largest number of members in one record.
    package static let chunk = 500
    /// The largest number of departed members of one live that are queued to be reported.
    ///
    /// Above the limit the oldest are dropped; presence removes them when their leases expire.
    package static let departedLimit = 10_000

    /// The duration of a step.
    package let step: Milliseconds

    /// Creates a plan for leases of this duration.
    package init(lease: Milliseconds) {
        self.step = Milliseconds(max(5, lease.count / 9 / Int64(Self.steps)))
    }
}

/// The position of one live's heartbeat round in the array of its members: members before `cursor` were already
/// reported in this round.
package struct HeartbeatCursor: Hashable, Sendable {
    /// The number of members that were already reported in this round.
    package private(set) var cursor = 0
    /// Offsets this live's rounds, so that small lives do not all send in the same step.
    private let phase: Int

    /// Creates a cursor at the start of a round; `seed` determines the live's phase.
    package init(seed: Int) { self.phase = Int(UInt(bitPattern: seed) % UInt(HeartbeatPlan.steps)) }

    /// Returns the indices of the members to report in a step of the shard, and advances the cursor.
    package mutating func advance(step: Int, members: Int) -> Range<Int> {
        let stepOfRound = (step + self.phase) % HeartbeatPlan.steps + 1
        let start = min(self.cursor, members)
        let end = max(start, members * stepOfRound / HeartbeatPlan.steps)
        self.cursor = stepOfRound == HeartbeatPlan.steps ? 0 : end
        return start..<end
    }

    /// Returns the moves that fill the index of a removed member, such that no member is skipped or reported twice in
    /// this round.
    ///
    /// - Parameters:
    ///   - index: The member's index.
    ///   - last: The last index of the array.
    /// - Returns: The moves in order, each from one index to another; afterwards the last index is free.
    package mutating func removed(at index: Int, last: Int) -> [(from: Int, to: Int)] {
        guard index < self.cursor else { return index == last ? [] : [(from: last, to: index)] }
        self.cursor -= 1
        var moves: [(from: Int, to: Int)] = []
        if self.cursor != index { moves.append((from: self.cursor, to: index)) }
        if self.cursor != last { moves.append((from: last, to: self.cursor)) }
        return moves
    }
}
