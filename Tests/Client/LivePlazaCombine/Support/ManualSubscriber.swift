// SPDX-License-Identifier: Apache-2.0
import Foundation
import LivePlazaCombine

/// A list that several threads fill.
final class Recorded<Element>: @unchecked Sendable {
    private let lock = NSLock()
    private var elements: [Element] = []

    var all: [Element] { self.lock.withLock { self.elements } }

    func append(_ element: Element) { self.lock.withLock { self.elements.append(element) } }
}

/// A subscriber that asks for values only as the test tells it.
final class ManualSubscriber<Input, Failure: Error>: Subscriber {
    private(set) var subscriptions: [any Subscription] = []
    private(set) var values: [Input] = []
    private(set) var completions: [Subscribers.Completion<Failure>] = []
    /// Gives what `receive(_:)` gives back.
    var onValue: (Input) -> Subscribers.Demand = { _ in .none }
    private let first: Subscribers.Demand

    /// - Parameter first: What it asks for when it is subscribed.
    init(asking first: Subscribers.Demand = .none) { self.first = first }

    func receive(subscription: any Subscription) {
        self.subscriptions.append(subscription)
        if self.first > .none { subscription.request(self.first) }
    }

    func receive(_ input: Input) -> Subscribers.Demand {
        self.values.append(input)
        return self.onValue(input)
    }

    func receive(completion: Subscribers.Completion<Failure>) { self.completions.append(completion) }

    func request(_ demand: Subscribers.Demand) { self.subscriptions.last?.request(demand) }

    func cancel() { self.subscriptions.last?.cancel() }
}

/// A publisher whose subscriber is called by the test, rules or not, and which records what it is asked.
final class UnrulyPublisher<Output, Failure: Error>: Publisher, Subscription {
    private(set) var requests: [Subscribers.Demand] = []
    private(set) var cancels = 0
    private(set) var returned: [Subscribers.Demand] = []
    private var subscriber: (any Subscriber<Output, Failure>)?

    func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
        self.subscriber = subscriber
        subscriber.receive(subscription: self)
    }

    func request(_ demand: Subscribers.Demand) { self.requests.append(demand) }

    func cancel() { self.cancels += 1 }

    func emit(_ value: Output) { if let more = self.subscriber?.receive(value) { self.returned.append(more) } }

    func complete(_ completion: Subscribers.Completion<Failure>) { self.subscriber?.receive(completion: completion) }

    func subscribeAgain() { self.subscriber?.receive(subscription: self) }
}

/// An error to end a sequence with.
struct TestError: Error, Equatable {
    var number = 1
}
