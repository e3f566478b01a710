// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The subscription of a subscriber to several publishers whose values are merged.
///
/// With unlimited demand, all values of the sources are requested. Otherwise each source is asked for one value at a
/// time, and the value waits here until there is demand for it.
final class MergeInner<Downstream: Subscriber>: Subscription {
    typealias Input = Downstream.Input
    typealias Completion = Subscribers.Completion<Downstream.Failure>

    /// An event of a source, or of the subscriber.
    enum Event {
        case value(Input, source: Int)
        case completion(Completion, source: Int)
        /// The subscriber has asked for more values; the property `demand` has been raised already.
        case demandAdded
    }

    private let lock = NSLock()
    /// Handles the events one after another, whichever threads send them.
    private let delivery = Delivery<Event>()
    /// The subscriber; nil after its cancellation, and after the end of the merged sequence.
    private var downstream: Downstream?
    private var sources: SourceSubscriptions
    /// The values that are not delivered yet, usually because there is no demand for them.
    private var waiting = FIFO<(value: Input, source: Int)>()
    /// How many more values the subscriber has asked for.
    private var demand = Subscribers.Demand.none

    init(_ downstream: Downstream, sourceCount: Int) {
        self.downstream = downstream
        self.sources = SourceSubscriptions(count: sourceCount)
    }

    /// Passes this subscription to the subscriber; if there are no sources, the subscriber then gets the completion.
    func start() {
        self.lock.withLock { self.downstream }?.receive(subscription: self)
        if self.lock.withLock({ self.sources.isEmpty }) { self.detach().downstream?.receive(completion: .finished) }
    }

    /// Stores the subscription to a source, and requests values from it.
    ///
    /// Cancels the subscription instead if the source has one already or has ended, or if the subscriber has cancelled.
    func attach(_ subscription: any Subscription, source: Int) {
        let firstRequest: Subscribers.Demand? = self.lock.withLock {
            if self.downstream == nil || !self.sources.attach(subscription, source: source) { return nil }
            return self.demand == .unlimited ? .unlimited : .max(1)
        }
        if let firstRequest { subscription.request(firstRequest) } else { subscription.cancel() }
    }

    /// Handles an event, now or after the events that another thread is handling.
    func send(_ event: Event) {
        self.delivery.enqueue(event)
        self.delivery.drain(self.deliver)
    }

    func request(_ demand: Subscribers.Demand) {
        if demand == .none { return }
        self.addDemand(demand)
        self.send(.demandAdded)
    }

    func cancel() {
        let detached = self.detach()
        self.delivery.removeAll()
        for upstream in detached.upstreams { upstream.cancel() }
    }

    /// Adds demand of the subscriber; if the total becomes unlimited, all values of the sources are requested.
    private func addDemand(_ demand: Subscribers.Demand) {
        let upstreams: [any Subscription] = self.lock.withLock {
            let wasUnlimited = self.demand == .unlimited
            self.demand += demand
            return !wasUnlimited && self.demand == .unlimited ? self.sources.open : []
        }
        for upstream in upstreams { upstream.request(.unlimited) }
    }

    private func deliver(_ event: Event) {
        switch event {
        case .value(let value, let source):
            self.lock.withLock { if self.downstream != nil { self.waiting.append((value, source)) } }
            self.deliverWaiting()
        case .demandAdded: self.deliverWaiting()
        case .completion(let completion, let source): self.sourceEnded(source, completion)
        }
    }

    private func deliverWaiting() {
        while true {
            let next: (downstream: Downstream, value: Input, source: Int)? = self.lock.withLock {
                guard let downstream = self.downstream, self.demand > .none, let first = self.waiting.popFirst()
                else { return nil }
                self.demand -= 1
                return (downstream, first.value, first.source)
            }
            guard let next else { break }
            let addedDemand = next.downstream.receive(next.value)
            if addedDemand > .none { self.addDemand(addedDemand) }
            // The value was delivered, so the next value of its source is requested, unless all were requested already.
            let upstream = self.lock.withLock { self.demand == .unlimited ? nil : self.sources[next.source] }
            upstream?.request(.max(1))
        }
        self.finishIfDone()
    }

    private func sourceEnded(_ source: Int, _ completion: Completion) {
        let isFirstEnd = self.lock.withLock { self.sources.recordEnd(of: source) }
        if !isFirstEnd { return }
        switch completion {
        case .finished: self.finishIfDone()
        case .failure:
            let detached = self.detach()
            for upstream in detached.upstreams { upstream.cancel() }
            detached.downstream?.receive(completion: completion)
        }
    }

    /// Completes the subscriber when all sources have ended and all their values are delivered.
    private func finishIfDone() {
        let isDone = self.lock.withLock {
            self.downstream != nil && self.waiting.isEmpty && self.sources.haveAllEnded
        }
        if isDone { self.detach().downstream?.receive(completion: .finished) }
    }

    /// Clears the stored objects and returns them, so that the caller releases them after the lock: a deinitializer may
    /// call back.
    private func detach() -> (
        downstream: Downstream?, upstreams: [any Subscription], waiting: FIFO<(value: Input, source: Int)>
    ) {
        self.lock.withLock {
            defer { (self.downstream, self.waiting) = (nil, FIFO()) }
            return (self.downstream, self.sources.takeAll(), self.waiting)
        }
    }
}

/// The subscriber to one of the merged publishers.
final class MergeSource<Downstream: Subscriber>: Subscriber {
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure

    private let merge: MergeInner<Downstream>
    private let index: Int

    init(_ merge: MergeInner<Downstream>, index: Int) {
        self.merge = merge
        self.index = index
    }

    func receive(subscription: any Subscription) { self.merge.attach(subscription, source: self.index) }

    func receive(_ input: Input) -> Subscribers.Demand {
        self.merge.send(.value(input, source: self.index))
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        self.merge.send(.completion(completion, source: self.index))
    }
}
#endif
