// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A type that delivers a sequence of values over time, and then at most one completion.
///
/// A publisher delivers only as many values as the subscriber has asked for, and none before the subscriber has asked.
public protocol Publisher<Output, Failure> {
    /// The kind of values delivered.
    associatedtype Output

    /// The kind of error with which the sequence may end; `Never` if it does not fail.
    associatedtype Failure: Error

    /// Attaches a subscriber.
    ///
    /// Do not call this; call `subscribe(_:)`, which calls it.
    ///
    /// - Parameter subscriber: The subscriber, which gets the subscription first, then the values, then the completion.
    func receive<S: Subscriber>(subscriber: S) where Failure == S.Failure, Output == S.Input
}

extension Publisher {
    /// Attaches a subscriber to this publisher.
    ///
    /// - Parameter subscriber: The subscriber, which gets the subscription first, then the values, then the completion.
    public func subscribe<S: Subscriber>(_ subscriber: S) where Failure == S.Failure, Output == S.Input {
        self.receive(subscriber: subscriber)
    }

    /// Sends to a subject everything that this publisher delivers.
    ///
    /// - Parameter subject: The subject, which gets the values and the completion.
    /// - Returns: An object that ends the subscription when it is cancelled or released.
    public func subscribe<S: Subject>(_ subject: S) -> AnyCancellable
    where Failure == S.Failure, Output == S.Output {
        let subscriber = SubjectSubscriber(subject)
        self.receive(subscriber: subscriber)
        return AnyCancellable(subscriber)
    }
}

/// The namespace of the publishers that operators return.
public enum Publishers {}
#endif
