// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

extension Subscribers {
    /// A subscriber that asks for all values, and sets a property to each value.
    public final class Assign<Root, Input>: Subscriber, Cancellable {
        /// The sequence cannot fail.
        public typealias Failure = Never

        /// The property that is set.
        public let keyPath: ReferenceWritableKeyPath<Root, Input>

        private let lock = NSLock()
        private var storedObject: Root?
        private var upstream: (any Subscription)?

        /// Makes a subscriber.
        ///
        /// The subscriber retains the object until the sequence ends or is cancelled.
        ///
        /// - Parameters:
        ///   - object: The object whose property is set.
        ///   - keyPath: The property.
        public init(object: Root, keyPath: ReferenceWritableKeyPath<Root, Input>) {
            self.storedObject = object
            self.keyPath = keyPath
        }

        /// The object; nil once the sequence has ended or is cancelled.
        public var object: Root? { self.lock.withLock { self.storedObject } }

        /// Stores the subscription and requests all values.
        ///
        /// Cancels the subscription instead if there is one already, or if the sequence has ended or was cancelled.
        public func receive(subscription: any Subscription) {
            let isAccepted = self.lock.withLock {
                if self.upstream != nil || self.storedObject == nil { return false }
                self.upstream = subscription
                return true
            }
            if isAccepted { subscription.request(.unlimited) } else { subscription.cancel() }
        }

        /// Sets the property.
        ///
        /// - Parameter value: The new value of the property.
        /// - Returns: No further demand, because all values were requested at the start.
        public func receive(_ value: Input) -> Subscribers.Demand {
            self.object?[keyPath: self.keyPath] = value
            return .none
        }

        /// Releases the object.
        public func receive(completion: Subscribers.Completion<Never>) { _ = self.detach() }

        /// Ends the subscription, and releases the object.
        public func cancel() { self.detach().upstream?.cancel() }

        /// Clears the object and the subscription and returns them, so that the caller releases them outside the lock.
        private func detach() -> (object: Root?, upstream: (any Subscription)?) {
            self.lock.withLock {
                defer { (self.storedObject, self.upstream) = (nil, nil) }
                return (self.storedObject, self.upstream)
            }
        }
    }
}

extension Publisher where Failure == Never {
    /// Sets a property to each value.
    ///
    /// - Parameters:
    ///   - keyPath: The property.
    ///   - object: The object whose property is set. It is retained until the subscription ends.
    /// - Returns: An object that ends the subscription when it is cancelled or released.
    public func assign<Root>(to keyPath: ReferenceWritableKeyPath<Root, Output>, on object: Root) -> AnyCancellable {
        let subscriber = Subscribers.Assign(object: object, keyPath: keyPath)
        self.subscribe(subscriber)
        return AnyCancellable(subscriber)
    }
}
#endif
