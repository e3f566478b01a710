// SPDX-License-Identifier: Apache-2.0

/// When to try to connect again: each failure doubles the pause up to a limit, and chance halves it at most, so that
/// many clients do not come back at the same moment.
package struct ReconnectPlan: Sendable {
    /// The first pause and the longest one, in milliseconds.
    package let pauses: ClosedRange<Int64>
    /// When the next attempt is due.
    package private(set) var due = Int64.min
    private var failures = 0

    /// A plan whose first attempt is due at once.
    package init(pauses: ClosedRange<Int64>) { self.pauses = pauses }

    /// An attempt failed.
    package mutating func failed(at now: Int64, using generator: inout some RandomNumberGenerator) {
        let longest = max(1, self.pauses.upperBound)
        let shift = min(self.failures, 40)
        let pause = max(
            1, min(longest, self.pauses.lowerBound.multipliedReportingOverflow(by: 1 << shift).partialValue))
        self.failures += 1
        self.due = now + Int64.random(in: (pause + 1) / 2...pause, using: &generator)
    }

    /// An attempt succeeded: when this connection breaks, the next attempt is due at once.
    package mutating func succeeded() {
        self.failures = 0
        self.due = .min
    }
}
