// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// Decides when to connect again: each failed attempt doubles the pause, up to a limit.
///
/// A pause is shortened at random by up to a half, so that many clients do not reconnect at the same time.
package struct ReconnectPlan: Sendable {
    private let firstPause: Milliseconds
    private let longestPause: Milliseconds
    /// When the next attempt is due, in milliseconds of the monotonic clock.
    package private(set) var due = Int64.min
    /// The number of failed attempts since the last successful one.
    private var failures = 0

    /// A plan whose first attempt is due at once.
    package init(firstPause: Duration, longestPause: Duration) {
        self.firstPause = Milliseconds(firstPause)
        self.longestPause = Milliseconds(longestPause)
    }

    /// Records an attempt that failed at `now`, in milliseconds of the monotonic clock.
    package mutating func failed(at now: Int64, using generator: inout some RandomNumberGenerator) {
        let maxPause = max(1, self.longestPause.count)
        let shift = min(self.failures, 40)
        let pause = max(
            1, min(maxPause, self.firstPause.count.multipliedReportingOverflow(by: 1 << shift).partialValue))
        self.failures += 1
        self.due = now + Int64.random(in: (pause + 1) / 2...pause, using: &generator)
    }

    /// Records a successful attempt, so that the next attempt is due as soon as this connection breaks.
    package mutating func succeeded() {
        self.failures = 0
        self.due = .min
    }
}
