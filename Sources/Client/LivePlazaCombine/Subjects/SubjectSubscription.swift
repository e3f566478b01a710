// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The subscription of one subscriber to a subject.
///
/// As in Combine, the subscription retains the subject until the subscription is cancelled or the subject completes.
final class SubjectSubscription<Output, Failure: Error>: Subscription {
    /// What is delivered to the subscriber.
    enum Event {
        case value(Output)
        /// The subject's current value, for a subscriber that had not received this value when it requested values.
        case currentValue(Output)
        case completion(Subscribers.Completion<Failure>)
    }

    private let lock = NSLock()
    private let delivery = Delivery<Event>()
    private var core: SubjectCore<Output, Failure>?
    private var subject: (any Subject)?
    private var downstream: (any Subscriber<Output, Failure>)?
    private var demand = Subscribers.Demand.none
    /// Whether the subscriber still needs the subject's current value.
    ///
    /// True at first, and after a value was dropped because the subscriber had no demand.
    private var needsCurrentValue = true

    init(
        _ core: SubjectCore<Output, Failure>, of subject: any Subject, _ downstream: any Subscriber<Output, Failure>
    ) {
        self.core = core
        self.subject = subject
        self.downstream = downstream
        // Events of other threads wait until `start` has passed the subscription to the subscriber.
        self.delivery.reserveForCurrentThread()
    }

    /// Passes the subscription to the subscriber, and then delivers the events that the subject sent meanwhile.
    ///
    /// Must be called on the thread that made the subscription.
    func start() {
        self.lock.withLock { self.downstream }?.receive(subscription: self)
        self.delivery.drainAndEndReservation(self.deliver)
    }

    func enqueue(_ event: Event) { self.delivery.enqueue(event) }

    func drain() { self.delivery.drain(self.deliver) }

    func request(_ demand: Subscribers.Demand) {
        if demand == .none { return }
        let (core, needsCurrentValue) = self.lock.withLock {
            self.demand += demand
            return (self.core, self.needsCurrentValue)
        }
        core?.demandReceived(from: self, needsCurrentValue: needsCurrentValue)
    }

    func cancel() {
        let detached = self.detach()
        self.delivery.removeAll()
        detached.core?.remove(self)
        // The subscriber must live until here, outside the lock, because its deinitializer may call this subscription.
        withExtendedLifetime(detached) {}
    }

    /// Clears the references to the core, the subject and the subscriber, and returns the three objects.
    ///
    /// Thus a deinitializer of these objects runs in the caller, when the lock is no longer held.
    private func detach() -> (
        core: SubjectCore<Output, Failure>?, subject: (any Subject)?, downstream: (any Subscriber<Output, Failure>)?
    ) {
        self.lock.withLock {
            defer { (self.core, self.subject, self.downstream) = (nil, nil, nil) }
            return (self.core, self.subject, self.downstream)
        }
    }

    private func deliver(_ event: Event) {
        switch event {
        case .value(let value): self.deliver(value)
        case .currentValue(let value):
            // If the subscriber has received a value since its request, it needs no current value: the received value
            // is the same or newer.
            if self.lock.withLock({ self.needsCurrentValue }) { self.deliver(value) }
        case .completion(let completion): self.detach().downstream?.receive(completion: completion)
        }
    }

    private func deliver(_ value: Output) {
        let downstream: (any Subscriber<Output, Failure>)? = self.lock.withLock {
            self.needsCurrentValue = self.demand == .none
            if self.needsCurrentValue { return nil }
            self.demand -= 1
            return self.downstream
        }
        guard let more = downstream?.receive(value), more > .none else { return }
        self.lock.withLock { self.demand += more }
    }
}
#endif
