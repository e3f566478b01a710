// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// When the owner of a partition writes ticks: each second while anything is due there, and as soon as it is due.
///
/// A tick that has not come back yet is not followed by more than one a second: while the broker is away, or slow, they
/// would pile up before it.
///
/// Pure: what the local clock shows comes in as `monotonic` milliseconds, and serves for waiting alone; the time that
/// machines see is the broker's.
package struct TickPlan: Sendable {
    /// The longest pause between ticks while something waits.
    package static let interval: Int64 = 1000
    /// The shortest, so that a due time which is estimated too early costs little.
    package static let shortest: Int64 = 20

    /// The broker's latest time, and when it was learnt.
    private var known: (broker: Timestamp, monotonic: Int64)?
    private var lastTick: Int64 = .min / 2
    /// Whether nothing was read since the last tick.
    private var isAwaited = false

    package init() {}

    /// A record came with the broker's time.
    package mutating func learned(_ now: Timestamp, monotonic: Int64) {
        self.known = (now, monotonic)
        self.isAwaited = false
    }

    /// A tick was written.
    package mutating func ticked(monotonic: Int64) {
        self.lastTick = monotonic
        self.isAwaited = true
    }

    /// When to write the next tick, or nil while nothing is due.
    package func next(due: Timestamp?) -> Int64? {
        guard let due else { return nil }
        guard let known = self.known, !self.isAwaited else { return self.lastTick + Self.interval }
        let estimated = known.monotonic + max(0, (due - known.broker).count) + 1
        return max(min(estimated, self.lastTick + Self.interval), self.lastTick + Self.shortest)
    }
}
