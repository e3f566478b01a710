// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The references of an operator with one source: the target of its values, and the subscription to the source.
///
/// The operator calls `detach` when the sequence ends or is cancelled. Both references are released outside the lock,
/// because a deinitializer may call back.
final class UpstreamLink<Target> {
    private let lock = NSLock()
    private var storedTarget: Target?
    private var upstream: (any Subscription)?

    init(_ target: Target) { self.storedTarget = target }

    /// The object that gets the values; nil after `detach`.
    var target: Target? { self.lock.withLock { self.storedTarget } }

    /// Stores the subscription to the source.
    ///
    /// If there is a subscription already, or after `detach`, the new subscription is cancelled.
    ///
    /// - Returns: The target; nil if the subscription was cancelled.
    func attach(_ subscription: any Subscription) -> Target? {
        let target: Target? = self.lock.withLock {
            if self.upstream != nil { return nil }
            self.upstream = subscription
            return self.storedTarget
        }
        if target == nil { subscription.cancel() }
        return target
    }

    /// Requests values from the source, if there is a subscription.
    func request(_ demand: Subscribers.Demand) { self.lock.withLock { self.upstream }?.request(demand) }

    /// Clears both references, and returns the objects so that the caller releases them outside the lock.
    func detach() -> (target: Target?, upstream: (any Subscription)?) {
        self.lock.withLock {
            defer { (self.storedTarget, self.upstream) = (nil, nil) }
            return (self.storedTarget, self.upstream)
        }
    }
}
#endif
