// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// A publisher into which values are sent from outside.
public protocol Subject<Output, Failure>: AnyObject, Publisher {
    /// Sends a value to all subscribers that have asked for values.
    ///
    /// - Parameter value: The value.
    func send(_ value: Output)

    /// Ends the sequence for all subscribers, present and later.
    ///
    /// - Parameter completion: Whether it ended normally or with an error.
    func send(completion: Subscribers.Completion<Failure>)

    /// Connects the subject to an upstream subscription: the subject requests all values from it.
    ///
    /// The upstream publisher passes its values to the subject by `send(_:)`.
    ///
    /// - Parameter subscription: The subscription to the upstream publisher.
    func send(subscription: any Subscription)
}

extension Subject where Output == Void {
    /// Sends a value without content.
    public func send() { self.send(()) }
}
#endif
