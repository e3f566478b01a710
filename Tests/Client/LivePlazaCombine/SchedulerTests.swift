// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import LivePlazaCombine
import Testing

/// Dispatch queues, operation queues and run loops as schedulers, in real time.
///
/// The tests check the queue or thread on which actions run, and the order of actions, but not the time.
@Suite(.timeLimit(.minutes(1))) struct SchedulerTests {
    /// Waits for the completion of a publisher, and returns its values.
    private func values<P: Publisher>(of publisher: P) async -> [P.Output] where P.Output: Sendable {
        let values = LockedList<P.Output>()
        let cancellables = LockedList<AnyCancellable>()
        await withCheckedContinuation { continuation in
            cancellables.append(
                publisher.sink(receiveCompletion: { _ in continuation.resume() }, receiveValue: { values.append($0) }))
        }
        return values.all
    }

    @Test func `a serial queue delivers values in order, on the queue`() async {
        let queue = DispatchQueue(label: "test")
        // Only this queue has the value 7 for the key.
        let key = DispatchSpecificKey<Int>()
        queue.setSpecific(key: key, value: 7)
        let valuesAndKeys = await self.values(
            of: (0..<100).publisher.receive(on: queue).map { [$0, DispatchQueue.getSpecific(key: key) ?? 0] })
        #expect(valuesAndKeys == (0..<100).map { [$0, 7] })
    }

    @Test func `a concurrent queue delivers values in order, one at a time`() async {
        let queue = DispatchQueue(label: "test", attributes: .concurrent)
        let values = await self.values(of: (0..<2_000).publisher.receive(on: queue))
        #expect(values == Array(0..<2_000))
    }

    @Test func `an operation queue delivers values in order`() async {
        let values = await self.values(of: (0..<200).publisher.receive(on: OperationQueue()))
        #expect(values == Array(0..<200))
    }

    /// On Linux, another thread may serve the main queue once the main thread has ended, so the test checks the queue.
    @Test func `values are delivered on the main queue if this queue is the scheduler`() async {
        let key = DispatchSpecificKey<Bool>()
        DispatchQueue.main.setSpecific(key: key, value: true)
        let wereOnMainQueue = await self.values(
            of: Just(0).receive(on: DispatchQueue.main).map { _ in DispatchQueue.getSpecific(key: key) ?? false })
        #expect(wereOnMainQueue == [true])
    }

    @Test func `debounce and throttle deliver the last value with the timers of a dispatch queue`() async {
        let queue = DispatchQueue(label: "test")
        let subject = PassthroughSubject<Int, Never>()
        let values = LockedList<Int>()
        let cancellables = LockedList<AnyCancellable>()
        await withCheckedContinuation { continuation in
            cancellables.append(
                subject.debounce(for: .milliseconds(5), scheduler: queue).sink {
                    values.append($0)
                    continuation.resume()
                })
            for value in 1...5 { subject.send(value) }
        }
        #expect(values.all.last == 5)
        // The interval in seconds: 5 ms.
        let throttled = await self.values(
            of: [1, 2, 3].publisher.throttle(for: 0.005, scheduler: queue, latest: true))
        #expect(throttled.last == 3)
    }

    @Test func `a repeated action stops when it is cancelled`() async {
        let queue = DispatchQueue(label: "test")
        // One element for each run of the first action, which cancels itself in its third run.
        let runs = LockedList<Int>()
        // One element for each run of a second action, with the same interval, since the first one was cancelled.
        let laterRuns = LockedList<Int>()
        let cancellables = LockedList<any Cancellable>()
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            // The queue runs no action before both cancellables are recorded.
            queue.sync {
                cancellables.append(
                    queue.schedule(after: queue.now, interval: .milliseconds(1)) {
                        runs.append(1)
                        if runs.all.count == 3 { cancellables.all[0].cancel() }
                    })
                cancellables.append(
                    queue.schedule(after: queue.now, interval: .milliseconds(1)) {
                        if runs.all.count >= 3 { laterRuns.append(1) }
                        // During 20 runs of the second action, the first one would run again if it were not cancelled.
                        if laterRuns.all.count == 20 {
                            cancellables.all[1].cancel()
                            continuation.resume()
                        }
                    })
            }
        }
        #expect(runs.all.count == 3)
    }

    @Test func `a run loop delivers values on its own thread, in order`() async {
        let subject = PassthroughSubject<Int, Never>()
        let values = LockedList<String>()
        // Contains the thread's loop once the thread is ready to receive values.
        let readyLoops = LockedList<RunLoop>()
        await withCheckedContinuation { continuation in
            let thread = Thread {
                let loopThread = Thread.current
                var isDone = false
                let cancellable = subject.receive(on: RunLoop.current).sink { value in
                    values.append("\(value) \(Thread.current === loopThread)")
                    isDone = value == 3
                }
                // A loop without a source or timer would not wait, so it gets a timer that never fires.
                RunLoop.current.add(
                    Timer(fire: .distantFuture, interval: 0, repeats: false) { _ in }, forMode: .default)
                readyLoops.append(RunLoop.current)
                // `run` does not return when it has run a scheduled action. Therefore it has a deadline of 50 ms, after
                // which the loop checks `isDone`.
                while !isDone { _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05)) }
                cancellable.cancel()
                continuation.resume()
            }
            thread.start()
            DispatchQueue.global().async {
                // The values are sent only after the thread has added its loop.
                while readyLoops.all.isEmpty { DispatchQueue.global().sync {} }
                for value in 1...3 { subject.send(value) }
            }
        }
        #expect(values.all == ["1 true", "2 true", "3 true"])
    }

    @Test func `a run loop performs an action once after a delay, and another repeatedly`() {
        let loop = RunLoop.current
        var runCount = 0
        var hasDelayedRun = false
        loop.schedule(after: loop.now.advanced(by: .milliseconds(5))) { hasDelayedRun = true }
        let repeatedAction = loop.schedule(after: loop.now, interval: .milliseconds(1)) { runCount += 1 }
        while runCount < 3 || !hasDelayedRun { _ = loop.run(mode: .default, before: Date(timeIntervalSinceNow: 0.02)) }
        repeatedAction.cancel()
        #expect(runCount >= 3)
    }

    @Test func `strides of time convert between units, add up and stay within their limits`() {
        typealias Span = DispatchQueue.SchedulerTimeType.Stride
        // The magnitude is in nanoseconds; a literal is in seconds.
        #expect(Span.seconds(2).magnitude == 2_000_000_000)
        #expect(Span.seconds(0.5) == .milliseconds(500))
        #expect(Span.milliseconds(1) + .microseconds(1) == .nanoseconds(1_001_000))
        #expect(1.5 as Span == .milliseconds(1_500))
        #expect(2 as Span == .seconds(2))
        #expect(Span.seconds(Double.infinity).magnitude == .max)
        #expect(Span.seconds(Int.max).magnitude == .max)
        let time = DispatchQueue.SchedulerTimeType(DispatchTime(uptimeNanoseconds: 5_000))
        #expect(time.advanced(by: .microseconds(1)).dispatchTime.uptimeNanoseconds == 6_000)
        #expect(time.distance(to: time.advanced(by: .nanoseconds(-7))) == .nanoseconds(-7))
        #expect(RunLoop.SchedulerTimeType.Stride.milliseconds(250).timeInterval == 0.25)
        let date = OperationQueue.SchedulerTimeType(Date(timeIntervalSinceReferenceDate: 10))
        #expect(date.distance(to: date.advanced(by: .seconds(3))) == .seconds(3))
    }
}
