// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A subject that keeps no value; a subscriber gets the values that are sent while it is subscribed and has demand.
///
/// Values may be sent from several threads at once, and from within a subscriber. Each subscriber is called by one
/// thread at a time. If another thread is delivering, `send` leaves the value to that thread, and returns at once.
public final class PassthroughSubject<Output, Failure: Error>: Subject {
    private let core = SubjectCore<Output, Failure>(currentValue: nil)

    /// Makes a subject without subscribers.
    public init() {}

    /// Attaches a subscriber.
    ///
    /// A subscriber that is attached after the completion gets the completion at once.
    ///
    /// - Parameter subscriber: The subscriber, which gets the values sent from now on.
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
        self.core.attach(subscriber, of: self)
    }

    /// Sends a value to all subscribers that have asked for values.
    ///
    /// After the completion it does nothing.
    ///
    /// - Parameter input: The value.
    public func send(_ input: Output) { self.core.send(input) }

    /// Ends the sequence for all subscribers, present and later.
    ///
    /// A second completion does nothing.
    ///
    /// - Parameter completion: Whether it ended normally or with an error.
    public func send(completion: Subscribers.Completion<Failure>) { self.core.send(completion: completion) }

    /// Connects the subject to an upstream subscription.
    ///
    /// The subject requests all values from it, as soon as any subscriber has asked for values.
    ///
    /// - Parameter subscription: The subscription to the upstream publisher.
    public func send(subscription: any Subscription) { self.core.send(subscription: subscription) }
}

/// Unchecked: all state is behind the locks of `SubjectCore` and `SubjectSubscription`.
extension PassthroughSubject: @unchecked Sendable where Output: Sendable {}
#endif
