// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// `combineLatest` with two to four publishers.
///
/// An `UnrulyPublisher` sends what the test says, and records requests for demand. A `ManualSubscriber` requests demand
/// when the test says, and records values. `_ = cancellable` keeps a subscription until the end of a test.
@Suite struct CombineLatestTests {
    @Test func `combineLatest publishes when both sources have sent a value, and then at each further value`() {
        let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<String, Never>())
        var values: [String] = []
        let cancellable = first.combineLatest(second).sink { values.append("\($0)\($1)") }
        first.send(1)
        first.send(2)
        #expect(values == [])
        second.send("x")
        first.send(3)
        second.send("y")
        #expect(values == ["2x", "3x", "3y"])
        cancellable.cancel()
        first.send(4)
        #expect(values.count == 3)
    }

    @Test func `combineLatest combines three or four publishers, with and without a transformation`() {
        let (first, second) = (CurrentValueSubject<Int, Never>(1), CurrentValueSubject<Int, Never>(2))
        let (third, fourth) = (CurrentValueSubject<Int, Never>(3), CurrentValueSubject<Int, Never>(4))
        var values: [[Int]] = []
        let cancellables = [
            Publishers.CombineLatest3(first, second, third).sink { values.append([$0, $1, $2]) },
            Publishers.CombineLatest4(first, second, third, fourth).sink { values.append([$0, $1, $2, $3]) },
            first.combineLatest(second, third) { [$0 + $1 + $2] }.sink { values.append($0) },
            first.combineLatest(second, third, fourth).map { [$0.0 * $0.3] }.sink { values.append($0) },
        ]
        #expect(values == [[1, 2, 3], [1, 2, 3, 4], [6], [4]])
        values = []
        first.send(5)
        #expect(values == [[5, 2, 3], [5, 2, 3, 4], [10], [20]])
        _ = cancellables
    }

    @Test func `combineLatest counts nil as a value`() {
        let (first, second) = (CurrentValueSubject<Int?, Never>(nil), CurrentValueSubject<Int, Never>(1))
        var count = 0
        let cancellable = first.combineLatest(second).sink { _ in count += 1 }
        #expect(count == 1)
        _ = cancellable
    }

    @Test func `combineLatest finishes when all sources have finished, and fails with the first error`() {
        let (first, second) = (PassthroughSubject<Int, TestError>(), UnrulyPublisher<Int, TestError>())
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        first.combineLatest(second) { $0 + $1 }.subscribe(subscriber)
        second.emit(1)
        first.send(2)
        second.complete(.finished)
        first.send(3)
        #expect(subscriber.values == [3, 4])
        #expect(subscriber.completions == [])
        first.send(completion: .failure(TestError()))
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `an error of one source of combineLatest cancels the other source`() {
        let (first, second) = (PassthroughSubject<Int, TestError>(), UnrulyPublisher<Int, TestError>())
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        first.combineLatest(second) { $0 + $1 }.subscribe(subscriber)
        first.send(completion: .failure(TestError()))
        second.complete(.finished)
        #expect(second.cancelCount == 1)
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `combineLatest passes the subscriber's demand to each source`() {
        let (first, second) = (UnrulyPublisher<Int, Never>(), UnrulyPublisher<Int, Never>())
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        first.combineLatest(second) { $0 * 10 + $1 }.subscribe(subscriber)
        // At the combination 12 the subscriber requests one more.
        subscriber.demandAfterValue = { $0 == 12 ? .max(1) : .none }
        #expect(first.requests == [.max(1)])
        #expect(second.requests == [.max(1)])
        first.emit(1)
        second.emit(2)
        #expect(subscriber.values == [12])
        #expect(first.requests == [.max(1), .max(1)])
        first.emit(3)
        // There is no demand for the combination of 3 and 4. But 4 is kept for the next combination.
        second.emit(4)
        #expect(subscriber.values == [12, 32])
        subscriber.request(.max(1))
        first.emit(5)
        #expect(subscriber.values == [12, 32, 54])
    }

    @Test func `a value that the sink of combineLatest sends makes a new combination`() {
        let (first, second) = (CurrentValueSubject<Int, Never>(1), CurrentValueSubject<Int, Never>(1))
        var values: [[Int]] = []
        let cancellable = first.combineLatest(second).sink { firstValue, secondValue in
            values.append([firstValue, secondValue])
            if firstValue == 2, secondValue == 1 { second.send(2) }
        }
        first.send(2)
        #expect(values == [[1, 1], [2, 1], [2, 2]])
        _ = cancellable
    }
}
