// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

/// The subscriber and subscription of operators that turn each value into one value or none.
///
/// Demand is passed on unchanged. For each value that is left out, one more value is requested.
final class TransformInner<Input, Downstream: Subscriber>: Subscriber, Subscription {
    typealias Failure = Downstream.Failure

    private let lock = NSLock()
    private var downstream: Downstream?
    private var transform: ((Input) -> Downstream.Input?)?
    private var upstream: (any Subscription)?

    /// - Parameters:
    ///   - downstream: The subscriber, which gets the values.
    ///   - transform: Returns the value to pass on, or nil to leave it out.
    init(_ downstream: Downstream, _ transform: @escaping (Input) -> Downstream.Input?) {
        self.downstream = downstream
        self.transform = transform
    }

    func receive(subscription: any Subscription) {
        let downstream: Downstream? = self.lock.withLock {
            if self.upstream != nil { return nil }
            self.upstream = subscription
            return self.downstream
        }
        guard let downstream else { return subscription.cancel() }
        downstream.receive(subscription: self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        let (downstream, transform) = self.lock.withLock { (self.downstream, self.transform) }
        guard let downstream, let transform else { return .none }
        guard let output = transform(input) else { return .max(1) }
        return downstream.receive(output)
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        self.detach().downstream?.receive(completion: completion)
    }

    func request(_ demand: Subscribers.Demand) { self.lock.withLock { self.upstream }?.request(demand) }

    func cancel() { self.detach().upstream?.cancel() }

    /// Clears the stored objects and returns them, so that the caller releases them after the lock.
    private func detach() -> (
        downstream: Downstream?, transform: ((Input) -> Downstream.Input?)?, upstream: (any Subscription)?
    ) {
        self.lock.withLock {
            defer { (self.downstream, self.transform, self.upstream) = (nil, nil, nil) }
            return (self.downstream, self.transform, self.upstream)
        }
    }
}
#endif
