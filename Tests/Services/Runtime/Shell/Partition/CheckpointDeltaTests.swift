// SPDX-License-Identifier: Apache-2.0
import Compression
import MachineKit
import Testing

@testable import ServiceShell

/// Tests of `CheckpointDelta`: the rows of a machine that are newer than the state topic.
///
/// For each batch, `plan` adds the changed rows to the delta, or has all rows of the delta written to the state topic.
/// The delta is stored compressed: in the second line of the metadata of the committed offset, or in the headers of
/// appended batches. The first line of the metadata belongs to the processor, such as "1700". A restart restores the
/// rows of the state topic, then the rows of the delta.
@Suite("Changed rows in the offset's metadata or in appended batches")
struct CheckpointDeltaTests {
    /// The bytes of a row that differs for each number.
    private func row(_ number: Int) -> [UInt8] { Array(#"{"number":\#(number),"owner":"alice"}"#.utf8) }

    /// The state from which a restart restores the rows: the rows of the state topic, and the metadata of the offset.
    private struct DurableState {
        var stateTopic: [String: [UInt8]] = [:]
        var metadata = ""

        mutating func commit(_ plan: CheckpointDelta.Plan) {
            if case .stateTopic(let rows, _) = plan { for row in rows { self.stateTopic[row.key] = row.row } }
            self.metadata = plan.metadata
        }

        func restoredRows() throws -> [String: [UInt8]] {
            var rows = self.stateTopic
            for change in try CheckpointDelta(metadata: self.metadata).rows { rows[change.key] = change.row }
            return rows
        }
    }

    @Test func `a small change is stored in the delta and not written to the state topic`() throws {
        var delta = CheckpointDelta()
        // Nil instead of a row means that the row was removed.
        let plan = delta.plan([("a", self.row(1)), ("b", nil)], metadata: "1700")
        guard case .delta(let metadata, let addedBytes) = plan else {
            Issue.record("the rows were written to the state topic")
            return
        }
        #expect(CheckpointDelta.processorMetadata(in: metadata) == "1700")
        #expect(!addedBytes.isEmpty)
        let rows = try CheckpointDelta(metadata: metadata).rows
        #expect(rows.map(\.key) == ["a", "b"])
        #expect(rows.map(\.row) == [self.row(1), nil])
    }

    @Test func `the metadata of a delta without rows has only the processor's line`() throws {
        var delta = CheckpointDelta()
        #expect(delta.plan([], metadata: "1700").metadata == "1700")
        #expect(try CheckpointDelta(metadata: "1700").rows.isEmpty)
        #expect(try CheckpointDelta(metadata: "").rows.isEmpty)
    }

    @Test func `a batch without changes keeps the rows of the delta`() throws {
        var delta = CheckpointDelta()
        _ = delta.plan([("a", self.row(1))], metadata: "1")
        delta.committed()
        // The second batch changes no rows.
        let plan = delta.plan([], metadata: "2")
        #expect(CheckpointDelta.processorMetadata(in: plan.metadata) == "2")
        #expect(try CheckpointDelta(metadata: plan.metadata).rows.map(\.key) == ["a"])
    }

    @Test func `the rows of a full delta are written to the state topic, and the next delta begins empty`() throws {
        var delta = CheckpointDelta()
        // 500 changes of 40 rows fill the delta several times.
        var stateTopicWrites = 0
        for number in 0..<500 {
            let plan = delta.plan([("row \(number % 40)", self.row(number))], metadata: "\(number)")
            #expect(plan.metadata.utf8.count <= CheckpointDelta.metadataLimit)
            if case .stateTopic(let rows, _) = plan {
                stateTopicWrites += 1
                #expect(rows.count <= 40)
                #expect(!plan.metadata.contains("\n"), "the new delta is empty, so the metadata has no second line")
            }
            delta.committed()
        }
        #expect((2...50).contains(stateTopicWrites))
    }

    @Test func `the changed rows of a batch are written to the state topic at once if they exceed 32 KB`() {
        var delta = CheckpointDelta()
        // 500 rows of 100 bytes are about 50 KB.
        let row = [UInt8](repeating: UInt8(ascii: "A"), count: 100)
        let changes = (0..<500).map { number -> CheckpointDelta.Change in ("\(number)", row) }
        let plan = delta.plan(changes, metadata: "1")
        guard case .stateTopic(let rows, _) = plan else {
            Issue.record("the rows were stored in the delta")
            return
        }
        #expect(rows.count == 500)
    }

    @Test(arguments: 0..<20)
    func `after any mix of commits, aborts and takeovers the rows are those of the commits`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var delta = CheckpointDelta()
        var durableState = DurableState()
        var expected: [String: [UInt8]] = [:]
        for step in 0..<400 {
            let changes = (0..<Int.random(in: 0...6, using: &random)).map { _ -> CheckpointDelta.Change in
                let key = "row \(Int.random(in: 0..<30, using: &random))"
                // About every fifth change removes its row.
                let isRemoval = Int.random(in: 0..<5, using: &random) == 0
                return (key, isRemoval ? nil : self.row(step))
            }
            let plan = delta.plan(changes, metadata: "\(step)")
            switch Int.random(in: 0..<10, using: &random) {
            case 0:
                // The transaction aborts.
                delta.rolledBack()
            case 1:
                // The owner dies after its commit, and the next owner restores the delta.
                durableState.commit(plan)
                for change in changes { expected[change.key] = change.row }
                delta = try CheckpointDelta(metadata: durableState.metadata)
            default:
                durableState.commit(plan)
                for change in changes { expected[change.key] = change.row }
                delta.committed()
            }
            #expect(try durableState.restoredRows() == expected)
        }
    }

    @Test func `invalid metadata is rejected`() {
        // The second line of the metadata should be compressed rows in Base64. "!!" is no Base64, and "/////w==" is
        // Base64 of bytes that are not compressed rows.
        #expect(throws: InflationError.corrupt) { try CheckpointDelta(metadata: "1\n!!") }
        #expect(throws: InflationError.corrupt) { try CheckpointDelta(metadata: "1\n/////w==") }
    }

    @Test func `I8 the newest version of each row is restored from the bytes of all appended batches`() throws {
        var delta = CheckpointDelta(storage: .appendedBatches)
        var appendedBytes: [UInt8] = []
        for round in 0..<200 {
            // Each batch changes the row "a" and changes or removes one of seven other rows.
            let otherRow = round % 3 == 0 ? nil : self.row(round)
            let plan = delta.plan([("a", self.row(round)), ("b\(round % 7)", otherRow)], metadata: "1")
            guard case .delta(let metadata, let addedBytes) = plan else {
                Issue.record("the rows were written to the state topic")
                return
            }
            #expect(metadata == "1")
            appendedBytes += addedBytes
            delta.committed()
        }
        let restored = try CheckpointDelta(appended: appendedBytes)
        #expect(restored.rows.map(\.key) == delta.rows.map(\.key))
        #expect(restored.rows.map(\.row) == delta.rows.map(\.row))
        #expect(restored.rows.first?.row == self.row(199), "expected the row \"a\" of the last batch")
        #expect(appendedBytes.count < 200 * 60, "a batch of two rows takes less than 60 bytes on average")
    }

    @Test
    func `the rows of appended batches are written to the state topic on request, after a rollback and by a new owner`()
        throws
    {
        var delta = CheckpointDelta(storage: .appendedBatches)
        guard case .delta(_, let addedBytes) = delta.plan([("a", self.row(1))], metadata: "1") else {
            Issue.record("the rows were written to the state topic")
            return
        }
        delta.committed()
        // The caller requests that the rows are written.
        guard case .stateTopic(let rows, _) = delta.plan([("b", self.row(2))], metadata: "2", mustWriteRows: true)
        else {
            Issue.record("the rows were stored in the delta")
            return
        }
        #expect(rows.map(\.key) == ["a", "b"])
        // A compressor cannot be rolled back, so after a rollback all rows of the delta are written. Only "a" is left,
        // because the change of "b" was rolled back.
        delta.rolledBack()
        guard case .stateTopic(let rowsAfterRollback, _) = delta.plan([], metadata: "2") else {
            Issue.record("the rows were stored in the delta")
            return
        }
        #expect(rowsAfterRollback.map(\.key) == ["a"])
        // A new owner of the partition does not have the former owner's compressor, so it writes all rows, too.
        var nextOwnersDelta = try CheckpointDelta(appended: addedBytes)
        guard case .stateTopic(let rowsOfNextOwner, _) = nextOwnersDelta.plan([], metadata: "2") else {
            Issue.record("the rows were stored in the delta")
            return
        }
        #expect(rowsOfNextOwner.map(\.row) == [self.row(1)])
    }
}
