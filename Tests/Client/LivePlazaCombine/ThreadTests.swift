// SPDX-License-Identifier: Apache-2.0
import Dispatch
import Foundation
import LivePlazaCombine
import Testing

/// What subscribers get when several threads send values, subscribe and cancel at the same time.
///
/// The thread sanitizer finds races that these tests miss, so run the tests with the sanitizer, too. `_ = cancellable`
/// keeps a subscription until the end of a test.
@Suite struct ThreadTests {
    private static let threadCount = 4
    private static let valuesPerThread = 2_000

    /// Records values, and counts how often a thread calls `record` while another thread is in this method.
    private final class OverlapDetector: @unchecked Sendable {
        private let lock = NSLock()
        private(set) var overlapCount = 0
        private(set) var values: [Int] = []

        func record(_ value: Int) {
            if !self.lock.try() {
                self.overlapCount += 1
                return
            }
            self.values.append(value)
            self.lock.unlock()
        }
    }

    @Test func `values of several threads all arrive, one at a time, and those of one thread in order`() {
        // Thread 0 sends 0 to 1,999, thread 1 sends 2,000 to 3,999, and so on.
        let subject = PassthroughSubject<Int, Never>()
        let detector = OverlapDetector()
        let cancellable = subject.sink { detector.record($0) }
        DispatchQueue.concurrentPerform(iterations: Self.threadCount) { thread in
            for round in 0..<Self.valuesPerThread { subject.send(thread * Self.valuesPerThread + round) }
        }
        #expect(detector.overlapCount == 0)
        #expect(detector.values.count == Self.threadCount * Self.valuesPerThread)
        for thread in 0..<Self.threadCount {
            let valuesOfThread = detector.values.filter { $0 / Self.valuesPerThread == thread }
            #expect(valuesOfThread == valuesOfThread.sorted())
        }
        _ = cancellable
    }

    @Test func `all subscribers get the values of several threads in the same order, ending with the current value`() {
        let subject = CurrentValueSubject<Int, Never>(-1)
        let (first, second) = (LockedList<Int>(), LockedList<Int>())
        let cancellables = [subject.sink { first.append($0) }, subject.sink { second.append($0) }]
        DispatchQueue.concurrentPerform(iterations: Self.threadCount) { thread in
            for round in 0..<Self.valuesPerThread { subject.send(thread * Self.valuesPerThread + round) }
        }
        #expect(first.all.last == subject.value)
        #expect(first.all == second.all)
        _ = cancellables
    }

    @Test func `a thread may subscribe, cancel or complete a subject while other threads send`() {
        let subject = CurrentValueSubject<Int, Never>(0)
        let (rounds, roundOfCompletion) = (500, 400)
        // The subscriptions that were completed: thread * rounds + round.
        let completed = LockedList<Int>()
        DispatchQueue.concurrentPerform(iterations: Self.threadCount) { thread in
            for round in 0..<rounds {
                let cancellable = subject.map { $0 + 1 }.removeDuplicates()
                    .sink(
                        receiveCompletion: { _ in completed.append(thread * rounds + round) }, receiveValue: { _ in })
                subject.send(round)
                if thread == 0, round == roundOfCompletion { subject.send(completion: .finished) }
                cancellable.cancel()
            }
        }
        #expect(Set(completed.all).count == completed.all.count, "no subscription is completed twice")
        // Thread 0 sends the completion itself, so of its subscriptions exactly those of later rounds are completed.
        // The subscription of the same round is left out: it may be cancelled before its completion is delivered, if
        // another thread is delivering to it at that time.
        let completedByThread0 = completed.all.filter { $0 < rounds && $0 != roundOfCompletion }
        #expect(completedByThread0 == Array(roundOfCompletion + 1..<rounds))
    }

    @Test func `merge and combineLatest of several threads' values call their subscriber one at a time`() {
        let subjects = (0..<Self.threadCount).map { _ in PassthroughSubject<Int, Never>() }
        let (merged, combined) = (OverlapDetector(), OverlapDetector())
        let cancellables = [
            Publishers.MergeMany(subjects).sink { merged.record($0) },
            subjects[0].combineLatest(subjects[1]).sink { combined.record($0 + $1) },
        ]
        for subject in subjects { subject.send(0) }
        DispatchQueue.concurrentPerform(iterations: Self.threadCount) { thread in
            for round in 0..<Self.valuesPerThread { subjects[thread].send(round) }
        }
        #expect(merged.overlapCount == 0)
        #expect(merged.values.count == Self.threadCount * (Self.valuesPerThread + 1))
        #expect(combined.overlapCount == 0)
        // Each subject has sent a 0 before the threads began. The first combination consists of two such zeros, and
        // each later value of the two subjects makes another combination.
        #expect(combined.values.count == 2 * Self.valuesPerThread + 1)
        #expect(combined.values.last == 2 * (Self.valuesPerThread - 1))
        _ = cancellables
    }

    @Test func `after a cancel, at most the value whose delivery is in progress arrives`() {
        let subject = PassthroughSubject<Int, Never>()
        let subscribers = (0..<500).map { _ in LockedList<Int>() }
        // How many values each subscriber had when its cancel returned, in the order of the subscribers.
        let countsAtCancel = LockedList<Int>()
        let valueOfOtherThread = 1
        let valueAfterCancel = 2
        DispatchQueue.concurrentPerform(iterations: 2) { thread in
            // With a single processor the threads may run one after the other. So thread 0, which does not wait for the
            // other thread, has the loop over the subscribers.
            if thread == 1 {
                while countsAtCancel.all.count < subscribers.count { subject.send(valueOfOtherThread) }
                return
            }
            for subscriber in subscribers {
                let cancellable = subject.sink { subscriber.append($0) }
                cancellable.cancel()
                countsAtCancel.append(subscriber.all.count)
                subject.send(valueAfterCancel)
            }
        }
        // Both threads have ended, so no delivery is in progress any more.
        for (subscriber, countAtCancel) in zip(subscribers, countsAtCancel.all) {
            #expect(subscriber.all.allSatisfy { $0 == valueOfOtherThread })
            #expect(subscriber.all.count <= countAtCancel + 1)
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a sender does not wait for a delivery that another thread has in progress`() async {
        let subject = PassthroughSubject<Int, Never>()
        let values = LockedList<Int>()
        let cancellable = subject.sink { value in
            if value == 1 {
                // The other thread's send must return while this delivery is in progress, or `wait` never returns.
                let group = DispatchGroup()
                DispatchQueue.global().async(group: group) { subject.send(2) }
                group.wait()
                values.append(1)
            } else {
                values.append(value)
            }
        }
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                subject.send(1)
                continuation.resume()
            }
        }
        #expect(values.all == [1, 2])
        _ = cancellable
    }
}
