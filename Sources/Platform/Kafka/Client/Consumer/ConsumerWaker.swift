// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Synchronization

/// Makes a consumer's `poll` return.
///
/// It may be used from any thread, and does nothing once the consumer is closed.
package final class ConsumerWaker: Sendable {
    /// The consumer's queue while the consumer is open.
    private let queue: Locked<EventQueue?>
    private let isWoken = Atomic<Bool>(false)

    init(_ queue: EventQueue) { self.queue = Locked(queue) }

    /// Makes a waiting `poll` return at once.
    ///
    /// If no `poll` waits, the next `poll` that would wait returns at once instead.
    package func wakeUp() {
        guard let queue = self.queue.withLock({ $0 }) else { return }
        self.isWoken.store(true, ordering: .releasing)
        queue.wakeUp()
    }

    /// Whether `wakeUp` was called since the last call of this method.
    func takeWakeUp() -> Bool { self.isWoken.exchange(false, ordering: .acquiringAndReleasing) }

    /// Releases the queue.
    func close() { self.queue.withLock { $0 = nil } }
}
