// SPDX-License-Identifier: Apache-2.0

/// The pauses between attempts that fail in a row: each is twice as long as the one before, up to a limit.
///
/// The pauses have no jitter. If many clients may fail at the same moment, the caller takes a random part of a pause.
package struct ExponentialBackOff: Sendable {
    /// The pause after the first failure.
    private let firstPause: Milliseconds
    private let longestPause: Milliseconds
    /// The number of calls of `nextPause` since the last `reset`.
    private var failureCount = 0

    /// Makes a back-off whose next pause is the first.
    package init(firstPause: Milliseconds, longestPause: Milliseconds) {
        self.firstPause = firstPause
        self.longestPause = longestPause
    }

    /// The pause after an attempt that has failed.
    ///
    /// - Parameter failures: how many attempts had failed in a row before this one; a negative number counts as 0.
    /// - Returns: `min(longestPause, firstPause · 2^failures)`.
    package func pause(afterEarlierFailures failures: Int) -> Milliseconds {
        let doublings = max(failures, 0)
        // The comparison divides the limit, because the product may overflow.
        let isLimited = self.firstPause.count > self.longestPause.count >> doublings
        return isLimited ? self.longestPause : Milliseconds(self.firstPause.count << doublings)
    }

    /// Counts a failure, and returns the pause before the next attempt.
    package mutating func nextPause() -> Milliseconds {
        defer { self.failureCount += 1 }
        return self.pause(afterEarlierFailures: self.failureCount)
    }

    /// Makes the next pause the first again, after a success.
    package mutating func reset() { self.failureCount = 0 }
}
