// SPDX-License-Identifier: Apache-2.0
#if !canImport(Combine)
internal import Foundation

extension Publishers {
    /// Publishes the elements of a sequence, then completes.
    public struct Sequence<Elements: Swift.Sequence, Failure: Error>: Publisher {
        /// The elements.
        public typealias Output = Elements.Element

        /// The elements.
        public let sequence: Elements

        /// Makes a publisher.
        ///
        /// - Parameter sequence: The elements.
        public init(sequence: Elements) { self.sequence = sequence }

        /// Attaches a subscriber, which gets as many elements as it asks for, beginning with the first.
        ///
        /// - Parameter subscriber: The subscriber, which gets the elements.
        public func receive<S: Subscriber>(subscriber: S) where Output == S.Input, Failure == S.Failure {
            let subscription = SequenceSubscription(self.sequence, subscriber)
            subscriber.receive(subscription: subscription)
            subscription.finishIfEmpty()
        }
    }
}

extension Sequence {
    /// Publishes the elements of the sequence, then completes.
    public var publisher: Publishers.Sequence<Self, Never> { Publishers.Sequence(sequence: self) }
}

/// Delivers the elements of a sequence when the subscriber asks for them, and the completion right after the last one.
final class SequenceSubscription<Elements: Sequence, Failure: Error>: Subscription {
    private struct State {
        var iterator: Elements.Iterator
        /// The next element; it is read ahead, to know whether the element before it is the last.
        var upcoming: Elements.Element?
        var downstream: (any Subscriber<Elements.Element, Failure>)?
        var demand = Subscribers.Demand.none
        var isDelivering = false
    }

    private let lock = NSLock()
    private var state: State

    init(_ sequence: Elements, _ downstream: any Subscriber<Elements.Element, Failure>) {
        var iterator = sequence.makeIterator()
        let first = iterator.next()
        self.state = State(iterator: iterator, upcoming: first, downstream: downstream)
    }

    /// Sends the completion of a sequence without elements, for which no demand is needed.
    func finishIfEmpty() {
        let downstream: (any Subscriber<Elements.Element, Failure>)? = self.lock.withLock {
            if self.state.upcoming != nil { return nil }
            defer { self.state.downstream = nil }
            return self.state.downstream
        }
        downstream?.receive(completion: .finished)
    }

    func request(_ demand: Subscribers.Demand) {
        let mustDeliver = self.lock.withLock {
            self.state.demand += demand
            // A request from within a delivery only raises the demand, and the loop in `deliver` continues with it.
            if self.state.isDelivering { return false }
            self.state.isDelivering = true
            return true
        }
        if mustDeliver { self.deliver() }
    }

    func cancel() {
        let downstream = self.lock.withLock {
            defer { self.state.downstream = nil }
            return self.state.downstream
        }
        // The subscriber must live until here, outside the lock, because its deinitializer may call this subscription.
        withExtendedLifetime(downstream) {}
    }

    private func deliver() {
        while let (downstream, element) = self.takeNext() {
            let more = downstream.receive(element)
            // The subscriber, if this was the last element; nil if another element follows.
            let finished: (any Subscriber<Elements.Element, Failure>)? = self.lock.withLock {
                self.state.demand += more
                // The iterator is the app's code. It must not call this subscription, which would lock a second time.
                self.state.upcoming = self.state.iterator.next()
                if self.state.upcoming != nil { return nil }
                defer { self.state.downstream = nil }
                return self.state.downstream
            }
            finished?.receive(completion: .finished)
        }
    }

    /// Takes the demand for the next element, and returns the element.
    ///
    /// If there is no element, no demand or no subscriber, ends the delivery and returns nil.
    private func takeNext() -> (downstream: any Subscriber<Elements.Element, Failure>, element: Elements.Element)? {
        self.lock.withLock {
            guard let downstream = self.state.downstream, let element = self.state.upcoming,
                self.state.demand > .none
            else {
                self.state.isDelivering = false
                return nil
            }
            self.state.demand -= 1
            return (downstream, element)
        }
    }
}
#endif
