// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The downstream side of operators that take values without back-pressure and deliver each at another time, or never,
/// such as `debounce`.
///
/// A value for which there is no demand is dropped.
final class TimedOutput<Downstream: Subscriber> {
    /// What is delivered to the subscriber.
    enum Event {
        case value(Downstream.Input)
        case completion(Subscribers.Completion<Downstream.Failure>)
    }

    private let lock = NSLock()
    private let delivery = Delivery<Event>()
    private var downstream: Downstream?
    private var upstream: (any Subscription)?
    private var demand = Subscribers.Demand.none

    init(_ downstream: Downstream) { self.downstream = downstream }

    /// Stores the source's subscription, passes the operator's subscription to the subscriber, and requests all values.
    func start(upstream: any Subscription, as subscription: any Subscription) {
        let downstream: Downstream? = self.lock.withLock {
            if self.upstream != nil { return nil }
            self.upstream = upstream
            return self.downstream
        }
        guard let downstream else { return upstream.cancel() }
        downstream.receive(subscription: subscription)
        // If the subscriber has cancelled meanwhile, there is no upstream any more.
        self.lock.withLock { self.upstream }?.request(.unlimited)
    }

    func request(_ demand: Subscribers.Demand) { self.lock.withLock { self.demand += demand } }

    /// Delivers an event.
    ///
    /// Must be called on the operator's scheduler.
    func send(_ event: Event) {
        self.delivery.enqueue(event)
        self.delivery.drain(self.deliver)
    }

    func cancel() {
        let detached = self.detach()
        self.delivery.removeAll()
        detached.upstream?.cancel()
    }

    private func deliver(_ event: Event) {
        switch event {
        case .completion(let completion): self.detach().downstream?.receive(completion: completion)
        case .value(let value):
            let downstream: Downstream? = self.lock.withLock {
                if self.demand == .none { return nil }
                self.demand -= 1
                return self.downstream
            }
            guard let more = downstream?.receive(value), more > .none else { return }
            self.lock.withLock { self.demand += more }
        }
    }

    /// Clears the stored objects and returns them, so that the caller releases them after the lock.
    private func detach() -> (downstream: Downstream?, upstream: (any Subscription)?) {
        self.lock.withLock {
            defer { (self.downstream, self.upstream) = (nil, nil) }
            return (self.downstream, self.upstream)
        }
    }
}
#endif
