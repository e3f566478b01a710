// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The state and logic that `CurrentValueSubject` and `PassthroughSubject` share.
///
/// An event is enqueued for all subscribers under the lock, and delivered after the lock is released. Therefore all
/// subscribers receive the events in one order, even if several threads send events. The current value changes in the
/// same order.
final class SubjectCore<Output, Failure: Error> {
    private let lock = NSLock()
    private let keepsCurrentValue: Bool
    /// The latest value; nil if the subject keeps none.
    private var currentValue: Output?
    private var subscriptions: [SubjectSubscription<Output, Failure>] = []
    private var completion: Subscribers.Completion<Failure>?
    /// The subscriptions to the publishers from which the subject gets values.
    private var upstreams: [any Subscription] = []
    /// Whether all values of `upstreams` are requested.
    ///
    /// Always true for a subject that keeps a current value. For other subjects, the first request of a subscriber sets
    /// it.
    private var wantsUpstreamValues: Bool

    /// - Parameter currentValue: The first value; nil for a subject that keeps none.
    init(currentValue: Output?) {
        self.currentValue = currentValue
        self.keepsCurrentValue = currentValue != nil
        self.wantsUpstreamValues = currentValue != nil
    }

    deinit { for upstream in self.upstreams { upstream.cancel() } }

    var value: Output? { self.lock.withLock { self.currentValue } }

    /// Attaches a subscriber to `subject`, the subject to which this core belongs.
    func attach(_ subscriber: any Subscriber<Output, Failure>, of subject: any Subject) {
        let subscription = SubjectSubscription(self, of: subject, subscriber)
        let completion = self.lock.withLock {
            if self.completion == nil { self.subscriptions.append(subscription) }
            return self.completion
        }
        guard let completion else { return subscription.start() }
        subscriber.receive(subscription: Subscriptions.empty)
        subscriber.receive(completion: completion)
    }

    func send(_ value: Output) {
        var replaced: Output?
        let subscriptions: [SubjectSubscription<Output, Failure>] = self.lock.withLock {
            if self.completion != nil { return [] }
            if self.keepsCurrentValue {
                replaced = self.currentValue
                self.currentValue = value
            }
            for subscription in self.subscriptions { subscription.enqueue(.value(value)) }
            return self.subscriptions
        }
        // The replaced value must live until here, outside the lock, because its deinitializer may call this subject.
        withExtendedLifetime(replaced) {}
        for subscription in subscriptions { subscription.drain() }
    }

    func send(completion: Subscribers.Completion<Failure>) {
        var upstreams: [any Subscription] = []
        let subscriptions: [SubjectSubscription<Output, Failure>] = self.lock.withLock {
            if self.completion != nil { return [] }
            self.completion = completion
            for subscription in self.subscriptions { subscription.enqueue(.completion(completion)) }
            defer { (self.subscriptions, self.upstreams) = ([], []) }
            upstreams = self.upstreams
            return self.subscriptions
        }
        for subscription in subscriptions { subscription.drain() }
        // The upstream subscriptions must live until here, outside the lock, because their deinitializers may call
        // this subject.
        withExtendedLifetime(upstreams) {}
    }

    /// Connects the subject to a publisher, whose values the subject is to send.
    ///
    /// `subscription`: the subject's subscription to the publisher.
    func send(subscription: any Subscription) {
        let wantsValues = self.lock.withLock {
            self.upstreams.append(subscription)
            return self.wantsUpstreamValues
        }
        if wantsValues { subscription.request(.unlimited) }
    }

    /// Handles a request of a subscriber: delivers the current value if the subscriber needs it, and requests values
    /// from the upstream subscriptions if this is the first request of all subscribers.
    ///
    /// `needsCurrentValue`: whether the subscriber has not received the current value yet.
    func demandReceived(from subscription: SubjectSubscription<Output, Failure>, needsCurrentValue: Bool) {
        let idleUpstreams: [any Subscription] = self.lock.withLock {
            if needsCurrentValue, self.completion == nil, self.keepsCurrentValue, let value = self.currentValue {
                subscription.enqueue(.currentValue(value))
            }
            if self.wantsUpstreamValues { return [] }
            self.wantsUpstreamValues = true
            return self.upstreams
        }
        for upstream in idleUpstreams { upstream.request(.unlimited) }
        subscription.drain()
    }

    func remove(_ subscription: SubjectSubscription<Output, Failure>) {
        self.lock.withLock { self.subscriptions.removeAll { $0 === subscription } }
    }
}
#endif
