// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A publisher of one value and the completion.
public struct Just<Output>: Publisher {
    /// The sequence cannot fail.
    public typealias Failure = Never

    /// The value.
    public let output: Output

    /// Makes a publisher.
    ///
    /// - Parameter output: The value.
    public init(_ output: Output) { self.output = output }

    /// Attaches a subscriber, which receives the value after its first request.
    ///
    /// - Parameter subscriber: The subscriber, which gets the value.
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, S.Failure == Never {
        subscriber.receive(subscription: SequenceSubscription([self.output], subscriber))
    }
}

extension Just: Equatable where Output: Equatable {}
extension Just: Sendable where Output: Sendable {}

/// A publisher without values.
public struct Empty<Output, Failure: Error>: Publisher, Equatable, Sendable {
    /// If true, subscribers get the completion at once; if false, they get nothing at all.
    public let completeImmediately: Bool

    /// Makes a publisher.
    ///
    /// - Parameter completeImmediately: If true, subscribers get the completion at once; if false, nothing at all.
    public init(completeImmediately: Bool = true) { self.completeImmediately = completeImmediately }

    /// Makes a publisher, and states the types that the compiler cannot infer.
    ///
    /// - Parameters:
    ///   - completeImmediately: If true, subscribers get the completion at once; if false, they get nothing at all.
    ///   - outputType: The type of the values; there are none.
    ///   - failureType: The type of the error, which does not occur.
    public init(completeImmediately: Bool = true, outputType: Output.Type, failureType: Failure.Type) {
        self.init(completeImmediately: completeImmediately)
    }

    /// Attaches a subscriber.
    ///
    /// - Parameter subscriber: The subscriber, which gets the completion.
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
        subscriber.receive(subscription: Subscriptions.empty)
        if self.completeImmediately { subscriber.receive(completion: .finished) }
    }
}

/// A publisher of an error.
public struct Fail<Output, Failure: Error>: Publisher {
    /// The error.
    public let error: Failure

    /// Makes a publisher.
    ///
    /// - Parameter error: The error.
    public init(error: Failure) { self.error = error }

    /// Makes a publisher, and states the type of the values, which the compiler cannot infer.
    ///
    /// - Parameters:
    ///   - outputType: The type of the values; there are none.
    ///   - failure: The error.
    public init(outputType: Output.Type, failure: Failure) { self.error = failure }

    /// Attaches a subscriber, which gets the error at once.
    ///
    /// - Parameter subscriber: The subscriber, which gets the error.
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
        subscriber.receive(subscription: Subscriptions.empty)
        subscriber.receive(completion: .failure(self.error))
    }
}
#endif
