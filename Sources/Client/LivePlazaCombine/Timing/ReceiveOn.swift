// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

extension Publishers {
    /// A publisher that delivers the values and the completion of its source on a scheduler.
    public struct ReceiveOn<Upstream: Publisher, Context: Scheduler>: Publisher {
        /// The kind of values of the source.
        public typealias Output = Upstream.Output

        /// The kind of error of the source.
        public typealias Failure = Upstream.Failure

        /// The source.
        public let upstream: Upstream

        /// The scheduler that delivers the values and the completion.
        public let scheduler: Context

        /// Further options of the scheduler.
        public let options: Context.SchedulerOptions?

        /// Makes a publisher.
        ///
        /// - Parameters:
        ///   - upstream: The source.
        ///   - scheduler: The scheduler that delivers the values and the completion.
        ///   - options: Further options of the scheduler.
        public init(upstream: Upstream, scheduler: Context, options: Context.SchedulerOptions?) {
            self.upstream = upstream
            self.scheduler = scheduler
            self.options = options
        }

        /// Attaches a subscriber.
        ///
        /// - Parameter subscriber: The subscriber, which gets the values, in the order of the source and one at a time.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let (scheduler, options) = (self.scheduler, self.options)
            self.upstream.subscribe(
                ReceiveOnInner(subscriber) { action in scheduler.schedule(options: options, action) })
        }
    }
}

extension Publisher {
    /// Delivers the values and the completion on a scheduler.
    ///
    /// - Parameters:
    ///   - scheduler: The scheduler that delivers the values and the completion, such as `DispatchQueue.main`.
    ///   - options: Further options of the scheduler.
    /// - Returns: The publisher.
    public func receive<S: Scheduler>(
        on scheduler: S, options: S.SchedulerOptions? = nil
    ) -> Publishers.ReceiveOn<Self, S> {
        Publishers.ReceiveOn(upstream: self, scheduler: scheduler, options: options)
    }
}

/// The subscriber to the source of `receive(on:)`, which schedules one action for each value and for the completion.
///
/// An action does not deliver the event for which it was scheduled. It delivers the first event of the queue. Thus the
/// events keep their order even if the scheduler runs several actions at once.
private final class ReceiveOnInner<Downstream: Subscriber>: Subscriber, Subscription {
    typealias Input = Downstream.Input
    typealias Failure = Downstream.Failure

    private enum Event {
        case value(Input)
        case completion(Subscribers.Completion<Failure>)
    }

    private let link: UpstreamLink<Downstream>
    private let lock = NSLock()
    private let delivery = Delivery<Event>()
    private let schedule: (@escaping () -> Void) -> Void
    /// The events whose actions have not run yet, oldest first.
    private var scheduled = FIFO<Event>()
    /// Whether the completion was received, or the subscription was cancelled.
    private var hasEnded = false

    init(_ downstream: Downstream, _ schedule: @escaping (@escaping () -> Void) -> Void) {
        self.link = UpstreamLink(downstream)
        self.schedule = schedule
    }

    /// Stores the subscription to the source, and passes this object to the subscriber as its subscription.
    func receive(subscription: any Subscription) { self.link.attach(subscription)?.receive(subscription: self) }

    func receive(_ input: Input) -> Subscribers.Demand {
        self.receive(.value(input))
        return .none
    }

    func receive(completion: Subscribers.Completion<Failure>) { self.receive(.completion(completion)) }

    func request(_ demand: Subscribers.Demand) { self.link.request(demand) }

    func cancel() {
        let detached = self.link.detach()
        let dropped = self.lock.withLock {
            defer { (self.hasEnded, self.scheduled) = (true, FIFO()) }
            return self.scheduled
        }
        // The events must live until here, outside the lock, because the deinitializer of a value may call back.
        withExtendedLifetime(dropped) {}
        self.delivery.removeAll()
        detached.upstream?.cancel()
    }

    private func receive(_ event: Event) {
        let isAccepted = self.lock.withLock {
            if self.hasEnded { return false }
            if case .completion = event { self.hasEnded = true }
            self.scheduled.append(event)
            return true
        }
        if isAccepted { self.schedule { self.deliverNext() } }
    }

    /// Moves the first event of `scheduled` to `delivery`, which delivers its events one at a time.
    ///
    /// The move is made under the lock, so actions on several threads do not change the order of the events.
    private func deliverNext() {
        self.lock.withLock { if let event = self.scheduled.popFirst() { self.delivery.enqueue(event) } }
        self.delivery.drain(self.deliver)
    }

    private func deliver(_ event: Event) {
        switch event {
        case .completion(let completion): self.link.detach().target?.receive(completion: completion)
        case .value(let value):
            guard let more = self.link.target?.receive(value), more > .none else { return }
            self.link.request(more)
        }
    }
}
#endif
