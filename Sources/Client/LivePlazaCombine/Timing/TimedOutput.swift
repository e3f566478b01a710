// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The output side of a timed operator, `debounce` or `throttle`.
///
/// A timed operator requests all values from its source, and delivers each value later or never. When a value is due
/// and the subscriber has no demand, the value is dropped.
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

    /// Connects the source and the subscriber, and requests all values from the source.
    ///
    /// `upstream`: the subscription to the source.
    /// `operatorSubscription`: the subscription that the subscriber gets.
    func start(upstream: any Subscription, operatorSubscription: any Subscription) {
        guard let downstream = self.link.attach(upstream) else { return }
        downstream.receive(subscription: operatorSubscription)
        // This has no effect if the subscriber has cancelled in `receive(subscription:)`.
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
