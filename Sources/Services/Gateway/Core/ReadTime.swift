// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Limits the share of a shard's processor time that its clients' reads use, so that many users who read at once do not
/// delay the feeds (R12.18).
///
/// What a read costs is known only after it was answered. So a read is admitted while any time is left, and a costly
/// read leaves a debt, which further reads must wait for.
package struct ReadTime: Sendable {
    /// The share in percent, from 1 to 100.
    private let percent: Int64
    /// The processor time that is left, in microseconds; negative after a read that used more than was left.
    private var left: Int64
    /// The time up to which `left` has grown.
    private var grownAt: MonotonicTime?

    /// For how long unused time is kept: after a pause the reads may use the share of this time at once.
    private static var window: Milliseconds { Milliseconds(50) }
    private var most: Int64 { Self.window.count * self.gainPerMillisecond }
    /// In microseconds: a share of 1 % is 10 µs of each millisecond.
    private var gainPerMillisecond: Int64 { self.percent * 10 }

    /// Creates a limit of which nothing is used.
    ///
    /// - Parameter percent: The share of one processor core's time; less than 1 counts as 1, more than 100 as 100.
    package init(percent: Int) {
        self.percent = Int64(min(100, max(1, percent)))
        self.left = 0
        self.left = self.most
    }

    /// Decides whether a read may be answered now.
    ///
    /// - Parameter now: The current time.
    /// - Returns: Nil if it may; otherwise how long to wait until one may.
    package mutating func waitingTime(at now: MonotonicTime) -> Milliseconds? {
        if let grownAt, grownAt < now {
            // A gain over a longer time than the window would only be cut off.
            let elapsed = min((now - grownAt).count, Self.longestDebt.count)
            self.left = min(self.most, self.left + elapsed * self.gainPerMillisecond)
        }
        self.grownAt = max(now, self.grownAt ?? now)
        if self.left > 0 { return nil }
        // One more millisecond, because time must be left after the debt is paid back.
        return Milliseconds(-self.left / self.gainPerMillisecond + 1)
    }

    /// Records that a read was answered.
    ///
    /// - Parameter microseconds: The processor time that it used. At most 10 s of waiting follow from one read.
    package mutating func use(microseconds: Int64) {
        let largest = Self.longestDebt.count * self.gainPerMillisecond
        self.left = max(-largest, self.left - min(max(0, microseconds), largest))
    }

    /// How long reads wait at most, however much time one of them used.
    private static var longestDebt: Milliseconds { Milliseconds(10_000) }
}
