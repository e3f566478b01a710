// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

extension Subscribers {
    /// A subscriber that asks for all values and calls closures.
    public final class Sink<Input, Failure: Error>: Subscriber, Cancellable {
        private let lock = NSLock()
        private var onValue: ((Input) -> Void)?
        private var onCompletion: ((Subscribers.Completion<Failure>) -> Void)?
        private var upstream: (any Subscription)?

        /// Makes a subscriber.
        ///
        /// - Parameters:
        ///   - receiveCompletion: Called when the sequence ends, unless the subscription is cancelled before.
        ///   - receiveValue: Called with each value.
        public init(
            receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
            receiveValue: @escaping (Input) -> Void
        ) {
            self.onCompletion = receiveCompletion
            self.onValue = receiveValue
        }

        /// The closure for values; it does nothing once the sequence has ended or is cancelled.
        public var receiveValue: (Input) -> Void { self.lock.withLock { self.onValue } ?? { _ in } }

        /// The closure for the completion; it does nothing once the sequence has ended or is cancelled.
        public var receiveCompletion: (Subscribers.Completion<Failure>) -> Void {
            self.lock.withLock { self.onCompletion } ?? { _ in }
        }

        /// Stores the subscription and requests all values.
        ///
        /// Cancels the subscription instead if there is one already, or if the sequence has ended or was cancelled.
        public func receive(subscription: any Subscription) {
            let isAccepted = self.lock.withLock {
                if self.upstream != nil || self.onValue == nil { return false }
                self.upstream = subscription
                return true
            }
            if isAccepted { subscription.request(.unlimited) } else { subscription.cancel() }
        }

        /// Calls the closure for values.
        ///
        /// - Parameter value: The value.
        /// - Returns: No further demand, because all values were requested at the start.
        public func receive(_ value: Input) -> Subscribers.Demand {
            self.lock.withLock { self.onValue }?(value)
            return .none
        }

        /// Calls the closure for the completion.
        ///
        /// - Parameter completion: Whether the sequence ended normally or with an error.
        public func receive(completion: Subscribers.Completion<Failure>) { self.detach().onCompletion?(completion) }

        /// Ends the subscription.
        ///
        /// After the cancellation no closure is called, and both closures are released.
        public func cancel() { self.detach().upstream?.cancel() }

        /// Clears the closures and the subscription, and returns them for the caller to release outside the lock.
        private func detach() -> (
            onValue: ((Input) -> Void)?, onCompletion: ((Subscribers.Completion<Failure>) -> Void)?,
            upstream: (any Subscription)?
        ) {
            self.lock.withLock {
                defer { (self.onValue, self.onCompletion, self.upstream) = (nil, nil, nil) }
                return (self.onValue, self.onCompletion, self.upstream)
            }
        }
    }
}

extension Publisher {
    /// Asks for all values and calls closures with them.
    ///
    /// - Parameters:
    ///   - receiveCompletion: Called when the sequence ends, unless the subscription is cancelled before.
    ///   - receiveValue: Called with each value.
    /// - Returns: An object that ends the subscription when it is cancelled or released.
    public func sink(
        receiveCompletion: @escaping (Subscribers.Completion<Failure>) -> Void,
        receiveValue: @escaping (Output) -> Void
    ) -> AnyCancellable {
        let sink = Subscribers.Sink(receiveCompletion: receiveCompletion, receiveValue: receiveValue)
        self.subscribe(sink)
        return AnyCancellable(sink)
    }
}

extension Publisher where Failure == Never {
    /// Asks for all values and calls a closure with them.
    ///
    /// - Parameter receiveValue: Called with each value.
    /// - Returns: An object that ends the subscription when it is cancelled or released.
    public func sink(receiveValue: @escaping (Output) -> Void) -> AnyCancellable {
        self.sink(receiveCompletion: { _ in }, receiveValue: receiveValue)
    }
}
#endif
