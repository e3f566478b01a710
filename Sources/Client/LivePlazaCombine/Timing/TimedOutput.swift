// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// Delivers the values of operators, such as `debounce`, that request all values from their source and deliver each
/// one later or never.
///
/// A value is dropped if there is no demand when it is due.
final class TimedOutput<Downstream: Subscriber> {
    /// What is delivered to the subscriber.
    enum Event {
        case value(Downstream.Input)
        case completion(Subscribers.Completion<Downstream.Failure>)
    }

    private let link: UpstreamLink<Downstream>
    private let lock = NSLock()
    private let delivery = Delivery<Event>()
    private var demand = Subscribers.Demand.none

    init(_ downstream: Downstream) { self.link = UpstreamLink(downstream) }

    /// Stores `upstream`, the subscription to the source; passes `operatorSubscription`, the operator's own one, to the
    /// subscriber; and requests all values.
    func start(upstream: any Subscription, operatorSubscription: any Subscription) {
        guard let downstream = self.link.attach(upstream) else { return }
        downstream.receive(subscription: operatorSubscription)
        // If the subscriber has cancelled meanwhile, there is no upstream any more, and this has no effect.
        self.link.request(.unlimited)
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
        let detached = self.link.detach()
        self.delivery.removeAll()
        detached.upstream?.cancel()
    }

    private func deliver(_ event: Event) {
        switch event {
        case .completion(let completion): self.link.detach().target?.receive(completion: completion)
        case .value(let value):
            guard self.takeDemand(), let more = self.link.target?.receive(value), more > .none else { return }
            self.request(more)
        }
    }

    /// Takes the demand for one value; false if there is none.
    private func takeDemand() -> Bool {
        self.lock.withLock {
            if self.demand == .none { return false }
            self.demand -= 1
            return true
        }
    }
}
#endif
