// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// Operators without timers, publishers of fixed values, and the arithmetic of demands.
///
/// An `UnrulyPublisher` sends what the test says, and records requests for demand. A `ManualSubscriber` requests demand
/// when the test says, and records values. `_ = cancellable` keeps a subscription until the end of a test.
@Suite struct OperatorTests {
    private struct User { var name = "ann" }

    @Test func `map, compactMap, filter, removeDuplicates and dropFirst can be chained`() {
        let subject = PassthroughSubject<String, Never>()
        var values: [Int] = []
        let cancellable = subject.map { $0 + "0" }.compactMap { Int($0) }.filter { $0 > 10 }.removeDuplicates()
            .dropFirst().sink { values.append($0) }
        // `map` makes 20, 20, x0, 10, 30, 30, 20, 20. `compactMap` leaves out x0, which is not a number. `filter`
        // leaves out 10, which is not above 10. Without duplicates 20, 30, 20 remain, and `dropFirst` drops the first.
        for text in ["2", "2", "x", "1", "3", "3", "2", "2"] { subject.send(text) }
        #expect(values == [30, 20])
        _ = cancellable
    }

    @Test func `map takes a key path, in a literal and in a variable`() {
        let keyPath: KeyPath<User, String> = \.name
        var values: [String] = []
        let first = Just(User()).map(\.name).sink { values.append($0) }
        let second = Just(User(name: "bob")).map(keyPath).sink { values.append($0) }
        #expect(values == ["ann", "bob"])
        _ = (first, second)
    }

    @Test func `map publishes nil as a value`() {
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int?] = []
        let cancellable = subject.map { $0 > 1 ? $0 : nil }.sink { values.append($0) }
        subject.send(1)
        subject.send(2)
        #expect(values == [nil, 2])
        _ = cancellable
    }

    @Test func `for each value that a filter leaves out, one more value is requested`() {
        let source = UnrulyPublisher<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        subscriber.demandAfterValue = { $0 == 4 ? .max(3) : .none }
        source.filter { $0.isMultiple(of: 2) }.subscribe(subscriber)
        for value in 1...4 { source.emit(value) }
        #expect(source.requests == [.max(1)])
        // For each of 1 and 3, which are left out, the filter requests one more value. At 4 the subscriber requests 3.
        #expect(source.returnedDemands == [.max(1), .none, .max(1), .max(3)])
    }

    @Test func `requests and a cancel pass through a chain of operators unchanged`() {
        let source = UnrulyPublisher<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>()
        source.map { $0 }.compactMap { $0 }.dropFirst(2).removeDuplicates().subscribe(subscriber)
        #expect(source.requests == [])
        subscriber.request(.max(3))
        subscriber.request(.unlimited)
        #expect(source.requests == [.max(3), .unlimited])
        // The second cancel has no effect.
        subscriber.cancel()
        subscriber.cancel()
        #expect(source.cancelCount == 1)
        source.emit(1)
        source.complete(.finished)
        #expect(subscriber.values == [])
        #expect(subscriber.completions == [])
    }

    @Test func `an operator ignores values and completions that its source sends after the completion`() {
        let source = UnrulyPublisher<Int, TestError>()
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        source.map { $0 }.subscribe(subscriber)
        source.emit(1)
        source.complete(.failure(TestError()))
        source.emit(2)
        source.complete(.finished)
        #expect(subscriber.values == [1])
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `an operator that gets a second subscription cancels it and keeps the first`() {
        let source = UnrulyPublisher<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>()
        source.map { $0 }.subscribe(subscriber)
        source.subscribeAgain()
        #expect(source.cancelCount == 1)
        #expect(subscriber.subscriptions.count == 1)
    }

    @Test func `removeDuplicates compares each value with the last one that it has published`() {
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int] = []
        let cancellable = subject.removeDuplicates { abs($0 - $1) < 3 }.sink { values.append($0) }
        // For the predicate, values that differ by less than 3 are equal: 2 and 3 are dropped after 1, and 5 after 4.
        for value in [1, 2, 3, 4, 5, 1] { subject.send(value) }
        #expect(values == [1, 4, 1])
        _ = cancellable
    }

    @Test func `each subscriber of dropFirst and removeDuplicates has its own state`() {
        let subject = PassthroughSubject<Int, Never>()
        let publisher = subject.dropFirst(1).removeDuplicates()
        var values: [String] = []
        let first = publisher.sink { values.append("a\($0)") }
        subject.send(1)
        subject.send(1)
        let second = publisher.sink { values.append("b\($0)") }
        subject.send(1)
        subject.send(1)
        #expect(values == ["a1", "b1"])
        _ = (first, second)
    }

    @Test func `a sequence publishes its elements on demand, and completes right after the last element`() {
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        [1, 2, 3].publisher.subscribe(subscriber)
        #expect(subscriber.values == [1])
        // The request asks for 2, and at 2 the subscriber asks for 3.
        subscriber.demandAfterValue = { $0 == 2 ? .max(1) : .none }
        subscriber.request(.max(1))
        #expect(subscriber.values == [1, 2, 3])
        #expect(subscriber.completions == [.finished])
    }

    @Test func `a request during the delivery of a sequence does not nest deliveries`() {
        let subscriber = ManualSubscriber<Int, Never>(asking: .none)
        // How many deliveries are in progress now, and how many were at most.
        var depth = 0
        var maxDepth = 0
        subscriber.demandAfterValue = { _ in
            depth += 1
            maxDepth = max(maxDepth, depth)
            subscriber.request(.max(1))
            depth -= 1
            return .none
        }
        (0..<10_000).publisher.subscribe(subscriber)
        subscriber.request(.max(1))
        #expect(subscriber.values.count == 10_000)
        #expect(maxDepth == 1)
    }

    @Test func `Just sends its value on demand, and Empty and Fail complete without demand`() {
        let just = ManualSubscriber<Int, Never>()
        Just(1).subscribe(just)
        #expect(just.values.isEmpty && just.completions.isEmpty)
        just.request(.max(1))
        #expect(just.values == [1])
        #expect(just.completions == [.finished])
        let empty = ManualSubscriber<Int, Never>()
        Empty<Int, Never>().subscribe(empty)
        #expect(empty.completions == [.finished])
        let fail = ManualSubscriber<Int, TestError>()
        Fail<Int, TestError>(error: TestError()).subscribe(fail)
        #expect(fail.completions == [.failure(TestError())])
    }

    @Test func `a publisher whose type is erased, even twice, forwards demand and values`() {
        let source = UnrulyPublisher<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(2))
        source.eraseToAnyPublisher().eraseToAnyPublisher().subscribe(subscriber)
        source.emit(1)
        #expect(source.requests == [.max(2)])
        #expect(subscriber.values == [1])
    }

    @Test func `assign sets a property until its subscription is cancelled`() {
        final class Label { var text = "" }
        let label = Label()
        let subject = PassthroughSubject<String, Never>()
        let cancellable = subject.assign(to: \.text, on: label)
        subject.send("a")
        cancellable.cancel()
        subject.send("b")
        #expect(label.text == "a")
    }

    @Test func `demands can be added, subtracted, multiplied and compared, without an overflow`() {
        #expect(Subscribers.Demand.max(1) + .max(2) == .max(3))
        #expect(Subscribers.Demand.max(1) + .unlimited == .unlimited)
        #expect(Subscribers.Demand.unlimited - .max(1) == .unlimited)
        #expect(Subscribers.Demand.max(1) - .max(2) == .none)
        #expect(Subscribers.Demand.max(.max) + 1 == .unlimited)
        #expect(Subscribers.Demand.max(3) * 2 == .max(6))
        #expect(Subscribers.Demand.max(3) < .unlimited)
        #expect(Subscribers.Demand.max(3) > 2)
        #expect(Subscribers.Demand.unlimited.max == nil)
        #expect(Subscribers.Demand.none.max == 0)
    }
}
