// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import MachineKit
import Observability
import TallyMachine
import Testing

@testable import ServiceShell

/// Tests of how owners of a partition find the input that ends their processes; "1", "2", … name the processes.
///
/// An owner writes a record of attempts when it acquires the partition, and before it processes an input alone (not
/// with its batch). An owner that finds the record of a dead owner at the committed offset processes inputs alone. The
/// record counts how many owners have begun to process an input alone. After two of them the next owner sets the input
/// aside.
@Suite struct ProcessingAttemptsTests {
    /// An input that no due rows precede has one step, 0: the input itself.
    private static let firstStep = 0

    /// The attempts of an owner that has acquired the partition and found `record` there, its predecessor's last
    /// record.
    private static func attemptsAfterTakeover(
        _ record: ProcessingAttempts.Record?, by process: String, at offset: Int64
    )
        -> ProcessingAttempts
    {
        var attempts = ProcessingAttempts(process: process)
        attempts.restore(record)
        _ = attempts.recordForAcquisition(at: offset)
        return attempts
    }

    @Test func `an owner whose predecessor made progress processes whole batches`() {
        var firstOwner = ProcessingAttempts(process: "1")
        let record = firstOwner.recordForAcquisition(at: 40)
        #expect(record != nil)
        #expect(!firstOwner.mustProcessAlone(at: 40))
        // The first owner has committed the input at 40.
        let secondOwner = Self.attemptsAfterTakeover(record, by: "2", at: 41)
        #expect(!secondOwner.mustProcessAlone(at: 41))
    }

    @Test func `an input that is the next one at the acquisition is set aside after three owners have died at it`() {
        var firstOwner = ProcessingAttempts(process: "1")
        var record = firstOwner.recordForAcquisition(at: 40)
        // "1" dies in its first batch; "2" and "3" die while they process the input alone.
        for process in ["2", "3"] {
            var owner = Self.attemptsAfterTakeover(record, by: process, at: 40)
            #expect(owner.mustProcessAlone(at: 40))
            guard case .process(let written?) = owner.beginAlone(step: Self.firstStep, at: 40) else {
                Issue.record("\(process) does not process the input, or writes no record")
                return
            }
            record = written
        }
        var fourthOwner = Self.attemptsAfterTakeover(record, by: "4", at: 40)
        #expect(fourthOwner.beginAlone(step: Self.firstStep, at: 40) == .setAside)
        // The attempts of the next input are counted from 1.
        guard case .process(let nextRecord?) = fourthOwner.beginAlone(step: Self.firstStep, at: 41) else {
            Issue.record("the next input is not processed")
            return
        }
        #expect(nextRecord.count == 1)
    }

    @Test func `an input in the middle of a batch is found and set aside by owners that process inputs alone`() {
        var firstOwner = ProcessingAttempts(process: "1")
        var record = firstOwner.recordForAcquisition(at: 40)
        // The input at `deadlyOffset` ends each owner. The first one has died while it processed the whole batch. The
        // others commit each input before it alone.
        let deadlyOffset: Int64 = 45
        var offset: Int64 = 40
        var deathCount = 1
        for process in 2...9 {
            var owner = Self.attemptsAfterTakeover(record, by: "\(process)", at: offset)
            while true {
                #expect(owner.mustProcessAlone(at: offset))
                switch owner.beginAlone(step: Self.firstStep, at: offset) {
                case .setAside:
                    #expect(offset == deadlyOffset)
                    #expect(deathCount == 3)
                    return
                case .process(let written): record = written ?? record
                }
                if offset == deadlyOffset { break }
                offset += 1
            }
            deathCount += 1
        }
        Issue.record("the input was never set aside")
    }

    @Test func `an owner whose session begins again after an error does not count as dead`() {
        var owner = ProcessingAttempts(process: "1")
        var record = owner.recordForAcquisition(at: 40)
        for _ in 0..<10 {
            owner = Self.attemptsAfterTakeover(record, by: "1", at: 40)
            #expect(!owner.mustProcessAlone(at: 40))
            guard case .process(let written) = owner.beginAlone(step: Self.firstStep, at: 40) else {
                Issue.record("the input was set aside")
                return
            }
            record = written ?? record
        }
    }

    @Test func `an owner that gives up the partition alive does not count as dead`() {
        var record: ProcessingAttempts.Record?
        for process in ["1", "2", "3", "4"] {
            var owner = Self.attemptsAfterTakeover(record, by: process, at: 40)
            #expect(!owner.mustProcessAlone(at: 40))
            #expect(owner.recordForRelease(at: 41) == nil, "the record is of another offset, 40")
            record = owner.recordForRelease(at: 40)
            #expect(record?.process == "", "no process has died")
        }
        // "5" dies with its batch and "6" with the input alone. "7" gives up the partition while it processes the input
        // alone.
        var owner = ProcessingAttempts(process: "5")
        owner.restore(record)
        record = owner.recordForAcquisition(at: 40)
        for process in ["6", "7"] {
            owner = Self.attemptsAfterTakeover(record, by: process, at: 40)
            guard case .process(let written?) = owner.beginAlone(step: Self.firstStep, at: 40) else {
                Issue.record("\(process) does not process the input, or writes no record")
                return
            }
            record = written
        }
        #expect(record?.count == 2, "\"6\" and \"7\" have begun to process the input alone")
        record = owner.recordForRelease(at: 40)
        #expect(record?.count == 1, "\"7\" has withdrawn its attempt")
        // "8" dies with the input alone. This is the third death, after those of "5" and "6".
        owner = Self.attemptsAfterTakeover(record, by: "8", at: 40)
        guard case .process(let written?) = owner.beginAlone(step: Self.firstStep, at: 40) else {
            Issue.record("\"8\" set the input aside after only two deaths")
            return
        }
        owner = Self.attemptsAfterTakeover(written, by: "9", at: 40)
        #expect(owner.beginAlone(step: Self.firstStep, at: 40) == .setAside)
    }

    @Test func `a due row and the input after it are different steps`() {
        var owner = ProcessingAttempts(process: "1")
        owner.isolate(until: 50)
        guard case .process(let dueRow?) = owner.beginAlone(step: Self.firstStep, at: 40),
            case .process(let input?) = owner.beginAlone(step: 1, at: 40)
        else {
            Issue.record("a step is not processed, or has no record")
            return
        }
        #expect(dueRow.step == 0 && input.step == 1)
    }

    @Test func `an owner that may have been replaced must not withdraw its attempt, and one with another failure may`()
    {
        func canWithdraw(_ failure: (any Error)?, isLeaseDoubtful: Bool = false) -> Bool {
            ProcessingAttempts.canWithdraw(after: failure, isLeaseDoubtful: isLeaseDoubtful)
        }
        #expect(!canWithdraw(KafkaError(.fenced, "")))
        #expect(!canWithdraw(ProcessorError.fenced))
        let noFailure: (any Error)? = nil
        #expect(!canWithdraw(noFailure, isLeaseDoubtful: true))
        #expect(!canWithdraw(KafkaError(.timedOut, ""), isLeaseDoubtful: true))
        #expect(canWithdraw(noFailure))
        #expect(canWithdraw(KafkaError(.timedOut, "")))
        #expect(canWithdraw(KafkaError(.accessDenied, "")))
    }

    @Test
    func `the rows of a revoked partition are kept only if no other owner has written anything meanwhile`()
        throws
    {
        let committed = OffsetAndMetadata(offset: 100)
        let processor = MachineProcessor(TallyMachine(), log: .none, malformed: Counter())
        let partition = try OwnedPartition(
            TopicPartition("inbox", 0), processor, committed: committed, storage: .offsetMetadata, process: "1")
        // `end` is the present end of the topic to which another owner would have written first. As long as the end at
        // the revocation is not known, no present end proves that nothing was written.
        #expect(!partition.isUnchanged(committed: committed, end: nil))
        #expect(!partition.isUnchanged(committed: committed, end: 7))
        partition.endAtRevocation = 7
        #expect(partition.isUnchanged(committed: committed, end: 7))
        // Another owner has written a record of attempts, and has died in its first batch without a commit.
        #expect(!partition.isUnchanged(committed: committed, end: 8))
        #expect(!partition.isUnchanged(committed: committed, end: nil))
        #expect(!partition.isUnchanged(committed: OffsetAndMetadata(offset: 101), end: 7))
    }

    @Test func `a record whose offset, step and count are the highest numbers does not trap`() {
        _ = Self.attemptsAfterTakeover(
            ProcessingAttempts.Record(offset: .max, step: .max, count: .max, aloneUntil: nil, process: "x"), by: "1",
            at: .max)
    }
}
