// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// A subject without a current value: demand, completion, and sends and cancels within a sink.
///
/// An `UnrulyPublisher` sends what the test says, and records requests. A `ManualSubscriber` asks when the test says.
@Suite struct PassthroughSubjectTests {
    @Test func `a subscriber gets the values that are sent while it is subscribed`() {
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int] = []
        subject.send(1)
        let cancellable = subject.sink { values.append($0) }
        subject.send(2)
        subject.send(3)
        cancellable.cancel()
        subject.send(4)
        #expect(values == [2, 3])
    }

    @Test func `without demand values are dropped, and demand adds up`() {
        let subject = PassthroughSubject<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>()
        subject.subscribe(subscriber)
        subject.send(1)
        #expect(subscriber.values == [])
        subscriber.request(.max(1))
        subscriber.request(.max(1))
        for value in 2...4 { subject.send(value) }
        #expect(subscriber.values == [2, 3])
        subscriber.onValue = { $0 == 5 ? .max(2) : .none }
        subscriber.request(.max(1))
        // 5 uses this demand and returns 2 more, for 6 and 7; 8 and 9 are dropped.
        for value in 5...9 { subject.send(value) }
        #expect(subscriber.values == [2, 3, 5, 6, 7])
        subscriber.request(.unlimited)
        for value in 10...12 { subject.send(value) }
        #expect(subscriber.values == [2, 3, 5, 6, 7, 10, 11, 12])
    }

    @Test func `a subscriber without demand gets its subscription but no value`() {
        let subject = PassthroughSubject<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>()
        subject.subscribe(subscriber)
        subject.send(1)
        #expect(subscriber.subscriptions.count == 1)
        #expect(subscriber.values.isEmpty)
    }

    @Test func `the completion arrives once, without demand, and nothing follows it`() {
        let subject = PassthroughSubject<Int, TestError>()
        let subscriber = ManualSubscriber<Int, TestError>()
        subject.subscribe(subscriber)
        subject.send(completion: .failure(TestError()))
        subject.send(completion: .finished)
        subscriber.request(.unlimited)
        subject.send(1)
        #expect(subscriber.completions == [.failure(TestError())])
        #expect(subscriber.values == [])
    }

    @Test func `a subscriber that is attached after the completion gets it at once`() {
        let subject = PassthroughSubject<Int, TestError>()
        subject.send(completion: .failure(TestError(number: 7)))
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        subject.subscribe(subscriber)
        #expect(subscriber.subscriptions.count == 1)
        #expect(subscriber.completions == [.failure(TestError(number: 7))])
    }

    @Test func `a value sent from within a sink arrives before the send returns, at every subscriber`() {
        let subject = PassthroughSubject<Int, Never>()
        var log: [String] = []
        let first = subject.sink { value in
            log.append("first \(value)")
            if value == 1 {
                subject.send(2)
                log.append("sent")
            }
        }
        let second = subject.sink { log.append("second \($0)") }
        subject.send(1)
        // Each subscriber gets the values in the order in which they were sent.
        #expect(log == ["first 1", "first 2", "second 1", "second 2", "sent"])
        _ = (first, second)
    }

    @Test func `a subscriber may cancel itself within its sink`() {
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int] = []
        var cancellable: AnyCancellable?
        cancellable = subject.sink { value in
            values.append(value)
            if value == 1 {
                cancellable?.cancel()
                subject.send(2)
            }
        }
        subject.send(1)
        subject.send(3)
        #expect(values == [1])
    }

    @Test func `a subscriber that an earlier subscriber cancels does not get the value that is being delivered`() {
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int] = []
        var second: AnyCancellable?
        let first = subject.sink { _ in second?.cancel() }
        second = subject.sink { values.append($0) }
        subject.send(1)
        #expect(values == [])
        _ = first
    }

    @Test func `a subscriber that subscribes within a sink gets the next value, not the present one`() {
        let subject = PassthroughSubject<Int, Never>()
        var values: [Int] = []
        var inner: AnyCancellable?
        let outer = subject.sink { _ in
            if inner == nil { inner = subject.sink { values.append($0) } }
        }
        subject.send(1)
        subject.send(2)
        #expect(values == [2])
        _ = outer
    }

    @Test func `a completion sent from within a sink ends the sequence after that value`() {
        let subject = PassthroughSubject<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>(asking: .unlimited)
        subscriber.onValue = { value in
            if value == 1 {
                subject.send(completion: .finished)
                subject.send(2)
            }
            return .none
        }
        subject.subscribe(subscriber)
        subject.send(1)
        #expect(subscriber.values == [1])
        #expect(subscriber.completions == [.finished])
    }

    @Test func `a subject passes on the values of another publisher when it has demand`() {
        let source = UnrulyPublisher<Int, Never>()
        let subject = PassthroughSubject<Int, Never>()
        let subscription = source.subscribe(subject)
        #expect(source.requests == [])
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        subject.subscribe(subscriber)
        #expect(source.requests == [.unlimited])
        source.emit(1)
        source.emit(2)
        #expect(subscriber.values == [1])
        subscription.cancel()
        #expect(source.cancelCount == 1)
    }

    @Test func `a released subscription releases its subject and its subscriber's objects`() {
        final class Captured { var values: [Int] = [] }
        weak var weakCaptured: Captured?
        weak var weakSubject: PassthroughSubject<Int, Never>?
        var cancellables: Set<AnyCancellable> = []
        do {
            let captured = Captured()
            weakCaptured = captured
            let subject = PassthroughSubject<Int, Never>()
            weakSubject = subject
            subject.sink { captured.values.append($0) }.store(in: &cancellables)
        }
        weakSubject?.send(1)
        #expect(weakCaptured?.values == [1], "the subscription retains both")
        cancellables.removeAll()
        #expect(weakCaptured == nil)
        #expect(weakSubject == nil)
    }
}
