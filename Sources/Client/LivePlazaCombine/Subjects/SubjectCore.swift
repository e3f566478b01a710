// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The subscribers of a subject; the common part of both kinds of subjects.
///
/// An event is enqueued for all subscribers under the lock, and delivered after it. So all of them see the events of
/// several threads in one order, which is that of the current value too.
final class SubjectCore<Output, Failure: Error> {
    private let lock = NSLock()
    private let keepsCurrentValue: Bool
    private var current: Output?
    private var conduits: [SubjectConduit<Output, Failure>] = []
    private var completion: Subscribers.Completion<Failure>?
    private var upstreams: [any Subscription] = []
    private var wantsUpstreamValues: Bool

    /// - Parameter current: The first value; nil for a subject that keeps none.
    init(current: Output?) {
        self.current = current
        self.keepsCurrentValue = current != nil
        self.wantsUpstreamValues = current != nil
    }

    deinit { for upstream in self.upstreams { upstream.cancel() } }

    var value: Output? { self.lock.withLock { self.current } }

    func attach(_ subscriber: any Subscriber<Output, Failure>) {
        let conduit = SubjectConduit(self, subscriber)
        let completion = self.lock.withLock {
            if self.completion == nil { self.conduits.append(conduit) }
            return self.completion
        }
        guard let completion else { return conduit.start() }
        subscriber.receive(subscription: Subscriptions.empty)
        subscriber.receive(completion: completion)
    }

    func send(_ value: Output) {
        var replaced: Output?
        let conduits: [SubjectConduit<Output, Failure>] = self.lock.withLock {
            if self.completion != nil { return [] }
            if self.keepsCurrentValue {
                replaced = self.current
                self.current = value
            }
            for conduit in self.conduits { conduit.enqueue(.value(value)) }
            return self.conduits
        }
        // The earlier value is released here, without a lock, because its deinitializer may call back.
        _ = replaced
        for conduit in conduits { conduit.drain() }
    }

    func send(completion: Subscribers.Completion<Failure>) {
        var upstreams: [any Subscription] = []
        let conduits: [SubjectConduit<Output, Failure>] = self.lock.withLock {
            if self.completion != nil { return [] }
            self.completion = completion
            for conduit in self.conduits { conduit.enqueue(.completion(completion)) }
            defer { (self.conduits, self.upstreams) = ([], []) }
            upstreams = self.upstreams
            return self.conduits
        }
        for conduit in conduits { conduit.drain() }
        _ = upstreams
    }

    func send(subscription: any Subscription) {
        let wantsValues = self.lock.withLock {
            self.upstreams.append(subscription)
            return self.wantsUpstreamValues
        }
        if wantsValues { subscription.request(.unlimited) }
    }

    func demandArrived(from conduit: SubjectConduit<Output, Failure>, lacksCurrentValue: Bool) {
        let waiting: [any Subscription] = self.lock.withLock {
            if lacksCurrentValue, self.completion == nil, self.keepsCurrentValue, let current = self.current {
                conduit.enqueue(.currentValue(current))
            }
            if self.wantsUpstreamValues { return [] }
            self.wantsUpstreamValues = true
            return self.upstreams
        }
        for upstream in waiting { upstream.request(.unlimited) }
        conduit.drain()
    }

    func remove(_ conduit: SubjectConduit<Output, Failure>) {
        self.lock.withLock { self.conduits.removeAll { $0 === conduit } }
    }
}
#endif
