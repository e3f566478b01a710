// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Limits the share of a shard's processor time that its clients' reads use, so that many users who read at once do not
/// delay the feeds (R12.18).
///
/// The cost of a read is known only after the read was answered. So a read is admitted while any time is available. A
/// costly read may leave a debt; further reads wait until the debt is paid back.
package struct ReadTime: Sendable {
    /// The share in percent, from 1 to 100.
    private let percent: Int64
    /// The processor time that reads may use now, in microseconds; negative (a debt) after a read that used more than
    /// was available.
    private var available: Int64
    /// When `available` was last increased for the time that had passed.
    private var lastIncreaseAt: MonotonicTime?

    /// How much unused time is kept: after a pause, reads may use their share of 50 ms at once.
    private static var window: Milliseconds { Milliseconds(50) }
    /// The largest value of `available`.
    private var maxAvailable: Int64 { Self.window.count * self.gainPerMillisecond }
    /// By how many microseconds `available` grows in a millisecond: a share of 1 % is 10 µs of each millisecond.
    private var gainPerMillisecond: Int64 { self.percent * 10 }

    /// Creates a limit of which nothing is used.
    ///
    /// - Parameter percent: The share of one processor core's time; less than 1 counts as 1, more than 100 as 100.
    package init(percent: Int) {
        self.percent = Int64(min(100, max(1, percent)))
        self.available = 0
        self.available = self.maxAvailable
    }

    /// Decides whether a read may be answered now.
    ///
    /// - Parameter now: The current time.
    /// - Returns: Nil if a read may be answered now; otherwise how long to wait until a read may be answered.
    package mutating func waitingTime(at now: MonotonicTime) -> Milliseconds? {
        if let lastIncreaseAt, lastIncreaseAt < now {
            // A longer time counts as `longestDebt`, in which every debt is paid back, so the product cannot overflow.
            let elapsed = min((now - lastIncreaseAt).count, Self.longestDebt.count)
            self.available = min(self.maxAvailable, self.available + elapsed * self.gainPerMillisecond)
        }
        self.lastIncreaseAt = max(now, self.lastIncreaseAt ?? now)
        if self.available > 0 { return nil }
        // One more millisecond, because time must be available after the debt is paid back.
        return Milliseconds(-self.available / self.gainPerMillisecond + 1)
    }

    /// Records that a read was answered.
    ///
    /// - Parameter microseconds: The processor time that the read used.
    package mutating func use(microseconds: Int64) {
        let maxDebt = Self.longestDebt.count * self.gainPerMillisecond
        self.available = max(-maxDebt, self.available - min(max(0, microseconds), maxDebt))
    }

    /// The longest time for which reads wait, however much processor time one read used.
    private static var longestDebt: Milliseconds { Milliseconds(10_000) }
}
