// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when the members of a live are reported to presence in heartbeats, which renew the members' leases.
///
/// A lease is the time for which presence counts a member as watching; each heartbeat of the member renews it.
/// Each member is reported once per round. A round consists of steps, and each step reports an equal part of the
/// members, so that a big live causes no burst.
package struct HeartbeatPlan: Hashable, Sendable {
    /// The number of rounds in the duration of a lease, so that a lease does not expire when a few heartbeats are lost.
    private static let roundsPerLease: Int64 = 9
    /// The number of steps in a round.
    package static let stepsPerRound = 20
    /// The largest number of members in one heartbeat record.
    package static let maxMembersPerRecord = 500
    /// The largest number of members who have left one live and are queued to be reported.
    ///
    /// If there are more, the oldest are not reported; presence removes them when their leases expire.
    package static let departedLimit = 10_000

    /// The time between two steps.
    package let stepInterval: Milliseconds

    /// Creates a plan for leases of this duration.
    package init(lease: Milliseconds) {
        // A step takes at least 5 ms, however short the lease is.
        self.stepInterval = Milliseconds(max(5, lease.count / Self.roundsPerLease / Int64(Self.stepsPerRound)))
    }
}

/// The progress of one live's heartbeat round in the array of its members: the members before index `reportedCount`
/// were reported already.
package struct HeartbeatCursor: Hashable, Sendable {
    /// The number of members that were already reported in this round.
    package private(set) var reportedCount = 0
    /// The number of steps by which this live's rounds are shifted, so that small lives do not all send in one step.
    private let phase: Int

    /// Creates a cursor at the start of a round; `seed` determines the live's phase.
    package init(seed: Int) { self.phase = Int(UInt(bitPattern: seed) % UInt(HeartbeatPlan.stepsPerRound)) }

    /// Advances the cursor by one step.
    ///
    /// - Parameters:
    ///   - step: The number of the step, counted over all rounds.
    ///   - memberCount: The number of members in the array.
    /// - Returns: The indices of the members to report in the step.
    package mutating func advance(step: Int, memberCount: Int) -> Range<Int> {
        // From 1 to `stepsPerRound`.
        let stepOfRound = (step + self.phase) % HeartbeatPlan.stepsPerRound + 1
        let start = min(self.reportedCount, memberCount)
        let end = max(start, memberCount * stepOfRound / HeartbeatPlan.stepsPerRound)
        self.reportedCount = stepOfRound == HeartbeatPlan.stepsPerRound ? 0 : end
        return start..<end
    }

    /// Records that a member is removed, and returns the moves that fill its index.
    ///
    /// The array's last member is usually not reported yet. If the last member moved to an index below
    /// `reportedCount`, this round would skip the last member. So if the free index is below `reportedCount`, the
    /// member at `reportedCount - 1`, which was reported already, moves there, and the last member fills that index.
    ///
    /// - Parameters:
    ///   - index: The member's index.
    ///   - last: The last index of the array.
    /// - Returns: The moves in order, each from one index to another. After them the last index is free.
    package mutating func memberRemoved(at index: Int, last: Int) -> [(from: Int, to: Int)] {
        guard index < self.reportedCount else { return index == last ? [] : [(from: last, to: index)] }
        self.reportedCount -= 1
        var moves: [(from: Int, to: Int)] = []
        if self.reportedCount != index { moves.append((from: self.reportedCount, to: index)) }
        if self.reportedCount != last { moves.append((from: last, to: self.reportedCount)) }
        return moves
    }
}
