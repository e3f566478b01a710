// SPDX-License-Identifier: Apache-2.0
import Compression
import MachineKit
import Testing

@testable import ServiceShell

@Suite("Rows that ride in the offset's metadata")
struct CheckpointDeltaTests {
    private func row(_ number: Int) -> [UInt8] { Array(#"{"number":\#(number),"owner":"alice"}"#.utf8) }

    /// What a restart finds: the state topic's rows, then those of the metadata.
    private struct Store {
        var state: [String: [UInt8]] = [:]
        var metadata = ""

        mutating func commit(_ plan: CheckpointDelta.Plan) {
            if case .written(let rows, _) = plan { for row in rows { self.state[row.key] = row.row } }
            self.metadata = plan.metadata
        }

        func restored() throws -> [String: [UInt8]] {
            var rows = self.state
            for change in try CheckpointDelta(metadata: self.metadata).rows { rows[change.key] = change.row }
            return rows
        }
    }

    @Test func `a small change is carried and not written`() throws {
        var tail = CheckpointDelta()
        let plan = tail.plan([("a", self.row(1)), ("b", nil)], metadata: "1700")
        guard case .delta(let metadata, let added) = plan else {
            Issue.record("written")
            return
        }
        #expect(CheckpointDelta.processorMetadata(in: metadata) == "1700")
        #expect(!added.isEmpty)
        let rows = try CheckpointDelta(metadata: metadata).rows
        #expect(rows.map(\.key) == ["a", "b"])
        #expect(rows.map(\.row) == [self.row(1), nil])
    }

    @Test func `metadata without rows is the processor's alone`() throws {
        var tail = CheckpointDelta()
        #expect(tail.plan([], metadata: "1700").metadata == "1700")
        #expect(try CheckpointDelta(metadata: "1700").rows.isEmpty)
        #expect(try CheckpointDelta(metadata: "").rows.isEmpty)
    }

    @Test func `a batch without changes keeps what rides`() throws {
        var tail = CheckpointDelta()
        _ = tail.plan([("a", self.row(1))], metadata: "1")
        tail.committed()
        let plan = tail.plan([], metadata: "2")
        #expect(CheckpointDelta.processorMetadata(in: plan.metadata) == "2")
        #expect(try CheckpointDelta(metadata: plan.metadata).rows.map(\.key) == ["a"])
    }

    @Test func `a full tail is written whole, once, and begins anew`() throws {
        var tail = CheckpointDelta()
        var written = 0
        for number in 0..<500 {
            let plan = tail.plan([("row \(number % 40)", self.row(number))], metadata: "\(number)")
            #expect(plan.metadata.utf8.count <= CheckpointDelta.metadataLimit)
            if case .written(let rows, _) = plan {
                written += 1
                #expect(rows.count <= 40)
                #expect(!plan.metadata.contains("\n"))
            }
            tail.committed()
        }
        #expect((2...50).contains(written))
    }

    @Test func `a batch that is too large for any metadata is written at once`() {
        var tail = CheckpointDelta()
        let plan = tail.plan((0..<500).map { ("\($0)", [UInt8](repeating: 65, count: 100)) }, metadata: "1")
        guard case .written(let rows, _) = plan else {
            Issue.record("carried")
            return
        }
        #expect(rows.count == 500)
    }

    @Test(arguments: 0..<20)
    func `after any mix of commits, aborts and takeovers the rows are those of the commits`(seed: UInt64) throws {
        var random = SeededRandom(seed: seed)
        var tail = CheckpointDelta()
        var store = Store()
        var truth: [String: [UInt8]] = [:]
        for step in 0..<400 {
            let changes = (0..<Int.random(in: 0...6, using: &random)).map { _ -> CheckpointDelta.Change in
                let key = "row \(Int.random(in: 0..<30, using: &random))"
                return (key, Int.random(in: 0..<5, using: &random) == 0 ? nil : self.row(step))
            }
            let plan = tail.plan(changes, metadata: "\(step)")
            switch Int.random(in: 0..<10, using: &random) {
            case 0: tail.rolledBack()
            case 1:
                // The owner dies after its commit, and the next one begins from what stands.
                store.commit(plan)
                for change in changes { truth[change.key] = change.row }
                tail = try CheckpointDelta(metadata: store.metadata)
            default:
                store.commit(plan)
                for change in changes { truth[change.key] = change.row }
                tail.committed()
            }
            #expect(try store.restored() == truth)
        }
    }

    @Test func `metadata that no tail wrote is refused`() {
        #expect(throws: InflationError.corrupt) { try CheckpointDelta(metadata: "1\n!!") }
        #expect(throws: InflationError.corrupt) { try CheckpointDelta(metadata: "1\n/////w==") }
    }

    @Test func `I8 rows that were appended come back from the pieces of all batches, the newest of each`() throws {
        var tail = CheckpointDelta(storage: .appendedBatches)
        var appended: [UInt8] = []
        for round in 0..<200 {
            let plan = tail.plan(
                [("a", self.row(round)), ("b\(round % 7)", round % 3 == 0 ? nil : self.row(round))], metadata: "1")
            guard case .delta(let metadata, let added) = plan else {
                Issue.record("written")
                return
            }
            #expect(metadata == "1")
            appended += added
            tail.committed()
        }
        let restored = try CheckpointDelta(appended: appended)
        #expect(restored.rows.map(\.key) == tail.rows.map(\.key))
        #expect(restored.rows.map(\.row) == tail.rows.map(\.row))
        #expect(restored.rows.first?.row == self.row(199))
        #expect(appended.count < 200 * 60)
    }

    @Test func `appended rows are written when they must be, after a batch that was taken back, and by a new owner`()
        throws
    {
        var tail = CheckpointDelta(storage: .appendedBatches)
        guard case .delta(_, let added) = tail.plan([("a", self.row(1))], metadata: "1") else {
            Issue.record("written")
            return
        }
        tail.committed()
        guard case .written(let rows, _) = tail.plan([("b", self.row(2))], metadata: "2", mustWriteRows: true) else {
            Issue.record("carried")
            return
        }
        #expect(rows.map(\.key) == ["a", "b"])
        tail.rolledBack()
        guard case .written(let again, _) = tail.plan([], metadata: "2") else {
            Issue.record("carried")
            return
        }
        #expect(again.map(\.key) == ["a"])
        var next = try CheckpointDelta(appended: added)
        guard case .written(let taken, _) = next.plan([], metadata: "2") else {
            Issue.record("carried")
            return
        }
        #expect(taken.map(\.row) == [self.row(1)])
    }
}
