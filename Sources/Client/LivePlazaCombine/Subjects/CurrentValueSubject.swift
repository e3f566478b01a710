// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A subject that keeps the latest value as its current value; a subscriber gets it first, and then each new value.
///
/// If a value is sent while a subscriber has no demand, the subscriber gets the current value when it asks again. The
/// subject may be used by several threads, as described for `PassthroughSubject`.
public final class CurrentValueSubject<Output, Failure: Error>: Subject {
    private let core: SubjectCore<Output, Failure>

    /// Makes a subject.
    ///
    /// - Parameter value: Its first value.
    public init(_ value: Output) {
        // `.some`, because the value may be an optional itself, and a nil value is not a missing one.
        self.core = SubjectCore(currentValue: .some(value))
    }

    /// The current value.
    ///
    /// Setting it sends the new value to the subscribers. After the completion, setting it has no effect.
    public var value: Output {
        get {
            guard let value = self.core.value else { preconditionFailure("the subject has no current value") }
            return value
        }
        set { self.core.send(newValue) }
    }

    /// Attaches a subscriber.
    ///
    /// A subscriber that is attached after the completion gets only the completion.
    ///
    /// - Parameter subscriber: The subscriber, which gets the current value, and then the values sent from now on.
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
        self.core.attach(subscriber, of: self)
    }

    /// Makes a value the current one, and sends it to all subscribers that have asked for values.
    ///
    /// - Parameter input: The value.
    public func send(_ input: Output) { self.core.send(input) }

    /// Ends the sequence for all subscribers, present and later.
    ///
    /// A second completion does nothing.
    ///
    /// - Parameter completion: Whether it ended normally or with an error.
    public func send(completion: Subscribers.Completion<Failure>) { self.core.send(completion: completion) }

    /// Connects the subject to an upstream subscription, and requests all values from it at once.
    ///
    /// - Parameter subscription: The subscription to the upstream publisher.
    public func send(subscription: any Subscription) { self.core.send(subscription: subscription) }
}

/// Unchecked: all state is behind the locks of `SubjectCore` and `SubjectSubscription`.
extension CurrentValueSubject: @unchecked Sendable where Output: Sendable {}
#endif
