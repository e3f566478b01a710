// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import ServiceShell

/// A script for a machine's partition, one step on each line.
///
/// - `key<TAB>row` restores a row; an empty row deletes the key.
/// - `metadata<TAB>text` sets the metadata of the committed offset.
/// - `@milliseconds` sets the broker's time, and is a tick.
/// - `=reply` is a reply of Redis.
/// - Any other line is an input.
struct RowScript {
    var metadata = ""
    var rows: [(key: String, row: [UInt8]?)] = []
    var inputs: [InboxInput] = []
    /// The replies of Redis, in the order of their lines.
    var replies: [[UInt8]] = []

    /// The broker's time before the first step.
    private static let start = Timestamp(milliseconds: 1_700_000_000_000)

    init(_ input: [UInt8]) {
        var now = Self.start
        // Inputs have the offsets from 1001 on.
        var offset: Int64 = 1000
        for line in input.split(separator: UInt8(ascii: "\n")) {
            if let tab = line.firstIndex(of: UInt8(ascii: "\t")) {
                let row = line[(tab + 1)...]
                let key = String(decoding: line[..<tab], as: UTF8.self)
                if key == "metadata" {
                    self.metadata = String(decoding: row, as: UTF8.self)
                } else {
                    self.rows.append((key, row.isEmpty ? nil : Array(row)))
                }
                continue
            }
            if line.first == UInt8(ascii: "=") {
                self.replies.append(Array(line.dropFirst()))
                continue
            }
            offset += 1
            guard line.first == UInt8(ascii: "@") else {
                self.inputs.append(InboxInput(moment: Moment(now: now, offset: offset), payload: .record(Array(line))))
                continue
            }
            guard let time = Int64(String(decoding: line.dropFirst(), as: UTF8.self)) else { continue }
            now = Timestamp(milliseconds: time)
            self.inputs.append(InboxInput(moment: Moment(now: now, offset: offset), payload: .tick))
        }
    }

    /// Runs the script on a new processor, and checks that a second one can read the rows that the first one wrote.
    ///
    /// - Parameters:
    ///   - makeProcessor: makes a processor without rows.
    ///   - malformedCount: returns how many rows and inputs all processors together could not read so far.
    func run(_ makeProcessor: () -> some PartitionProcessor, malformedCount: () -> Int) {
        let processor = makeProcessor()
        for row in self.rows { processor.restore(key: row.key, row: row.row) }
        do {
            try processor.acquired(generation: 5, committedMetadata: self.metadata, at: Self.start)
            var effects: [Effect] = []
            for batch in self.batches {
                var rest = batch[...]
                while !rest.isEmpty { rest = rest.dropFirst(try processor.process(Array(rest), effects: &effects)) }
            }
            _ = processor.nextDue
        } catch {
            // A script with an invalid step ends with the abort of its batch.
            return processor.rolledBack()
        }

        let malformedBefore = malformedCount()
        let reader = makeProcessor()
        for change in processor.changes { reader.restore(key: change.key, row: change.row) }
        precondition(malformedCount() == malformedBefore, "a row that was written cannot be read")
        _ = processor.offsetMetadata
        processor.committed()
    }

    /// The inputs, divided into at most two batches.
    private var batches: [[InboxInput]] {
        let half = self.inputs.count / 2
        return [Array(self.inputs[..<half]), Array(self.inputs[half...])].filter { !$0.isEmpty }
    }
}

/// Runs scripts for a pure machine.
enum MachineScript {
    /// Runs the `RowScript` that an input describes.
    static func run<M: Machine>(_ input: [UInt8], _ machine: M)
    where M.Effect == PlazaModel.Effect, M.Input: Decodable, M.Row: Codable {
        let malformed = Counter()
        RowScript(input).run(
            { MachineProcessor(machine, log: .none, malformed: malformed) }, malformedCount: { malformed.value })
    }

    /// Policies that enable every rule with a limit or a time.
    static let policies: Policies = {
        var policy = AppPolicy(
            feedBudget: 5, maxAdmins: 2, maxAudience: 20,
            dismissal: DismissalPolicy(
                afterNoUsersSeconds: 60, afterOwnerLeaveSeconds: 60, afterOwnerOfflineSeconds: 60),
            messagesPerUserPerSecond: 3)
        policy.hasWebhooks = true
        return Policies(["demo": policy])
    }()
}
