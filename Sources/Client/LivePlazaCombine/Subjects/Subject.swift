// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// A publisher into which values are sent from outside.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
    /// Sends a value to all subscribers that have asked for one.
    ///
    /// - Parameter value: The value.
    func send(_ value: Output)

    /// Ends the sequence for all subscribers, present and later.
    ///
    /// - Parameter completion: Whether it ended normally or with an error.
    func send(completion: Subscribers.Completion<Failure>)

    /// Gives the subject a subscription whose values it sends.
    ///
    /// - Parameter subscription: The subscription, from which the subject requests all values.
    func send(subscription: any Subscription)
}

extension Subject where Output == Void {
    /// Sends a value without content.
    public func send() { self.send(()) }
}

/// Passes a publisher's values on to a subject.
final class SubjectSubscriber<Target: Subject>: Subscriber, Subscription {
    private let lock = NSLock()
    private var subject: Target?
    private var upstream: (any Subscription)?

    init(_ subject: Target) { self.subject = subject }

    func receive(subscription: any Subscription) {
        let subject: Target? = self.lock.withLock {
            if self.upstream != nil { return nil }
            self.upstream = subscription
            return self.subject
        }
        guard let subject else { return subscription.cancel() }
        subject.send(subscription: self)
    }

    func receive(_ input: Target.Output) -> Subscribers.Demand {
        self.lock.withLock { self.subject }?.send(input)
        return .none
    }

    func receive(completion: Subscribers.Completion<Target.Failure>) {
        self.detach().subject?.send(completion: completion)
    }

    func request(_ demand: Subscribers.Demand) { self.lock.withLock { self.upstream }?.request(demand) }

    func cancel() { self.detach().upstream?.cancel() }

    /// Clears the subject and the subscription and returns them, so that the caller releases them after the lock.
    private func detach() -> (subject: Target?, upstream: (any Subscription)?) {
        self.lock.withLock {
            defer { (self.subject, self.upstream) = (nil, nil) }
            return (self.subject, self.upstream)
        }
    }
}
#endif
