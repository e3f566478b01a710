// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A subject that keeps the latest value; a subscriber gets this value first, and then each new value.
///
/// If a value is sent while a subscriber has no demand, the subscriber gets the latest value when it asks again.
/// Threads may use the subject in the same way as a `PassthroughSubject`.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
    private let core: SubjectCore<Output, Failure>

    /// Makes a subject.
    ///
    /// - Parameter value: Its first value.
    public init(_ value: Output) { self.core = SubjectCore(current: .some(value)) }

    /// The latest value.
    ///
    /// A new value is sent to the subscribers. After the completion the value does not change any more.
    public var value: Output {
        get {
            guard let value = self.core.value else { preconditionFailure("a subject with a value has lost it") }
            return value
        }
        set { self.core.send(newValue) }
    }

    /// Attaches a subscriber.
    ///
    /// A subscriber that is attached after the completion gets only the completion.
    ///
    /// - Parameter subscriber: The subscriber, which gets the latest value, and what is sent from now on.
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
        self.core.attach(subscriber, of: self)
    }

    /// Makes a value the latest one, and sends it to all subscribers that have asked for a value.
    ///
    /// - Parameter input: The value.
    public func send(_ input: Output) { self.core.send(input) }

    /// Ends the sequence for all subscribers, present and later.
    ///
    /// A second completion does nothing.
    ///
    /// - Parameter completion: Whether it ended normally or with an error.
    public func send(completion: Subscribers.Completion<Failure>) { self.core.send(completion: completion) }

    /// Sends the values of a subscription.
    ///
    /// - Parameter subscription: The subscription, from which all values are requested.
    public func send(subscription: any Subscription) { self.core.send(subscription: subscription) }
}

/// Unchecked: all state is behind the locks of `SubjectCore` and `SubjectSubscription`.
extension CurrentValueSubject: @unchecked Sendable where Output: Sendable {}
#endif
