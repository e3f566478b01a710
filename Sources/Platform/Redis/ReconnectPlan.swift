// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when to connect again: each failed attempt doubles the pause, up to a limit.
///
/// Each pause is shortened by a random part, at most half of it, so that many clients do not reconnect at the same
/// time.
package struct ReconnectPlan: Sendable {
    private var backOff: ExponentialBackOff
    /// The time from which the next attempt may be made.
    package private(set) var nextAttemptAt = MonotonicTime.distantPast

    /// A plan whose first attempt may be made at once.
    package init(firstPause: Duration, longestPause: Duration) {
        self.backOff = ExponentialBackOff(
            firstPause: Milliseconds(firstPause), longestPause: Milliseconds(longestPause))
    }

    /// Records an attempt that failed at `now`.
    package mutating func recordFailure(at now: MonotonicTime, using generator: inout some RandomNumberGenerator) {
        let pause = max(1, self.backOff.nextPause().count)
        self.nextAttemptAt = now + Milliseconds(Int64.random(in: (pause + 1) / 2...pause, using: &generator))
    }

    /// Records a successful attempt: when its connection breaks, the next attempt may be made at once.
    package mutating func recordSuccess() {
        self.backOff.reset()
        self.nextAttemptAt = .distantPast
    }
}
