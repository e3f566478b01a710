// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

@Suite struct MergeTests {
    @Test func `values of all sources arrive in the order in which they are sent`() {
        let (a, b) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
        var values: [Int] = []
        let cancellable = a.merge(with: b).sink { values.append($0) }
        a.send(1)
        b.send(2)
        a.send(3)
        #expect(values == [1, 2, 3])
        cancellable.cancel()
        b.send(4)
        #expect(values == [1, 2, 3])
    }

    @Test func `sources of several types and any number are merged`() {
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

    @Test func `it finishes when all sources have finished`() {
        let (a, b) = (PassthroughSubject<Int, TestError>(), PassthroughSubject<Int, TestError>())
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        Publishers.Merge(a, b).subscribe(subscriber)
        a.send(completion: .finished)
        b.send(1)
        #expect(subscriber.completions == [])
        b.send(completion: .finished)
        #expect(subscriber.completions == [.finished])
        #expect(subscriber.values == [1])
    }

    @Test func `an error of one source ends it, and cancels the others`() {
        let source = UnrulyPublisher<Int, TestError>()
        let subject = PassthroughSubject<Int, TestError>()
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        source.merge(with: subject).subscribe(subscriber)
        subject.send(completion: .failure(TestError()))
        source.emit(1)
        source.complete(.failure(TestError(number: 2)))
        #expect(source.cancelCount == 1)
        #expect(subscriber.values == [])
        #expect(subscriber.completions == [.failure(TestError())])
    }

    @Test func `merging nothing finishes at once`() {
        let subscriber = ManualSubscriber<Int, Never>()
        Publishers.MergeMany([Just<Int>]()).subscribe(subscriber)
        #expect(subscriber.completions == [.finished])
    }

    @Test func `with limited demand one value of each source waits`() {
        let (a, b) = (UnrulyPublisher<Int, Never>(), UnrulyPublisher<Int, Never>())
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        a.merge(with: b).subscribe(subscriber)
        #expect(a.requests == [.max(1)])
        #expect(b.requests == [.max(1)])
        a.emit(1)
        #expect(a.requests == [.max(1), .max(1)])
        a.emit(2)
        b.emit(3)
        #expect(subscriber.values == [1])
        #expect(a.requests == [.max(1), .max(1)])
        a.complete(.finished)
        b.complete(.finished)
        #expect(subscriber.completions == [])
        subscriber.request(.max(2))
        #expect(subscriber.values == [1, 2, 3])
        #expect(subscriber.completions == [.finished])
    }

    @Test func `unlimited demand asks every source once for all values`() {
        let (a, b) = (UnrulyPublisher<Int, Never>(), UnrulyPublisher<Int, Never>())
        let subscriber = ManualSubscriber<Int, Never>()
        a.merge(with: b).subscribe(subscriber)
        subscriber.request(.unlimited)
        subscriber.request(.max(1))
        a.emit(1)
        a.emit(2)
        #expect(subscriber.values == [1, 2])
        #expect(a.requests == [.max(1), .unlimited])
        #expect(b.requests == [.max(1), .unlimited])
    }

    @Test func `a value that is sent from within the sink arrives before the send returns`() {
        let (a, b) = (PassthroughSubject<Int, Never>(), PassthroughSubject<Int, Never>())
        var log: [Int] = []
        let cancellable = a.merge(with: b).sink { value in
            log.append(value)
            if value == 1 {
                b.send(2)
                log.append(-1)
            }
        }
        a.send(1)
        #expect(log == [1, 2, -1])
        _ = cancellable
    }
}
