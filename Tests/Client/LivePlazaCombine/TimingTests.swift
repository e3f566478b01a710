// SPDX-License-Identifier: Apache-2.0
import LivePlazaCombine
import Testing

/// `debounce`, `throttle` and `receive(on:)` over a scheduler whose time the test controls.
///
/// `subscriber` requests all values at once. A test about demand makes a subscriber that requests only some values.
@Suite struct TimingTests {
    private let subject = PassthroughSubject<Int, TestError>()
    private let scheduler = VirtualTimeScheduler()
    private let subscriber = ManualSubscriber<Int, TestError>(asking: .unlimited)

    @Test func `debounce delivers a value when no further value has arrived for the interval`() {
        self.subject.debounce(for: .milliseconds(100), scheduler: self.scheduler).subscribe(self.subscriber)
        self.subject.send(1)
        self.scheduler.advance(milliseconds: 60)
        self.subject.send(2)
        self.scheduler.advance(milliseconds: 60)
        #expect(self.subscriber.values == [])
        self.scheduler.advance(milliseconds: 40)
        // The interval, 60 + 40 = 100 ms, has passed since the value 2.
        #expect(self.subscriber.values == [2])
        self.subject.send(3)
        self.scheduler.advance(milliseconds: 99)
        #expect(self.subscriber.values == [2])
        self.scheduler.advance(milliseconds: 1)
        #expect(self.subscriber.values == [2, 3])
    }

    @Test func `debounce has one scheduled action at a time, however many values arrive`() {
        self.subject.debounce(for: .seconds(1), scheduler: self.scheduler).subscribe(self.subscriber)
        for value in 1...1_000 {
            self.subject.send(value)
            self.scheduler.advance(milliseconds: 1)
            #expect(self.scheduler.waitingCount == 1)
        }
        self.scheduler.advance(milliseconds: 1_000)
        #expect(self.subscriber.values == [1_000])
        #expect(self.scheduler.waitingCount == 0)
    }

    @Test func `debounce drops the waiting value at the completion, and delivers the completion on the scheduler`() {
        self.subject.debounce(for: .seconds(1), scheduler: self.scheduler).subscribe(self.subscriber)
        self.subject.send(1)
        self.subject.send(completion: .finished)
        #expect(self.subscriber.completions == [])
        self.scheduler.advance(milliseconds: 2_000)
        #expect(self.subscriber.values == [])
        #expect(self.subscriber.completions == [.finished])
    }

    @Test func `debounce requests all values, and drops those for which its subscriber has no demand`() {
        let source = UnrulyPublisher<Int, TestError>()
        let limitedSubscriber = ManualSubscriber<Int, TestError>()
        source.debounce(for: .milliseconds(10), scheduler: self.scheduler).subscribe(limitedSubscriber)
        #expect(source.requests == [.unlimited])
        // The subscriber has requested no value, so 1 is dropped.
        source.emit(1)
        self.scheduler.advance(milliseconds: 10)
        // The request is for the value 2, and at 2 the subscriber requests one more value, 3. So 4 is dropped.
        limitedSubscriber.demandAfterValue = { $0 == 2 ? .max(1) : .none }
        limitedSubscriber.request(.max(1))
        for value in 2...4 {
            source.emit(value)
            self.scheduler.advance(milliseconds: 10)
        }
        #expect(limitedSubscriber.values == [2, 3])
    }

    @Test(arguments: [true, false])
    func `throttle delivers the first value at once, and at the end of an interval one value of this interval`(
        latest: Bool
    ) {
        self.subject.throttle(for: .milliseconds(100), scheduler: self.scheduler, latest: latest)
            .subscribe(self.subscriber)
        self.subject.send(1)
        #expect(self.subscriber.values == [])
        self.scheduler.runDueActions()
        #expect(self.subscriber.values == [1])
        self.scheduler.advance(milliseconds: 30)
        for value in 2...4 { self.subject.send(value) }
        // The interval of 100 ms ends after 30 + 69 + 1 ms.
        self.scheduler.advance(milliseconds: 69)
        #expect(self.subscriber.values == [1])
        self.scheduler.advance(milliseconds: 1)
        let valueOfInterval = latest ? 4 : 2
        #expect(self.subscriber.values == [1, valueOfInterval])
        self.scheduler.advance(milliseconds: 250)
        #expect(self.subscriber.values.count == 2)
        // More than an interval has passed since the last delivery, so the next value is delivered at once.
        self.subject.send(5)
        self.scheduler.runDueActions()
        #expect(self.subscriber.values == [1, valueOfInterval, 5])
    }

    @Test func `throttle delivers the waiting value at the end of the interval, and then the completion`() {
        self.subject.throttle(for: .milliseconds(100), scheduler: self.scheduler, latest: true)
            .subscribe(self.subscriber)
        self.subject.send(1)
        self.scheduler.runDueActions()
        self.subject.send(2)
        self.subject.send(completion: .failure(TestError()))
        self.subject.send(3)
        self.scheduler.advance(milliseconds: 99)
        #expect(self.subscriber.completions == [])
        self.scheduler.advance(milliseconds: 1)
        #expect(self.subscriber.values == [1, 2])
        #expect(self.subscriber.completions == [.failure(TestError())])
    }

    @Test func `throttle completes at once if no value waits`() {
        self.subject.throttle(for: .seconds(1), scheduler: self.scheduler, latest: false).subscribe(self.subscriber)
        // The second completion is ignored.
        self.subject.send(completion: .finished)
        self.subject.send(completion: .finished)
        self.scheduler.runDueActions()
        #expect(self.subscriber.completions == [.finished])
    }

    @Test func `after a cancel, debounce, throttle and receive deliver nothing that was waiting`() {
        let otherSubscribers = (0..<2).map { _ in ManualSubscriber<Int, TestError>(asking: .unlimited) }
        self.subject.debounce(for: .seconds(1), scheduler: self.scheduler).subscribe(self.subscriber)
        self.subject.throttle(for: .seconds(1), scheduler: self.scheduler, latest: true).subscribe(otherSubscribers[0])
        self.subject.receive(on: self.scheduler).subscribe(otherSubscribers[1])
        self.subject.send(1)
        self.subject.send(completion: .finished)
        let allSubscribers = [self.subscriber] + otherSubscribers
        for subscriber in allSubscribers { subscriber.cancel() }
        self.scheduler.advance(milliseconds: 3_000)
        for subscriber in allSubscribers {
            #expect(subscriber.values.isEmpty)
            #expect(subscriber.completions.isEmpty)
        }
    }

    @Test func `receive delivers each value and then the completion on the scheduler, in order`() {
        self.subject.receive(on: self.scheduler).subscribe(self.subscriber)
        for value in 1...3 { self.subject.send(value) }
        self.subject.send(completion: .finished)
        #expect(self.subscriber.values == [])
        // Three values and the completion wait.
        #expect(self.scheduler.waitingCount == 4)
        self.scheduler.runDueActions()
        #expect(self.subscriber.values == [1, 2, 3])
        #expect(self.subscriber.completions == [.finished])
    }

    @Test func `receive passes on the demand that the subscriber returns`() {
        let source = UnrulyPublisher<Int, TestError>()
        let limitedSubscriber = ManualSubscriber<Int, TestError>(asking: .max(1))
        limitedSubscriber.demandAfterValue = { _ in .max(2) }
        source.receive(on: self.scheduler).subscribe(limitedSubscriber)
        source.emit(1)
        // The subscriber gets the value later, so its demand is not returned here, but requested later.
        #expect(source.returnedDemands == [.none])
        self.scheduler.runDueActions()
        #expect(source.requests == [.max(1), .max(2)])
    }
}
