// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// When the members of a live are told of to presence: each once per round, a round nine times per lease, spread evenly
/// over steps so that a big room is no burst.
package struct HeartbeatPlan: Hashable, Sendable {
    /// Steps of a round.
    package static let steps = 20
    /// Members in one record at most.
    package static let chunk = 500
    /// Closed sockets of one live that wait to be told of; beyond, the oldest are not told of, and their leases end by
    /// what was told last.
    package static let departedLimit = 10_000

    /// The length of a step.
    package let step: Milliseconds

    /// A plan for leases of this length.
    package init(lease: Milliseconds) {
        self.step = Milliseconds(max(5, lease.count / 9 / Int64(Self.steps)))
    }
}

/// The walk of one live's heartbeat round through its members, who stand in an array: those before `cursor` had their
/// turn in this round.
package struct BeatWalk: Hashable, Sendable {
    /// How many members had their turn.
    package private(set) var cursor = 0
    /// Shifts this live's rounds, so that not all small lives beat in the same step.
    private let phase: Int

    /// A walk that begins; `seed` spreads lives over the steps.
    package init(seed: Int) { self.phase = Int(UInt(bitPattern: seed) % UInt(HeartbeatPlan.steps)) }

    /// The members whose turn it is in a step of the shard.
    package mutating func turn(step: Int, members: Int) -> Range<Int> {
        let at = (step + self.phase) % HeartbeatPlan.steps + 1
        let start = min(self.cursor, members)
        let end = max(start, members * at / HeartbeatPlan.steps)
        self.cursor = at == HeartbeatPlan.steps ? 0 : end
        return start..<end
    }

    /// A member is taken out: which moves fill its place, so that nobody is left out or told twice in this round.
    ///
    /// - Parameters:
    ///   - index: where the member stood.
    ///   - last: the last index of the array.
    /// - Returns: moves to make in order, each from one index to another; then the last place is free.
    package mutating func removed(at index: Int, last: Int) -> [(from: Int, to: Int)] {
        guard index < self.cursor else { return index == last ? [] : [(from: last, to: index)] }
        self.cursor -= 1
        var moves: [(from: Int, to: Int)] = []
        if self.cursor != index { moves.append((from: self.cursor, to: index)) }
        if self.cursor != last { moves.append((from: last, to: self.cursor)) }
        return moves
    }
}
