// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

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
#endif
