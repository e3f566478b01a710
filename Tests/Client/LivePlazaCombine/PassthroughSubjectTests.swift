// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// A subject without a current value: demand, completion, and sends and cancels within a closure of a subscriber.
///
/// An `UnrulyPublisher` sends what the test says, and records requests for demand. A `ManualSubscriber` requests demand
/// when the test says, and records values. `_ = cancellable` keeps a subscription until the end of a test.
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

    @Test func `values are dropped while there is no demand, and requests for demand add up`() {
        let subject = PassthroughSubject<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>()
        subject.subscribe(subscriber)
        subject.send(1)
        #expect(subscriber.values == [])
        subscriber.request(.max(1))
        subscriber.request(.max(1))
        for value in 2...4 { subject.send(value) }
        #expect(subscriber.values == [2, 3], "expected that 4 is dropped, because only two values were requested")
        subscriber.demandAfterValue = { $0 == 5 ? .max(2) : .none }
        subscriber.request(.max(1))
        // This demand is for 5. At 5 the subscriber returns a demand of 2, for 6 and 7. So 8 and 9 are dropped.
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

    @Test func `the completion arrives once, even without demand, and no value follows the completion`() {
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

    @Test func `a subscriber that is attached after the completion gets the completion at once`() {
        let subject = PassthroughSubject<Int, TestError>()
        subject.send(completion: .failure(TestError(number: 7)))
        let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)
        subject.subscribe(subscriber)
        #expect(subscriber.subscriptions.count == 1)
        #expect(subscriber.completions == [.failure(TestError(number: 7))])
    }

    @Test func `a value that is sent within a sink arrives at every subscriber before this send returns`() {
        let subject = PassthroughSubject<Int, Never>()
        var log: [String] = []
        let first = subject.sink { value in
            log.append("first \(value)")
            if value == 1 {
                subject.send(2)
                log.append("send returned")
            }
        }
        let second = subject.sink { log.append("second \($0)") }
        subject.send(1)
        // Each subscriber gets the values in the order in which they were sent.
        #expect(log == ["first 1", "first 2", "second 1", "second 2", "send returned"])
        _ = (first, second)
    }

    @Test func `a subscriber that cancels itself within its sink gets no further value`() {
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

    @Test func `a subscription that is made within a sink gets the next value, but not the present one`() {
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

    @Test func `a completion that is sent within a sink ends the subscription after the present value`() {
        let subject = PassthroughSubject<Int, Never>()
        let subscriber = ManualSubscriber<Int, Never>(asking: .unlimited)
        subscriber.demandAfterValue = { value in
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

    @Test func `a subject that subscribes to another publisher passes on its values when there is demand`() {
        let source = UnrulyPublisher<Int, Never>()
        let subject = PassthroughSubject<Int, Never>()
        let subscription = source.subscribe(subject)
        #expect(source.requests == [])
        let subscriber = ManualSubscriber<Int, Never>(asking: .max(1))
        subject.subscribe(subscriber)
        // The subject requests all values from the source; its subscriber has requested one.
        #expect(source.requests == [.unlimited])
        source.emit(1)
        source.emit(2)
        #expect(subscriber.values == [1])
        subscription.cancel()
        #expect(source.cancelCount == 1)
    }

    @Test func `a subscription retains its subject and what its closure captures, until it is released`() {
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
        #expect(weakCaptured?.values == [1], "expected that the subscription retains the subject and the object")
        cancellables.removeAll()
        #expect(weakCaptured == nil)
        #expect(weakSubject == nil)
    }
}
