// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A publisher that forwards the values of another publisher, and hides the type of the other publisher.
public struct AnyPublisher<Output, Failure: Error>: Publisher {
    private let attach: (any Subscriber<Output, Failure>) -> Void

    /// Makes a publisher that hides the type of `publisher`.
    ///
    /// - Parameter publisher: The publisher.
    public init<P: Publisher>(_ publisher: P) where Output == P.Output, Failure == P.Failure {
        // A publisher whose type is erased already needs no second layer.
        if let erased = publisher as? AnyPublisher<Output, Failure> {
            self = erased
        } else {
            self.attach = { $0.attach(to: publisher) }
        }
    }

    /// Attaches a subscriber to the hidden publisher.
    ///
    /// - Parameter subscriber: The subscriber, which gets the values.
    public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
        self.attach(subscriber)
    }
}

extension Subscriber {
    /// Subscribes to a publisher.
    ///
    /// `publisher.subscribe` cannot take an `any Subscriber`, but this method can be called on one.
    fileprivate func attach<P: Publisher>(to publisher: P) where P.Output == Input, P.Failure == Failure {
        publisher.subscribe(self)
    }
}

extension Publisher {
    /// Hides the types of this publisher and its operators.
    ///
    /// - Returns: A publisher of the same values.
    public func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher(self) }
}
#endif
