// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import MachineKit
import Observability
import TallyMachine
import Testing

@testable import ServiceShell

/// Tests of how the owners of a partition find an input that ends their processes; "1", "2", … name the processes.
///
/// An owner is the instance of a service that has acquired the partition and processes its inputs. It writes a record
/// of attempts when it acquires the partition, before each chunk of suspect inputs, and before each suspect input that
/// it processes alone. If the owner dies, the next owner finds the record at the committed offset, and the inputs from
/// there on are suspect. An owner processes many suspect inputs in chunks. It processes inputs alone if they are few,
/// or if a former owner died in their chunk. The record counts the owners that have begun to process an input alone.
/// After two such owners, the next owner sets the input aside: it writes the input to the dead letter topic.
@Suite struct ProcessingAttemptsTests {
    /// The number of the only step of an input before which no row of the machine is due: the input itself.
    private static let firstStep = 0
    /// The argument `row` for the step of the input itself; for the step of a due row, the argument is the row's key.
    private static let input = ""
    /// The generation of an owner that has found a backlog of more than 1000 inputs, of which at most 1000 are suspect.
    ///
    /// A generation is the offset of the tick (an empty record) with which an owner acquired the partition.
    private static let lateGeneration: Int64 = 5000

    /// The attempts of an owner that has acquired the partition at the committed offset `offset`, and has found
    /// `record` there: the last record of the former owner.
    private static func attemptsAfterTakeover(
        _ record: ProcessingAttempts.Record?, by process: String, at offset: Int64, generation: Int64 = lateGeneration
    ) -> ProcessingAttempts {
        var attempts = ProcessingAttempts(process: process)
        attempts.restore(record)
        _ = attempts.beginOwnership(at: offset, generation: generation)
        return attempts
    }

    @Test func `an owner whose predecessor made progress processes whole batches`() {
        var firstOwner = ProcessingAttempts(process: "1")
        let record = firstOwner.beginOwnership(at: 40, generation: Self.lateGeneration)
        #expect(record != nil)
        #expect(!firstOwner.isSuspect(at: 40))
        // The first owner has committed the input at 40.
        let secondOwner = Self.attemptsAfterTakeover(record, by: "2", at: 41)
        #expect(!secondOwner.isSuspect(at: 41))
    }

    @Test func `an input that is the next one at the acquisition is set aside after three owners have died at it`() {
        var firstOwner = ProcessingAttempts(process: "1")
        var record = firstOwner.beginOwnership(at: 40, generation: Self.lateGeneration)
        // "1" dies in its first batch; "2" and "3" die while they process the input alone.
        for process in ["2", "3"] {
            // Only the input at 40 was there when the owner acquired the partition with the tick at 41.
            var owner = Self.attemptsAfterTakeover(record, by: process, at: 40, generation: 41)
            #expect(owner.isSuspect(at: 40))
            #expect(owner.chooseChunkLength(of: 1, until: 41, at: 40) == 1)
            guard case .process(let written?) = owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) else {
                Issue.record("\(process) does not process the input, or writes no record")
                return
            }
            record = written
        }
        let fourthOwner = Self.attemptsAfterTakeover(record, by: "4", at: 40)
        #expect(fourthOwner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) == .setAside)
        // The attempts of the next input are counted from 1.
        guard case .process(let nextRecord?) = fourthOwner.stepDecision(row: Self.input, step: Self.firstStep, at: 41)
        else {
            Issue.record("the next input is not processed")
            return
        }
        #expect(nextRecord.count == 1)
    }

    @Test(arguments: [(polledCount: 6, deaths: 3), (polledCount: 32, deaths: 3), (polledCount: 900, deaths: 4)])
    func `an input in the middle of a batch is found and set aside by owners that process chunks and inputs alone`(
        polledCount: Int, deaths: Int
    ) {
        var firstOwner = ProcessingAttempts(process: "1")
        var record = firstOwner.beginOwnership(at: 40, generation: Self.lateGeneration)
        // The input at `deadlyOffset` ends each owner. The first owner has died while it processed the whole batch. The
        // further owners commit what they process before the deadly input.
        let (end, deadlyOffset) = (Int64(40 + polledCount), Int64(40 + polledCount - 5))
        var offset: Int64 = 40
        var deathCount = 1
        // Each attempt, at a chunk or at an input alone, costs a record of attempts and a commit of its own.
        var attemptCount = 0
        for process in 2...9 {
            var owner = Self.attemptsAfterTakeover(record, by: "\(process)", at: offset, generation: end - 1)
            attempts: while true {
                guard owner.isSuspect(at: offset) else {
                    Issue.record("the input at \(offset) is not suspect")
                    return
                }
                let length = owner.chooseChunkLength(of: Int(end - offset), until: end, at: offset)
                attemptCount += 1
                if length > 1 {
                    let chunkEnd = offset + Int64(length)
                    let chunk = owner.recordForChunk(until: chunkEnd, at: offset)
                    owner.recordWritten(chunk)
                    record = chunk
                    if deadlyOffset < chunkEnd { break attempts }
                    offset = chunkEnd
                    continue
                }
                switch owner.stepDecision(row: Self.input, step: Self.firstStep, at: offset) {
                case .setAside:
                    #expect(offset == deadlyOffset)
                    #expect(deathCount == deaths)
                    #expect(attemptCount < 70, "the inputs of a large batch must not be processed one by one")
                    return
                case .process(let written):
                    if let written { owner.recordWritten(written) }
                    record = written ?? record
                }
                if offset == deadlyOffset { break attempts }
                offset += 1
            }
            // The loop `attempts` ends when the owner dies.
            deathCount += 1
        }
        Issue.record("the input was never set aside")
    }

    @Test func `inputs that arrived after the takeover are not suspect`() {
        var firstOwner = ProcessingAttempts(process: "1")
        let record = firstOwner.beginOwnership(at: 40, generation: 40)
        var secondOwner = ProcessingAttempts(process: "2")
        secondOwner.restore(record)
        // The second owner has acquired the partition with the tick at 47.
        _ = secondOwner.beginOwnership(at: 40, generation: 47)
        #expect(secondOwner.isSuspect(at: 47))
        #expect(!secondOwner.isSuspect(at: 48))
    }

    @Test func `after the chunk in which an owner died, the other suspect inputs are processed in chunks`() {
        // "1" has died in the chunk of the 32 inputs 40 to 71. At most 1000 inputs, 40 to 1039, are suspect.
        var owner = Self.attemptsAfterTakeover(
            ProcessingAttempts.Record(offset: 40, step: 0, count: 0, aloneUntil: 72, process: "1"), by: "2", at: 40)
        #expect(owner.chooseChunkLength(of: 900, until: 940, at: 40) == 1)
        #expect(owner.chooseChunkLength(of: 869, until: 940, at: 71) == 1)
        #expect(owner.chooseChunkLength(of: 868, until: 940, at: 72) == ProcessingAttempts.chunkSize)
        #expect(owner.isSuspect(at: 1039))
        #expect(!owner.isSuspect(at: 1040))
    }

    @Test func `few polled inputs of many suspect ones are a chunk, and the last few are processed alone`() {
        let record = ProcessingAttempts.Record(offset: 40, step: 0, count: 0, aloneUntil: nil, process: "1")
        var owner = ProcessingAttempts(process: "2")
        owner.restore(record)
        _ = owner.beginOwnership(at: 40, generation: 99)
        #expect(owner.chooseChunkLength(of: 3, until: 43, at: 40) == 3)
        #expect(owner.chooseChunkLength(of: 1, until: 44, at: 43) == 1, "a chunk of one input is that input alone")
        #expect(owner.chooseChunkLength(of: 33, until: 100, at: 67) == ProcessingAttempts.chunkSize)
        // The polled inputs are 98 to 117, and the owner's tick is at 99. Only 98 and 99 are suspect, so they are few.
        #expect(owner.chooseChunkLength(of: 20, until: 118, at: 98) == 1)
        #expect(owner.isSuspect(at: 99))
        #expect(!owner.isSuspect(at: 100))
    }

    @Test func `an owner that was fenced in a chunk does not count as an attempt at each input of the chunk`() {
        // A fenced owner has lost the partition to another owner. "1" was fenced in its batch and "2" in the chunk of
        // the inputs 40 to 71; both are alive.
        let chunk = ProcessingAttempts.Record(offset: 40, step: 0, count: 0, aloneUntil: 72, process: "2")
        // "1" processes the inputs 40 to 44 alone, and is fenced in the input 45.
        var owner = Self.attemptsAfterTakeover(chunk, by: "1", at: 40)
        var record = chunk
        for offset in Int64(40)...45 {
            guard case .process(let written?) = owner.stepDecision(row: Self.input, step: Self.firstStep, at: offset)
            else {
                Issue.record("the input at \(offset) has no record, or is set aside")
                return
            }
            owner.recordWritten(written)
            record = written
        }
        let nextOwner = Self.attemptsAfterTakeover(record, by: "2", at: 45)
        guard case .process(let written?) = nextOwner.stepDecision(row: Self.input, step: Self.firstStep, at: 45) else {
            Issue.record("the input at 45 is set aside after one attempt")
            return
        }
        #expect(written.count == 2)
    }

    @Test func `after a chunk of the same process, the first attempt at one input alone is counted`() {
        var owner = ProcessingAttempts(process: "1")
        owner.suspect(until: 900, count: 900)
        let chunk = owner.recordForChunk(until: 72, at: 40)
        owner = Self.attemptsAfterTakeover(chunk, by: "1", at: 40)
        #expect(owner.chooseChunkLength(of: 900, until: 940, at: 40) == 1)
        guard case .process(let record?) = owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) else {
            Issue.record("the attempt has no record")
            return
        }
        #expect(record.count == 1)
    }

    @Test func `the inputs of a failed batch are processed in chunks, and those of a failed chunk alone`() {
        var owner = ProcessingAttempts(process: "1")
        #expect(!owner.isSuspect(at: 0))
        owner.suspect(until: 900, count: 900)
        #expect(owner.chooseChunkLength(of: 900, until: 900, at: 0) == ProcessingAttempts.chunkSize)
        owner.suspect(until: 32, count: 32)
        #expect(owner.chooseChunkLength(of: 900, until: 900, at: 31) == 1)
        #expect(owner.chooseChunkLength(of: 868, until: 900, at: 32) == ProcessingAttempts.chunkSize)
        #expect(!owner.isSuspect(at: 900))
    }

    @Test func `an owner whose session begins again after an error does not count as dead`() {
        var owner = ProcessingAttempts(process: "1")
        var record = owner.beginOwnership(at: 40, generation: Self.lateGeneration)
        for _ in 0..<10 {
            owner = Self.attemptsAfterTakeover(record, by: "1", at: 40)
            #expect(!owner.isSuspect(at: 40))
            guard case .process(let written) = owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) else {
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
            #expect(!owner.isSuspect(at: 40))
            #expect(owner.endOwnership(at: 41) == nil, "the record is of another offset, 40")
            record = owner.endOwnership(at: 40)
            #expect(record?.process == "", "no process has died")
        }
        // "5" dies with its batch and "6" with the input alone. "7" gives up the partition while it processes the input
        // alone.
        var owner = ProcessingAttempts(process: "5")
        owner.restore(record)
        record = owner.beginOwnership(at: 40, generation: Self.lateGeneration)
        for process in ["6", "7"] {
            owner = Self.attemptsAfterTakeover(record, by: process, at: 40)
            guard case .process(let written?) = owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) else {
                Issue.record("\(process) does not process the input, or writes no record")
                return
            }
            owner.recordWritten(written)
            record = written
        }
        #expect(record?.count == 2, "\"6\" and \"7\" have begun to process the input alone")
        record = owner.endOwnership(at: 40)
        #expect(record?.count == 1, "\"7\" has withdrawn its attempt")
        // "8" dies with the input alone. This is the third death, after those of "5" and "6".
        owner = Self.attemptsAfterTakeover(record, by: "8", at: 40)
        guard case .process(let written?) = owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) else {
            Issue.record("\"8\" set the input aside after only two deaths")
            return
        }
        owner = Self.attemptsAfterTakeover(written, by: "9", at: 40)
        #expect(owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) == .setAside)
    }

    @Test func `a record that could not be written is written before the next attempt`() {
        var owner = Self.attemptsAfterTakeover(
            ProcessingAttempts.Record(offset: 40, step: 0, count: 1, aloneUntil: 41, process: "1"), by: "2", at: 40)
        let record = ProcessingAttempts.Record(
            offset: 40, step: 0, count: 2, aloneUntil: 41, process: "2", row: Self.input)
        // The broker does not acknowledge the record, so the owner tries again.
        for _ in 0..<3 {
            #expect(owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) == .process(record))
        }
        owner.recordWritten(record)
        #expect(owner.stepDecision(row: Self.input, step: Self.firstStep, at: 40) == .process(nil))
    }

    @Test func `the attempts at a due row do not count for the row or the input after it`() {
        // Two rows are due before the input: "a" (step 0) and "b" (step 1). "1" has died with the row "a". "2" has
        // handled "a" and died with the row "b". The next owner finds the row "b" as step 0, where "a" was.
        let firstRowRecord = ProcessingAttempts.Record(
            offset: 40, step: 0, count: 1, aloneUntil: 41, process: "1", row: "a")
        var owner = Self.attemptsAfterTakeover(firstRowRecord, by: "2", at: 40)
        guard case .process(let secondRowRecord?) = owner.stepDecision(row: "b", step: 1, at: 40) else {
            Issue.record("the row has no record, or is set aside")
            return
        }
        #expect(secondRowRecord.count == 1)
        owner = Self.attemptsAfterTakeover(secondRowRecord, by: "3", at: 40)
        guard case .process(let repeatedRecord?) = owner.stepDecision(row: "b", step: 0, at: 40) else {
            Issue.record("the row has no record, or is set aside")
            return
        }
        #expect(repeatedRecord.count == 2, "the row's second attempt counts although its step has another number now")
        owner = Self.attemptsAfterTakeover(repeatedRecord, by: "4", at: 40)
        #expect(owner.stepDecision(row: "b", step: 0, at: 40) == .setAside)
        guard case .process(let inputRecord?) = owner.stepDecision(row: Self.input, step: 0, at: 40) else {
            Issue.record("the input after the row has no record, or is set aside")
            return
        }
        #expect(inputRecord.count == 1)
    }

    @Test func `the steps of an older version's record are identified by their numbers`() {
        let record = ProcessingAttempts.Record(offset: 40, step: 1, count: 2, aloneUntil: 41, process: "1")
        let owner = Self.attemptsAfterTakeover(record, by: "2", at: 40)
        #expect(owner.stepDecision(row: "b", step: 1, at: 40) == .setAside)
        #expect(owner.stepDecision(row: "b", step: 0, at: 40) != .setAside)
    }

    @Test func `an owner may withdraw its attempt unless another owner may have replaced it`() {
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
        // `end` is the present end of the topic to which another owner would have written first. While the end at the
        // time of the revocation is not known, no present end proves that nothing was written.
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
