// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// The link between source and subscriber of an operator, such as `map`, that turns each value into one value or none.
///
/// The link subscribes to the source, and is the subscription that the subscriber gets. It passes the subscriber's
/// demand on unchanged. For each value that the operator leaves out, it requests one more value from the source.
final class TransformInner<Input, Downstream: Subscriber>: Subscriber, Subscription {
    typealias Failure = Downstream.Failure

    private struct Target {
        let downstream: Downstream
        let transform: (Input) -> Downstream.Input?
    }

    private let link: UpstreamLink<Target>

    /// - Parameters:
    ///   - downstream: The subscriber, which gets the values.
    ///   - transform: Returns the value to pass on, or nil to leave it out.
    init(_ downstream: Downstream, _ transform: @escaping (Input) -> Downstream.Input?) {
        self.link = UpstreamLink(Target(downstream: downstream, transform: transform))
    }

    func receive(subscription: any Subscription) {
        self.link.attach(subscription)?.downstream.receive(subscription: self)
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        guard let target = self.link.target else { return .none }
        guard let output = target.transform(input) else { return .max(1) }
        return target.downstream.receive(output)
    }

    func receive(completion: Subscribers.Completion<Failure>) {
        self.link.detach().target?.downstream.receive(completion: completion)
    }

    func request(_ demand: Subscribers.Demand) { self.link.request(demand) }

    func cancel() { self.link.detach().upstream?.cancel() }
}
#endif
