// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A type that receives values from a publisher.
public protocol Subscriber<Input, Failure>: CustomCombineIdentifierConvertible {
    /// The kind of values received.
    associatedtype Input

    /// The kind of error with which the sequence may end; `Never` if it does not fail.
    associatedtype Failure: Error

    /// Passes the subscription to the subscriber.
    ///
    /// Called once, before any value.
    ///
    /// - Parameter subscription: The subscription, with which the subscriber requests values and cancels. No value
    ///   arrives before a request.
    func receive(subscription: any Subscription)

    /// Delivers a value.
    ///
    /// - Parameter input: The value.
    /// - Returns: How many values the subscriber wants in addition to those for which it has asked already.
    func receive(_ input: Input) -> Subscribers.Demand

    /// Reports the end of the sequence.
    ///
    /// Called at most once; no value follows.
    ///
    /// - Parameter completion: Whether it ended normally or with an error.
    func receive(completion: Subscribers.Completion<Failure>)
}

extension Subscriber where Input == Void {
    /// Delivers a value without content.
    ///
    /// - Returns: How many values the subscriber wants in addition to those for which it has asked already.
    public func receive() -> Subscribers.Demand { self.receive(()) }
}

/// The namespace of types around subscribers.
public enum Subscribers {}

/// The connection of a subscriber to a publisher.
public protocol Subscription: Cancellable, CustomCombineIdentifierConvertible {
    /// Asks for values.
    ///
    /// - Parameter demand: How many values, in addition to those asked for already; `.none` has no effect.
    func request(_ demand: Subscribers.Demand)
}

/// The namespace of ready-made subscriptions.
public enum Subscriptions {
    /// A subscription that delivers nothing.
    ///
    /// A publisher that completes at once passes this subscription to the subscriber before the completion.
    public static var empty: any Subscription { EmptySubscription() }
}

private struct EmptySubscription: Subscription {
    let combineIdentifier = CombineIdentifier()

    func request(_ demand: Subscribers.Demand) {}
    func cancel() {}
}
#endif
