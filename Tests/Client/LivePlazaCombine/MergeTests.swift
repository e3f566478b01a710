// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// `merge` with any number of publishers.
///
/// An `UnrulyPublisher` sends what the test says, and records requests for demand. A `ManualSubscriber` requests demand
/// when the test says, and records values. `_ = cancellable` keeps a subscription until the end of a test.
@Suite struct MergeTests {
    @Test func `values of all sources arrive in the order in which they are sent`() {
        let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
        var values: [Int] = []
        let cancellable = first.merge(with: second).sink { values.append($0) }
        first.send(1)
        second.send(2)
        first.send(3)
        #expect(values == [1, 2, 3])
        cancellable.cancel()
        second.send(4)
        #expect(values == [1, 2, 3])
    }

    @Test func `any number of sources, of several publisher types, can be merged`() {
        // The subject sends nothing.
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int] = []
        let cancellables = [
            subject.merge(with: Just(1)).sink { values.append($0) },
            subject.merge(with: Just(2), Just(3).map { $0 }).sink { values.append($0) },
            subject.merge(with: Just(4), Just(5), Just(6)).sink { values.append($0) },
            Publishers.MergeMany((7...9).map { Just($0) }).sink { values.append($0) },
            Publishers.Merge3(Just(10), [11, 12].publisher, subject).sink { values.append($0) },
        ]
        #expect(values == Array(1...12))
        _ = cancellables
    }

    @Test func `merge finishes when all sources have finished`() {
        let (first, second) = (PassthroughSubject<Int, TestError>(), PassthroughSubject<Int, TestError>())
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        Publishers.Merge(first, second).subscribe(subscriber)
        first.send(completion: .finished)
        second.send(1)
        #expect(subscriber.completions == [])
        second.send(completion: .finished)
        #expect(subscriber.completions == [.finished])
        #expect(subscriber.values == [1])
    }

    @Test func `an error of one source ends the merge, and cancels the other sources`() {
        let source = UnrulyPublisher<Int, TestError>()
        let subject = PassthroughSubject<Int, TestError>()
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        source.merge(with: subject).subscribe(subscriber)
        subject.send(completion: .failure(TestError()))
        // The cancelled source still sends a value, which must have no effect.
        source.emit(1)
        source.complete(.failure(TestError(number: 2)))
        #expect(source.cancelCount == 1)
        #expect(subscriber.values == [])
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `a merge without sources finishes at once`() {
        let subscriber = ManualSubscriber<Int, Never>()
        Publishers.MergeMany([Just<Int>]()).subscribe(subscriber)
        #expect(subscriber.completions == [.finished])
    }

    @Test func `with limited demand merge keeps one waiting value of each source`() {
        let (first, second) = (UnrulyPublisher<Int, Never>(), UnrulyPublisher<Int, Never>())
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        first.merge(with: second).subscribe(subscriber)
        #expect(first.requests == [.max(1)])
        #expect(second.requests == [.max(1)])
        // The subscriber gets 1, and the first source is asked for another value.
        first.emit(1)
        #expect(first.requests == [.max(1), .max(1)])
        // 2 and 3 wait, because the subscriber has requested one value only.
        first.emit(2)
        second.emit(3)
        #expect(subscriber.values == [1])
        #expect(first.requests == [.max(1), .max(1)])
        first.complete(.finished)
        second.complete(.finished)
        // The completion comes after the values that wait.
        #expect(subscriber.completions == [])
        subscriber.request(.max(2))
        #expect(subscriber.values == [1, 2, 3])
        #expect(subscriber.completions == [.finished])
    }

    @Test func `with unlimited demand merge requests all values of each source once`() {
        let (first, second) = (UnrulyPublisher<Int, Never>(), UnrulyPublisher<Int, Never>())
        let subscriber = ManualSubscriber<Int, Never>()
        // The merge requests one value of each source before the subscriber has requested any.
        first.merge(with: second).subscribe(subscriber)
        subscriber.request(.unlimited)
        subscriber.request(.max(1))
        first.emit(1)
        first.emit(2)
        #expect(subscriber.values == [1, 2])
        #expect(first.requests == [.max(1), .unlimited])
        #expect(second.requests == [.max(1), .unlimited])
    }

    @Test func `a value that a merge's sink sends arrives before this send returns`() {
        let (first, second) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
        var log: [String] = []
        let cancellable = first.merge(with: second).sink { value in
            log.append("\(value)")
            if value == 1 {
                second.send(2)
                log.append("send returned")
            }
        }
        first.send(1)
        #expect(log == ["1", "2", "send returned"])
        _ = cancellable
    }
}
