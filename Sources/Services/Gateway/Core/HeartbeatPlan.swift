// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when the members of a live are reported to presence in heartbeats.
///
/// Each member is reported once per round. A round consists of steps, and each step reports an equal part of the
/// members, so that a big live causes no burst.
package struct HeartbeatPlan: Hashable, Sendable {
    /// The number of rounds per lease, so that a few lost heartbeats do not expire it.
    private static let roundsPerLease: Int64 = 9
    /// The number of steps in a round.
    package static let stepsPerRound = 20
    /// The largest number of members in one record.
    package static let maxMembersPerRecord = 500
    /// The largest number of departed members of one live that are queued to be reported.
    ///
    /// Above the limit the oldest are dropped; presence removes them when their leases expire.
    package static let departedLimit = 10_000

    /// The time between two steps.
    package let stepInterval: Milliseconds

    /// Creates a plan for leases of this duration.
    package init(lease: Milliseconds) {
        // A step takes at least 5 ms, however short the lease is.
        self.stepInterval = Milliseconds(max(5, lease.count / Self.roundsPerLease / Int64(Self.stepsPerRound)))
    }
}

/// The progress of one live's heartbeat round in the array of its members: the members before index `cursor` were
/// reported already.
package struct HeartbeatCursor: Hashable, Sendable {
    /// The number of members that were already reported in this round.
    package private(set) var cursor = 0
    /// Offsets this live's rounds, so that small lives do not all send in the same step.
    private let phase: Int

    /// Creates a cursor at the start of a round; `seed` determines the live's phase.
    package init(seed: Int) { self.phase = Int(UInt(bitPattern: seed) % UInt(HeartbeatPlan.stepsPerRound)) }

    /// Returns the indices of the members to report in a step, and advances the cursor.
    package mutating func advance(step: Int, members: Int) -> Range<Int> {
        let stepOfRound = (step + self.phase) % HeartbeatPlan.stepsPerRound + 1
        let start = min(self.cursor, members)
        let end = max(start, members * stepOfRound / HeartbeatPlan.stepsPerRound)
        self.cursor = stepOfRound == HeartbeatPlan.stepsPerRound ? 0 : end
        return start..<end
    }

    /// Returns the moves that fill the index of a removed member.
    ///
    /// The array's last member is not reported yet. If it moved to an index before the cursor, this round would skip it. So
    /// a member that was reported already takes the free index, and the last member takes that member's former index.
    ///
    /// - Parameters:
    ///   - index: The member's index.
    ///   - last: The last index of the array.
    /// - Returns: The moves in order, each from one index to another. After them the last index is free.
    package mutating func memberRemoved(at index: Int, last: Int) -> [(from: Int, to: Int)] {
        guard index < self.cursor else { return index == last ? [] : [(from: last, to: index)] }
        self.cursor -= 1
        var moves: [(from: Int, to: Int)] = []
        if self.cursor != index { moves.append((from: self.cursor, to: index)) }
        if self.cursor != last { moves.append((from: last, to: self.cursor)) }
        return moves
    }
}
