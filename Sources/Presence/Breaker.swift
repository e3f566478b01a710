// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// Keeps the links of a process from waiting for the same silent server one after the other: they run on one thread, and
/// each wait holds up all partitions.
package final class Breaker: Sendable {
    private let closesAt = Locked<Int64>(.min)
    private let pauseMilliseconds: Int64
    private let now: @Sendable () -> Int64

    /// - Parameters:
    ///   - pauseMilliseconds: how long nobody tries again after a server did not answer.
    ///   - now: monotonic milliseconds.
    package init(pauseMilliseconds: Int64 = 1000, now: @escaping @Sendable () -> Int64) {
        self.pauseMilliseconds = pauseMilliseconds
        self.now = now
    }

    /// Whether a try makes sense now.
    package var isClosed: Bool { self.closesAt.withLock { $0 } <= self.now() }

    /// A server did not answer.
    package func trip() {
        let end = self.now() + self.pauseMilliseconds
        self.closesAt.withLock { $0 = end }
    }
}
