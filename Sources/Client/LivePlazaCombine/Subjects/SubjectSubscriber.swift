// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)

/// Subscribes a subject to an upstream publisher.
///
/// It is the publisher's subscriber and the subject's upstream subscription: values go from the publisher to the
/// subject, requests from the subject to the publisher.
final class SubjectSubscriber<Target: Subject>: Subscriber, Subscription {
    private let link: UpstreamLink<Target>

    init(_ subject: Target) { self.link = UpstreamLink(subject) }

    func receive(subscription: any Subscription) { self.link.attach(subscription)?.send(subscription: self) }

    func receive(_ input: Target.Output) -> Subscribers.Demand {
        self.link.target?.send(input)
        return .none
    }

    func receive(completion: Subscribers.Completion<Target.Failure>) {
        self.link.detach().target?.send(completion: completion)
    }

    func request(_ demand: Subscribers.Demand) { self.link.request(demand) }

    func cancel() { self.link.detach().upstream?.cancel() }
}
#endif
