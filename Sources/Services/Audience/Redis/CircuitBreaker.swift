// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// The circuit breaker shared by all connections of a process to Redis.
///
/// The connections share one thread, so each request that times out delays all partitions. Therefore, after one
/// time-out, the requests on all connections fail immediately until a pause is over.
package final class CircuitBreaker: Sendable {
    /// When the breaker closes again, in milliseconds of the monotonic clock.
    private let closesAt = Locked<Int64>(.min)
    private let pauseMilliseconds: Int64
    /// Returns the monotonic time in milliseconds.
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - pauseMilliseconds: how long the breaker stays open after the server did not answer.
    ///   - now: returns the monotonic time in milliseconds.
    package init(pauseMilliseconds: Int64 = 1_000, now: @escaping @Sendable () -> Int64) {
        self.pauseMilliseconds = pauseMilliseconds
        self.now = now
    }

    /// Whether connections may send requests now.
    package var isClosed: Bool { self.closesAt.withLock { $0 } <= self.now() }

    /// Opens the breaker for a pause, because the server did not answer.
    package func trip() {
        let pauseEnd = self.now() + self.pauseMilliseconds
        self.closesAt.withLock { $0 = pauseEnd }
    }
}
