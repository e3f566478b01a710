// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

@Suite struct CombineLatestTests {
    @Test func `it begins when both sources have sent a value, and then publishes each change`() {
        let (a, b) = (PassthroughSubject<Int, Never>(), PassthroughSubject<String, Never>())
        var values: [String] = []
        let cancellable = a.combineLatest(b).sink { values.append("\($0)\($1)") }
        a.send(1)
        a.send(2)
        #expect(values == [])
        b.send("x")
        a.send(3)
        b.send("y")
        #expect(values == ["2x", "3x", "3y"])
        cancellable.cancel()
        a.send(4)
        #expect(values.count == 3)
    }

    @Test func `three and four publishers are combined`() {
        let (a, b) = (CurrentValueSubject<Int, Never>(1), CurrentValueSubject<Int, Never>(2))
        let (c, d) = (CurrentValueSubject<Int, Never>(3), CurrentValueSubject<Int, Never>(4))
        var values: [[Int]] = []
        let cancellables = [
            Publishers.CombineLatest3(a, b, c).sink { values.append([$0, $1, $2]) },
            Publishers.CombineLatest4(a, b, c, d).sink { values.append([$0, $1, $2, $3]) },
            a.combineLatest(b, c) { [$0 + $1 + $2] }.sink { values.append($0) },
            a.combineLatest(b, c, d).map { [$0.0 * $0.3] }.sink { values.append($0) },
        ]
        #expect(values == [[1, 2, 3], [1, 2, 3, 4], [6], [4]])
        values = []
        a.send(5)
        #expect(values == [[5, 2, 3], [5, 2, 3, 4], [10], [20]])
        _ = cancellables
    }

    @Test func `optional values count as values`() {
        let (a, b) = (CurrentValueSubject<Int?, Never>(nil), CurrentValueSubject<Int, Never>(1))
        var count = 0
        let cancellable = a.combineLatest(b).sink { _ in count += 1 }
        #expect(count == 1)
        _ = cancellable
    }

    @Test func `it finishes when all sources have finished, and fails with the first error`() {
        let (a, b) = (PassthroughSubject<Int, TestError>(), UnrulyPublisher<Int, TestError>())
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        a.combineLatest(b) { $0 + $1 }.subscribe(subscriber)
        b.emit(1)
        a.send(2)
        b.complete(.finished)
        a.send(3)
        #expect(subscriber.values == [3, 4])
        #expect(subscriber.completions == [])
        a.send(completion: .failure(TestError()))
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `an error cancels the other source`() {
        let (a, b) = (PassthroughSubject<Int, TestError>(), UnrulyPublisher<Int, TestError>())
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        a.combineLatest(b) { $0 + $1 }.subscribe(subscriber)
        a.send(completion: .failure(TestError()))
        b.complete(.finished)
        #expect(b.cancelCount == 1)
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `each source gets the demand of the subscriber`() {
        let (a, b) = (UnrulyPublisher<Int, Never>(), UnrulyPublisher<Int, Never>())
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        a.combineLatest(b) { $0 * 10 + $1 }.subscribe(subscriber)
        subscriber.onValue = { $0 == 12 ? .max(1) : .none }
        #expect(a.requests == [.max(1)])
        #expect(b.requests == [.max(1)])
        a.emit(1)
        b.emit(2)
        #expect(subscriber.values == [12])
        #expect(a.requests == [.max(1), .max(1)])
        a.emit(3)
        b.emit(4)
        #expect(subscriber.values == [12, 32])
        subscriber.request(.max(1))
        a.emit(5)
        #expect(subscriber.values == [12, 32, 54])
    }

    @Test func `a value that is sent from within the sink makes a new combination`() {
        let (a, b) = (CurrentValueSubject<Int, Never>(1), CurrentValueSubject<Int, Never>(1))
        var values: [[Int]] = []
        let cancellable = a.combineLatest(b).sink { first, second in
            values.append([first, second])
            if first == 2, second == 1 { b.send(2) }
        }
        a.send(2)
        #expect(values == [[1, 1], [2, 1], [2, 2]])
        _ = cancellable
    }
}
