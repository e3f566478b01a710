// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// Delivers events to one receiver one after another, in the order of `enqueue`, without holding a lock.
///
/// While a thread is delivering,
/// - another thread leaves its event to that thread and continues, so it never waits for the receiver;
/// - an event that the receiver itself sends (for example a sink sends a value) is delivered at once, before that send
///   returns, as in Combine.
final class Delivery<Event> {
    private let lock = NSLock()
    private var waiting = FIFO<Event>()
    /// The thread that is delivering or has reserved the delivery; nil if there is none.
    private var deliveringThread: ObjectIdentifier?

    private static var currentThread: ObjectIdentifier { ObjectIdentifier(Thread.current) }

    /// Lets only the caller's thread deliver, until `drainAndEndReservation`.
    ///
    /// Thus a receiver can be set up before it gets the events that other threads enqueue in the meantime.
    func reserveForCurrentThread() { self.lock.withLock { self.deliveringThread = Self.currentThread } }

    /// Delivers the events that were enqueued during the reservation, and lets other threads deliver again.
    ///
    /// Must be called on the thread that made the reservation.
    func drainAndEndReservation(_ deliver: (Event) -> Void) { self.drain(endsReservation: true, deliver) }

    /// Adds an event.
    ///
    /// Call `drain` afterwards, when no lock is held.
    func enqueue(_ event: Event) { self.lock.withLock { self.waiting.append(event) } }

    /// Delivers all waiting events, unless another thread is delivering.
    func drain(_ deliver: (Event) -> Void) { self.drain(endsReservation: false, deliver) }

    /// Drops all waiting events.
    func removeAll() {
        let dropped = self.lock.withLock {
            defer { self.waiting = FIFO() }
            return self.waiting
        }
        // The events must live until here, outside the lock, because the deinitializer of a value may call back.
        withExtendedLifetime(dropped) {}
    }

    /// Delivers all waiting events, unless another thread is delivering.
    ///
    /// `endsReservation`: whether this thread, which has reserved the delivery, gives up the reservation afterwards.
    private func drain(endsReservation: Bool, _ deliver: (Event) -> Void) {
        let thread = Self.currentThread
        self.lock.lock()
        if let delivering = self.deliveringThread, delivering != thread {
            self.lock.unlock()
            return
        }
        // A nested call, which the receiver causes during a delivery, leaves the end of the delivery to the outer call.
        let isOutermost = self.deliveringThread == nil
        self.deliveringThread = thread
        while let event = self.waiting.popFirst() {
            self.lock.unlock()
            deliver(event)
            self.lock.lock()
        }
        if isOutermost || endsReservation { self.deliveringThread = nil }
        self.lock.unlock()
    }
}
#endif
