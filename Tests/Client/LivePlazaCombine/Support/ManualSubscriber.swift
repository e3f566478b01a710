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
    /// Makes the demand that `receive(_:)` returns for a value.
    var onValue: (Input) -> Subscribers.Demand = { _ in .none }
    private let initialDemand: Subscribers.Demand

    /// - Parameter initialDemand: the demand that the subscriber requests when it gets its subscription.
    init(asking initialDemand: Subscribers.Demand = .none) { self.initialDemand = initialDemand }

    func receive(subscription: any Subscription) {
        self.subscriptions.append(subscription)
        if self.initialDemand > .none { subscription.request(self.initialDemand) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        self.values.append(input)
        return self.onValue(input)
    }

    func receive(completion: Subscribers.Completion<Failure>) { self.completions.append(completion) }

    func request(_ demand: Subscribers.Demand) { self.subscriptions.last?.request(demand) }

    func cancel() { self.subscriptions.last?.cancel() }
}

/// A publisher that records requests, and sends what the test says, even against the rules for publishers.
final class UnrulyPublisher<Output, Failure: Error>: Publisher, Subscription {
    private(set) var requests: [Subscribers.Demand] = []
    /// How often the subscriber has cancelled.
    private(set) var cancelCount = 0
    /// The demands that the subscriber has returned for values.
    private(set) var returnedDemands: [Subscribers.Demand] = []
    private var subscriber: (any Subscriber<Output, Failure>)?

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        self.subscriber = subscriber
        subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) { self.requests.append(demand) }

    func cancel() { self.cancelCount += 1 }

    func emit(_ value: Output) {
        if let demand = self.subscriber?.receive(value) { self.returnedDemands.append(demand) }
    }

    func complete(_ completion: Subscribers.Completion<Failure>) { self.subscriber?.receive(completion: completion) }

    /// Gives the same subscriber a second subscription.
    func subscribeAgain() { self.subscriber?.receive(subscription: self) }
}

/// An error with which tests end a sequence.
struct TestError: Error, Equatable {
    var number = 1
}
