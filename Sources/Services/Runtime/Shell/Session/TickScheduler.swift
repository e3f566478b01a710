// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when the owner of an inbox partition writes ticks into the partition.
///
/// A tick is an empty record; the time that the broker gives the tick advances the machine's time. A tick is written as
/// soon as a row of the machine's state is due, and every second while a row has a due time. Ticks must not accumulate
/// at a slow or unreachable broker: while no record has been read since the last tick, the next tick is written only
/// after a second.
///
/// The monotonic clock is only used for waiting. Machines use the broker's time.
package struct TickScheduler: Sendable {
    /// The longest pause between ticks while a row has a due time.
    package static let maxInterval = Milliseconds(1000)
    /// The shortest pause between ticks.
    ///
    /// If the estimate of the broker's time is ahead of the broker's time, a tick is written too early and repeated.
    package static let minInterval = Milliseconds(20)

    /// The broker's latest time, and the local time at which it was read.
    private var lastObserved: (broker: Timestamp, local: MonotonicTime)?
    private var lastTickAt = MonotonicTime.distantPast
    /// Whether a tick was written, and no record was read since.
    package private(set) var isTickUnread = false

    package init() {}

    /// Records the broker's time from a record that was read.
    package mutating func brokerTimeObserved(_ brokerTime: Timestamp, at now: MonotonicTime) {
        self.lastObserved = (brokerTime, now)
        self.isTickUnread = false
    }

    /// Records that a tick was written.
    package mutating func tickWritten(at now: MonotonicTime) {
        self.lastTickAt = now
        self.isTickUnread = true
    }

    /// Returns when to write the next tick.
    ///
    /// - Parameter due: when the next row is due; nil if no row has a due time.
    /// - Returns: the time; nil if no row has a due time.
    package func nextTick(due: Timestamp?) -> MonotonicTime? {
        guard let due else { return nil }
        // Without a broker's time, or while the last tick is unread, one tick a second is enough.
        guard let observed = self.lastObserved, !self.isTickUnread else { return self.lastTickAt + Self.maxInterval }
        // Both times are rounded down to milliseconds, so one millisecond is added.
        let estimatedDue = observed.local + Milliseconds(max(0, (due - observed.broker).count) + 1)
        return max(min(estimatedDue, self.lastTickAt + Self.maxInterval), self.lastTickAt + Self.minInterval)
    }
}
