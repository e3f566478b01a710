// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

@testable import ServiceShell

@Suite struct ProcessingAttemptsTests {
    /// The attempts of an owner that has restored `record`, the last record of the previous owner.
    private static func takeover(_ record: ProcessingAttempts.Record?, by process: String, at offset: Int64)
        -> ProcessingAttempts
    {
        var attempts = ProcessingAttempts(process: process)
        attempts.restore(record)
        _ = attempts.acquired(at: offset)
        return attempts
    }

    @Test func `an owner that follows one that made progress processes whole batches`() {
        var first = ProcessingAttempts(process: "1")
        let record = first.acquired(at: 40)
        #expect(record != nil)
        #expect(!first.mustProcessAlone(at: 40))
        let second = Self.takeover(record, by: "2", at: 41)
        #expect(!second.mustProcessAlone(at: 41))
    }

    @Test func `the first input after an acquisition is set aside after it ended three owners`() {
        var first = ProcessingAttempts(process: "1")
        var record = first.acquired(at: 40)
        for process in ["2", "3"] {
            var owner = Self.takeover(record, by: process, at: 40)
            #expect(owner.mustProcessAlone(at: 40))
            guard case .process(let written?) = owner.beginAlone(step: 0, at: 40) else {
                Issue.record("not processed by \(process)")
                return
            }
            record = written
        }
        var last = Self.takeover(record, by: "4", at: 40)
        #expect(last.beginAlone(step: 0, at: 40) == .setAside)
        // The attempts of the next input are counted from 1.
        guard case .process(let next?) = last.beginAlone(step: 0, at: 41) else {
            Issue.record("the next input is not processed")
            return
        }
        #expect(next.count == 1)
    }

    @Test func `an input in the middle of a batch is found by the owners that process inputs alone`() {
        var first = ProcessingAttempts(process: "1")
        var record = first.acquired(at: 40)
        var offset: Int64 = 40
        var deaths = 1
        for process in 2...9 {
            var owner = Self.takeover(record, by: "\(process)", at: offset)
            while true {
                #expect(owner.mustProcessAlone(at: offset))
                switch owner.beginAlone(step: 0, at: offset) {
                case .setAside:
                    #expect(offset == 45)
                    #expect(deaths == 3)
                    return
                case .process(let written): record = written ?? record
                }
                if offset == 45 { break }  // This input ends its owner.
                offset += 1
            }
            deaths += 1
        }
        Issue.record("the input was never set aside")
    }

    @Test func `an owner that begins again after an error does not count as dead`() {
        var owner = ProcessingAttempts(process: "1")
        var record = owner.acquired(at: 40)
        for _ in 0..<10 {
            owner = Self.takeover(record, by: "1", at: 40)
            #expect(!owner.mustProcessAlone(at: 40))
            guard case .process(let written) = owner.beginAlone(step: 0, at: 40) else {
                Issue.record("set aside")
                return
            }
            record = written ?? record
        }
    }

    @Test func `a due row and the input after it are different steps`() {
        var owner = ProcessingAttempts(process: "1")
        owner.isolate(until: 50)
        guard case .process(let dueRow?) = owner.beginAlone(step: 0, at: 40),
            case .process(let input?) = owner.beginAlone(step: 1, at: 40)
        else {
            Issue.record("not processed")
            return
        }
        #expect(dueRow.step == 0 && input.step == 1)
    }

    @Test func `offsets at the end of their range do not trap`() {
        _ = Self.takeover(
            ProcessingAttempts.Record(offset: .max, step: .max, count: .max, aloneUntil: nil, process: "x"), by: "1",
            at: .max)
    }
}

@Suite struct ProgressWatchTests {
    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    @Test func `work without progress for ten seconds is a stall, and progress ends it`() {
        var watch = ProgressWatch()
        watch.workArrived(at: Self.at(100))
        watch.workFailed()
        watch.workArrived(at: Self.at(105))
        #expect(!watch.isStalled(at: Self.at(109)))
        #expect(watch.isStalled(at: Self.at(110)))
        watch.workDone()
        #expect(!watch.isStalled(at: Self.at(200)))
    }

    @Test func `a consumer without work never stalls, nor one whose work went to another member`() {
        var watch = ProgressWatch()
        watch.nothingArrived(at: Self.at(100))
        #expect(!watch.isStalled(at: Self.at(1000)))
        watch.workArrived(at: Self.at(1000))
        watch.nothingArrived(at: Self.at(1004))
        #expect(watch.isStalled(at: Self.at(1010)))
        watch.nothingArrived(at: Self.at(1010))
        #expect(!watch.isStalled(at: Self.at(1011)))
    }

    @Test func `work that waits for an absent broker is no stall, until work comes again`() {
        var watch = ProgressWatch()
        watch.workArrived(at: Self.at(100))
        watch.brokerUnreachable()
        #expect(!watch.isStalled(at: Self.at(200)))
        watch.workArrived(at: Self.at(300))
        #expect(watch.isStalled(at: Self.at(310)))
    }

    @Test func `no retry is without a pause, and none is longer than a second`() {
        var watch = ProgressWatch()
        #expect(watch.retryPause == Milliseconds(50))
        var pauses: [Int64] = []
        for _ in 0..<100 {
            watch.workFailed()
            pauses.append(watch.retryPause.count)
        }
        #expect(Array(pauses.prefix(6)) == [50, 100, 200, 400, 800, 1000])
        #expect(pauses.max() == 1000)
    }

    @Test func `the third session without progress within a minute ends the process`() {
        var stalledSessions = StalledSessions()
        let mustExit = [0, 20, 70, 79].map { stalledSessions.sessionStalled(at: Self.at($0)) }
        #expect(mustExit == [false, false, false, true])
    }

    @Test func `the waiting time begins with the first batch that is not durable`() {
        var watch = ProgressWatch()
        func waitingTime(_ milliseconds: Int64) -> Int64 {
            watch.waitingTime(at: MonotonicTime(milliseconds: milliseconds)).count
        }
        #expect(waitingTime(1000) == 0)
        watch.workArrived(at: MonotonicTime(milliseconds: 1000))
        watch.workArrived(at: MonotonicTime(milliseconds: 4000))
        #expect(waitingTime(5000) == 4000)
        watch.workDone()
        #expect(waitingTime(6000) == 0)
    }
}
