// SPDX-License-Identifier: Apache-2.0
import KafkaClient
import MachineKit
import PlazaModel
import Testing

@testable import ServiceShell

/// Tests of `BatchFilter`, which selects the valid records of appended batches.
///
/// An owner of a partition begins with a claim: a record with its epoch, which is higher than the epochs of all former
/// owners. Then the owner appends batches without transactions. Each record of a batch has the epoch in its headers,
/// and the last record commits the batch.
@Suite("Which records of appended batches are valid")
struct BatchFilterTests {
    /// A partition's log, to which successive owners append.
    private struct PartitionLog {
        var records: [IncomingRecord] = []

        /// Appends one record.
        mutating func append(_ value: String?, header: BatchHeader?) {
            self.records.append(
                IncomingRecord(
                    topic: "room.feed", partition: 0, offset: Int64(self.records.count),
                    timestamp: Timestamp(milliseconds: 0), key: nil,
                    value: value.map { Array($0.utf8) }, headers: header?.headers ?? []))
        }

        /// Appends a record of a transaction: it has no batch header.
        mutating func appendInTransaction(_ value: String) { self.append(value, header: nil) }

        /// Appends a claim; all records of lower epochs after the claim are void.
        mutating func appendClaim(epoch: Int64) { self.append(nil, header: BatchHeader(epoch: epoch)) }

        /// Appends a batch, whose last record commits it; a batch without values is one record without a value.
        ///
        /// `nextOffset` is the inbox offset that the batch commits. The metadata "1700" and the row byte 7 stand for
        /// the processor's metadata and rows, which the filter does not read.
        mutating func appendBatch(epoch: Int64, _ values: [String], nextOffset: Int64) {
            let lastHeader = BatchHeader(
                epoch: epoch, commit: BatchHeader.Commit(nextOffset: nextOffset, metadata: "1700", rows: [7]))
            if values.isEmpty { self.append(nil, header: lastHeader) }
            for (index, value) in values.enumerated() {
                self.append(value, header: index == values.count - 1 ? lastHeader : BatchHeader(epoch: epoch))
            }
        }

        /// The values of the records that are valid for a reader that begins at `offset`.
        ///
        /// `epoch` is the epoch of the last claim before `offset`; `.min` if there is none.
        func validValues(from offset: Int = 0, epoch: Int64 = .min) -> [String] {
            var filter = BatchFilter(epoch: epoch)
            var valid: [IncomingRecord] = []
            for record in self.records[offset...] { filter.accept(record, into: &valid) }
            return valid.map { String(decoding: $0.value ?? [], as: UTF8.self) }
        }
    }

    @Test func `a batch header is read back from a record as written`() {
        for header in [
            BatchHeader(epoch: 3),
            BatchHeader(epoch: 3, commit: BatchHeader.Commit(nextOffset: 9, metadata: "", rows: [])),
            BatchHeader(epoch: 3, commit: BatchHeader.Commit(nextOffset: 9, metadata: "17 0", rows: [0, 255])),
        ] {
            var log = PartitionLog()
            log.append("x", header: header)
            #expect(BatchHeader(log.records[0]) == header)
        }
        var log = PartitionLog()
        log.appendInTransaction("x")
        #expect(BatchHeader(log.records[0]) == nil)
    }

    @Test func `I7 a batch becomes valid with its last record, and a record of a transaction at once`() {
        var log = PartitionLog()
        log.appendClaim(epoch: 1)
        log.appendInTransaction("t")
        log.appendBatch(epoch: 1, ["a", "b"], nextOffset: 5)
        log.appendBatch(epoch: 1, [], nextOffset: 6)
        var filter = BatchFilter()
        // For each record of the log, the values of the records that become valid when it is read.
        var validByRecord: [[String]] = []
        var nextOffsets: [Int64] = []
        for record in log.records {
            var valid: [IncomingRecord] = []
            if let commit = filter.accept(record, into: &valid) { nextOffsets.append(commit.nextOffset) }
            validByRecord.append(valid.map { String(decoding: $0.value ?? [], as: UTF8.self) })
        }
        // The records of the log are the claim, "t", "a", "b" and the batch without values.
        #expect(validByRecord == [[], ["t"], [], ["a", "b"], []])
        #expect(nextOffsets == [5, 6])
    }

    /// All batches before the complete offset were read to their last record.
    @Test func `the complete offset stays before a batch until its last record is read`() {
        var log = PartitionLog()
        log.appendBatch(epoch: 1, ["a", "b", "c"], nextOffset: 5)
        var filter = BatchFilter()
        var valid: [IncomingRecord] = []
        let completeOffsets = log.records.map { record -> Int64 in
            filter.accept(record, into: &valid)
            return filter.completeOffset(upTo: record.offset + 1)
        }
        #expect(completeOffsets == [0, 0, 3])
    }

    @Test func `I8 the claim of the next owner voids an incomplete batch`() {
        var log = PartitionLog()
        log.appendClaim(epoch: 1)
        log.append("lost", header: BatchHeader(epoch: 1))
        log.appendClaim(epoch: 2)
        log.appendBatch(epoch: 2, ["a"], nextOffset: 5)
        #expect(log.validValues() == ["a"])
    }

    @Test func `I8 records that a former owner appends after a claim are never valid, wherever reading begins`() {
        var log = PartitionLog()
        log.appendClaim(epoch: 1)
        log.appendBatch(epoch: 1, ["a"], nextOffset: 5)
        log.appendClaim(epoch: 2)
        log.appendBatch(epoch: 1, ["stale"], nextOffset: 6)
        log.appendBatch(epoch: 2, ["b"], nextOffset: 6)
        log.append("stale", header: BatchHeader(epoch: 1))
        log.appendBatch(epoch: 2, ["c"], nextOffset: 7)
        #expect(log.validValues() == ["a", "b", "c"])
        // The claims are the records at the offsets 0 and 2.
        var claims = FeedEpochs()
        claims.add(epoch: 1, offset: 0)
        claims.add(epoch: 2, offset: 2)
        #expect(claims.epoch(before: 0) == .min)
        #expect(claims.epoch(before: 3) == 2)
        // A reader that begins after the claim gets the claim's epoch from the metadata of the committed offset.
        #expect(log.validValues(from: 3, epoch: claims.epoch(before: 3)) == ["b", "c"])
    }

    @Test func `a claim after the claim of a later owner is ignored, and the owner that wrote it is fenced`() throws {
        var log = PartitionLog()
        log.appendClaim(epoch: 2)
        log.appendClaim(epoch: 1)
        log.appendBatch(epoch: 1, ["stale"], nextOffset: 6)
        #expect(log.validValues().isEmpty)
        // The owner of the epoch 1 learns that it is fenced when it reads the batches whose rows it would restore.
        var batches = UncheckpointedBatches(.roomFeed, after: FeedEpochs(), claimedBy: 1)
        for record in log.records { batches.append(record) }
        #expect(throws: KafkaError.self) { try batches.validCommits() }
    }

    @Test(arguments: 0..<50) func `I8 all readers accept the same batches, although owners die or stall`(_ seed: UInt64)
    {
        var random = SeededRandom(seed: seed)
        var log = PartitionLog()
        var ownerEpoch: Int64 = 1
        var expected: [String] = []
        /// Offsets at which a reader may begin. `epoch` is the epoch of the last claim before the offset, and
        /// `valuesBefore` the number of expected values before the offset.
        var starts: [(offset: Int, epoch: Int64, valuesBefore: Int)] = []
        log.appendClaim(epoch: ownerEpoch)
        for step in 0..<200 {
            let values = (0..<Int.random(in: 0...3, using: &random)).map { "\(step).\($0)" }
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                // The owner dies within a batch.
                for value in values { log.append(value, header: BatchHeader(epoch: ownerEpoch)) }
                ownerEpoch += 1
                log.appendClaim(epoch: ownerEpoch)
            case 1, 2:
                // A stalled former owner appends a batch.
                guard ownerEpoch > 1 else { continue }
                let formerEpoch = Int64.random(in: 1..<ownerEpoch, using: &random)
                log.appendBatch(epoch: formerEpoch, values, nextOffset: 0)
            case 3:
                log.appendInTransaction("t\(step)")
                expected.append("t\(step)")
            default:
                log.appendBatch(epoch: ownerEpoch, values, nextOffset: Int64(step))
                expected += values
            }
            starts.append((log.records.count, ownerEpoch, expected.count))
        }
        #expect(log.validValues() == expected)
        for start in starts {
            let valid = log.validValues(from: start.offset, epoch: start.epoch)
            #expect(valid == Array(expected.dropFirst(start.valuesBefore)))
        }
    }
}
