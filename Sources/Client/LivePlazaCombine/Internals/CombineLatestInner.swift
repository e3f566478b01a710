// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The subscription of a subscriber to several publishers whose latest values are combined.
///
/// The subscriber's demand is passed to each source. A value that arrives without demand is stored as the latest value
/// of its source, and appears in the next combination.
final class CombineLatestInner<Downstream: Subscriber>: Subscription {
    typealias Completion = Subscribers.Completion<Downstream.Failure>

    /// An event of a source.
    enum Event {
        /// A source has sent a value; the closure stores it as the latest value of the source.
        case value(storeLatest: () -> Void)
        case completion(Completion, source: Int)
    }

    private let lock = NSLock()
    private let delivery = Delivery<Event>()
    private var downstream: Downstream?
    private var sources: SourceSubscriptions
    /// How many combinations the subscriber still wants.
    private var demand = Subscribers.Demand.none
    /// Returns the combination of the latest values; nil until each source has sent a value.
    private var combine: (() -> Downstream.Input?)?

    init(_ downstream: Downstream, sourceCount: Int) {
        self.downstream = downstream
        self.sources = SourceSubscriptions(count: sourceCount)
    }

    /// Passes this subscription to the subscriber.
    ///
    /// Must be called before any source is attached.
    ///
    /// - Parameter combine: Returns the combination of the latest values; nil until each source has sent a value.
    func start(_ combine: @escaping () -> Downstream.Input?) {
        let downstream = self.lock.withLock {
            self.combine = combine
            return self.downstream
        }
        downstream?.receive(subscription: self)
    }

    /// Stores the subscription to a source, and requests the present demand from it.
    ///
    /// Cancels the subscription instead if the source has one already or has ended, or if the subscriber has cancelled.
    func attach(_ subscription: any Subscription, source: Int) {
        let demand: Subscribers.Demand? = self.lock.withLock {
            if self.downstream == nil || !self.sources.attach(subscription, source: source) { return nil }
            return self.demand
        }
        guard let demand else { return subscription.cancel() }
        if demand > .none { subscription.request(demand) }
    }

    func send(_ event: Event) {
        self.delivery.enqueue(event)
        self.delivery.drain(self.deliver)
    }

    func request(_ demand: Subscribers.Demand) {
        if demand == .none { return }
        let upstreams = self.lock.withLock {
            self.demand += demand
            return self.sources.open
        }
        for upstream in upstreams { upstream.request(demand) }
    }

    func cancel() {
        let detached = self.detach()
        self.delivery.removeAll()
        for upstream in detached.upstreams { upstream.cancel() }
    }

    private func deliver(_ event: Event) {
        switch event {
        case .value(let storeLatest):
            storeLatest()
            self.deliverCombination()
        case .completion(let completion, let source): self.sourceEnded(source, completion)
        }
    }

    private func deliverCombination() {
        guard let value = self.lock.withLock({ self.combine })?() else { return }
        let downstream: Downstream? = self.lock.withLock {
            if self.demand == .none { return nil }
            self.demand -= 1
            return self.downstream
        }
        guard let more = downstream?.receive(value), more > .none else { return }
        self.request(more)
    }

    private func sourceEnded(_ source: Int, _ completion: Completion) {
        let haveAllEnded = self.lock.withLock {
            self.sources.recordEnd(of: source)
            return self.sources.haveAllEnded
        }
        // The combinations continue with the latest value of the finished source, until all have finished or one fails.
        if case .finished = completion, !haveAllEnded { return }
        let detached = self.detach()
        for upstream in detached.upstreams { upstream.cancel() }
        detached.downstream?.receive(completion: completion)
    }

    /// Clears the stored objects and returns them, so that the caller releases them after the lock.
    private func detach() -> (
        downstream: Downstream?, upstreams: [any Subscription], combine: (() -> Downstream.Input?)?
    ) {
        self.lock.withLock {
            defer { (self.downstream, self.combine) = (nil, nil) }
            return (self.downstream, self.sources.takeAll(), self.combine)
        }
    }
}

/// The subscriber to one of the combined publishers.
final class CombineLatestSource<Input, Downstream: Subscriber>: Subscriber {
    typealias Failure = Downstream.Failure

    /// The latest value; nil before the first.
    ///
    /// It is set and read only while events are delivered, so on one thread at a time.
    private(set) var latest: Input?
    private let combination: CombineLatestInner<Downstream>
    private let index: Int

    init(_ combination: CombineLatestInner<Downstream>, index: Int) {
        self.combination = combination
        self.index = index
    }

    func receive(subscription: any Subscription) { self.combination.attach(subscription, source: self.index) }

    func receive(_ input: Input) -> Subscribers.Demand {
        // `.some`, because the value may be an optional itself.
        self.combination.send(.value(storeLatest: { self.latest = .some(input) }))
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        self.combination.send(.completion(completion, source: self.index))
    }
}
#endif
