// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The state and logic that `CurrentValueSubject` and `PassthroughSubject` share.
///
/// An event is enqueued for all subscribers under the lock, and delivered after the lock is released. If several
/// threads send events, all subscribers therefore receive them in the same order, and the current value changes in that
/// order.
final class SubjectCore<Output, Failure: Error> {
    private let lock = NSLock()
    private let keepsCurrentValue: Bool
    private var current: Output?
    private var subscriptions: [SubjectSubscription<Output, Failure>] = []
    private var completion: Subscribers.Completion<Failure>?
    /// The subscriptions whose values the subject sends.
    private var upstreams: [any Subscription] = []
    /// Whether all values of `upstreams` are requested: from the first request of a subscriber on, or always if the
    /// subject keeps a value.
    private var wantsUpstreamValues: Bool

    /// - Parameter current: The first value; nil for a subject that keeps none.
    init(current: Output?) {
        self.current = current
        self.keepsCurrentValue = current != nil
        self.wantsUpstreamValues = current != nil
    }

    deinit { for upstream in self.upstreams { upstream.cancel() } }

    var value: Output? { self.lock.withLock { self.current } }

    /// Attaches a subscriber of `subject`, whose core this is.
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
                replaced = self.current
                self.current = value
            }
            for subscription in self.subscriptions { subscription.enqueue(.value(value)) }
            return self.subscriptions
        }
        // The replaced value is released here, outside the lock, because its deinitializer may call this subject.
        _ = replaced
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
        // The subscriptions are released here, outside the lock, because their deinitializers may call this subject.
        _ = upstreams
    }

    func send(subscription: any Subscription) {
        let wantsValues = self.lock.withLock {
            self.upstreams.append(subscription)
            return self.wantsUpstreamValues
        }
        if wantsValues { subscription.request(.unlimited) }
    }

    /// Handles a request of a subscriber.
    ///
    /// `needsCurrentValue`: whether the subscriber has not received the latest value, because it had no demand for it.
    func demandReceived(from subscription: SubjectSubscription<Output, Failure>, needsCurrentValue: Bool) {
        let idleUpstreams: [any Subscription] = self.lock.withLock {
            if needsCurrentValue, self.completion == nil, self.keepsCurrentValue, let current = self.current {
                subscription.enqueue(.currentValue(current))
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
