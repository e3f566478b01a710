// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// Decides when to connect again: each failed attempt doubles the pause, up to a limit.
///
/// Each pause is shortened by a random part, at most half of it, so that many clients do not reconnect at the same
/// time.
package struct ReconnectPlan: Sendable {
    private let firstPause: Milliseconds
    private let longestPause: Milliseconds
    /// The time from which the next attempt may be made.
    package private(set) var nextAttemptAt = MonotonicTime.distantPast
    /// The number of failed attempts since the last successful one.
    private var failureCount = 0

    /// A plan whose first attempt may be made at once.
    package init(firstPause: Duration, longestPause: Duration) {
        self.firstPause = Milliseconds(firstPause)
        self.longestPause = Milliseconds(longestPause)
    }

    /// Records an attempt that failed at `now`.
    package mutating func recordFailure(at now: MonotonicTime, using generator: inout some RandomNumberGenerator) {
        let maxPause = max(1, self.longestPause.count)
        // The limit of the exponent prevents an overflow; the longest pause is reached long before.
        let exponent = min(self.failureCount, 40)
        let doubledPause = self.firstPause.count.multipliedReportingOverflow(by: 1 << exponent).partialValue
        let pause = max(1, min(maxPause, doubledPause))
        self.failureCount += 1
        self.nextAttemptAt = now + Milliseconds(Int64.random(in: (pause + 1) / 2...pause, using: &generator))
    }

    /// Records a successful attempt: when its connection breaks, the next attempt may be made at once.
    package mutating func recordSuccess() {
        self.failureCount = 0
        self.nextAttemptAt = .distantPast
    }
}
