// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import MachineKit

/// The circuit breaker shared by all connections of a process to Redis.
///
/// The connections share one thread, so each request that times out delays all partitions. Therefore, after the server
/// has not answered once, or has denied access, the requests on all connections fail immediately until a pause is over.
package final class CircuitBreaker: Sendable {
    /// When the breaker closes again, so that requests are sent; a past time if the breaker is closed.
    private let closesAt = Locked(MonotonicTime.distantPast)
    private let pause: Milliseconds
    /// Returns the current time.
    private let now: @Sendable () -> MonotonicTime

    /// - Parameters:
    ///   - pause: how long the breaker stays open after the server did not answer.
    ///   - now: returns the current time.
    package init(pause: Duration = .seconds(1), now: @escaping @Sendable () -> MonotonicTime) {
        self.pause = Milliseconds(pause)
        self.now = now
    }

    /// Whether connections may send requests now.
    package var isClosed: Bool { self.closesAt.withLock { $0 } <= self.now() }

    /// Opens the breaker for a pause, because the server did not answer or denied access.
    package func trip() {
        let pauseEnd = self.now() + self.pause
        self.closesAt.withLock { $0 = pauseEnd }
    }
}
