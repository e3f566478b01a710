// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// Delivers events to one receiver one after another, in the order of `enqueue`, without holding a lock.
///
/// While a thread is delivering,
/// - another thread leaves its event to that thread and continues, so it never waits for the receiver;
/// - the same thread, if the receiver sends an event (for example a sink sends a value), delivers the event at once. As
///   in Combine, such a nested event arrives before the call that sent it returns.
final class Delivery<Event> {
    private let lock = NSLock()
    private var waiting = FIFO<Event>()
    /// The thread that delivers at present, or has claimed the delivery; nil if there is none.
    private var deliveringThread: ObjectIdentifier?

    private static var currentThread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    /// Makes the caller's thread the one that delivers, until `release`.
    ///
    /// Thus a receiver can be set up before it gets the events that other threads enqueue in the meantime.
    func claim() { self.lock.withLock { self.deliveringThread = Self.currentThread } }

    /// Delivers what has been enqueued since `claim`, and lets other threads deliver again.
    func release(_ deliver: (Event) -> Void) { self.drain(isOutermost: true, deliver) }

    /// Adds an event.
    ///
    /// Call `drain` afterwards, when no lock is held.
    func enqueue(_ event: Event) { self.lock.withLock { self.waiting.append(event) } }

    /// Delivers all waiting events, unless another thread is delivering.
    func drain(_ deliver: (Event) -> Void) { self.drain(isOutermost: false, deliver) }

    /// Drops all waiting events.
    func removeAll() {
        // The events are released after the lock, because the deinitializer of a value may call back.
        let dropped = self.lock.withLock {
            let waiting = self.waiting
            self.waiting = FIFO()
            return waiting
        }
        // This use keeps the events until here.
        _ = dropped.isEmpty
    }

    /// Delivers all waiting events, unless another thread is delivering.
    ///
    /// `isOutermost`: whether other threads may deliver after this call, even if this thread was delivering before it.
    private func drain(isOutermost: Bool, _ deliver: (Event) -> Void) {
        let thread = Self.currentThread
        self.lock.lock()
        if let delivering = self.deliveringThread, delivering != thread {
            self.lock.unlock()
            return
        }
        let isOutermost = isOutermost || self.deliveringThread == nil
        self.deliveringThread = thread
        while let event = self.waiting.popFirst() {
            self.lock.unlock()
            deliver(event)
            self.lock.lock()
        }
        if isOutermost { self.deliveringThread = nil }
        self.lock.unlock()
    }
}
#endif
