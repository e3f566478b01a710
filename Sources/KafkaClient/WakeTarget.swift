// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Synchronization

/// What a waker holds: the queue while the consumer is open, nothing afterwards.
final class WakeTarget: Sendable {
    private let queue: Locked<EventQueue?>
    private let isWoken = Atomic<Bool>(false)

    init(_ queue: EventQueue) { self.queue = Locked(queue) }

    func wake() {
        guard let queue = self.queue.withLock({ $0 }) else { return }
        self.isWoken.store(true, ordering: .releasing)
        queue.wake()
    }

    /// Tells whether somebody woke since the last call.
    func takeWoken() -> Bool { self.isWoken.exchange(false, ordering: .acquiringAndReleasing) }

    func close() { self.queue.withLock { $0 = nil } }
}
