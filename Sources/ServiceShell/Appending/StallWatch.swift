// SPDX-License-Identifier: Apache-2.0

/// Tells when a shell's thread was held up for so long that its group may have given its partitions away meanwhile.
///
/// Pure: times are monotonic milliseconds. The group waits for a member's heartbeats, which another thread of the same
/// process sends; so a thread that comes round in time was in a process that sent them.
struct StallWatch {
    /// How long a turn may take: the group's patience, less the heartbeats' pace and a bit.
    let limit: Int64
    private var turnAt: Int64 = .max
    private var wasHeldUp = false

    init(limit: Int64) { self.limit = limit }

    /// The thread begins a turn.
    mutating func turns(at now: Int64) {
        self.wasHeldUp = self.isInDoubt(at: now)
        self.turnAt = now
    }

    /// A transaction that began at `began` has shown that the group still counts on this instance.
    mutating func proven(at began: Int64) {
        self.wasHeldUp = false
        self.turnAt = began
    }

    /// Whether the partitions may be another's by now.
    func isInDoubt(at now: Int64) -> Bool {
        self.wasHeldUp || (self.turnAt != .max && now - self.turnAt >= self.limit)
    }
}
