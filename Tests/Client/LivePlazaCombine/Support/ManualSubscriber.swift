// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine

/// A list to which several threads append.
final class LockedList<Element>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    var all: [Element] { self.lock.withLock { self.elements } }

    func append(_ element: Element) { self.lock.withLock { self.elements.append(element) } }
}

/// A subscriber that records what it receives, and asks for values only when the test says so.
final class ManualSubscriber<Input, Failure: Error>: Subscriber {
    private(set) var subscriptions: [any Subscription] = []
    private(set) var values: [Input] = []
    private(set) var completions: [Subscribers.Completion<Failure>] = []
    /// Called for each value; returns the further demand, and may act on the publisher during the delivery.
    var demandAfterValue: (Input) -> Subscribers.Demand = { _ in .none }
    private let initialDemand: Subscribers.Demand

    /// Makes a subscriber that requests `initialDemand` when it gets its subscription.
    init(asking initialDemand: Subscribers.Demand = .none) { self.initialDemand = initialDemand }

    func receive(subscription: any Subscription) {
        self.subscriptions.append(subscription)
        if self.initialDemand > .none { subscription.request(self.initialDemand) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        self.values.append(input)
        return self.demandAfterValue(input)
    }

    func receive(completion: Subscribers.Completion<Failure>) { self.completions.append(completion) }

    /// Requests further demand from the publisher.
    func request(_ demand: Subscribers.Demand) { self.subscriptions.last?.request(demand) }

    /// Cancels the latest subscription.
    func cancel() { self.subscriptions.last?.cancel() }
}

/// A publisher that records requests for demand, and sends what the test says, even against the rules for publishers.
///
/// For example, it sends values for which there is no demand, or values after the completion.
final class UnrulyPublisher<Output, Failure: Error>: Publisher, Subscription {
    /// The demands that the subscriber has requested.
    private(set) var requests: [Subscribers.Demand] = []
    /// How often the subscriber has cancelled.
    private(set) var cancelCount = 0
    /// For each value, the further demand that the subscriber has returned.
    private(set) var returnedDemands: [Subscribers.Demand] = []
    private var subscriber: (any Subscriber<Output, Failure>)?

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        self.subscriber = subscriber
        subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) { self.requests.append(demand) }

    func cancel() { self.cancelCount += 1 }

    /// Sends a value to the subscriber.
    func emit(_ value: Output) {
        if let demand = self.subscriber?.receive(value) { self.returnedDemands.append(demand) }
    }

    /// Sends a completion to the subscriber.
    func complete(_ completion: Subscribers.Completion<Failure>) { self.subscriber?.receive(completion: completion) }

    /// Gives the same subscriber a second subscription.
    func subscribeAgain() { self.subscriber?.receive(subscription: self) }
}

/// An error with which tests end a sequence.
struct TestError: Error, Equatable {
    var number = 1
}
