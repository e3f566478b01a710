// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import PlazaWire
import Testing

/// The size of the largest row or record of each kind that a test has produced.
struct LargestSizes {
    /// Each row and record must be smaller than this number of bytes: half of the broker's maximum message size.
    static let maxRecordBytes = PlazaTopic.maxMessageBytes / 2

    /// The bytes of the largest row or record of each kind.
    ///
    /// The kind of a record is its topic's name. The kind of a row is "row " and the first part of the row's key.
    private(set) var largestBytes: [String: Int] = [:]

    /// Notes the size of one row or record.
    mutating func note(_ kind: String, bytes: Int) {
        self.largestBytes[kind] = max(self.largestBytes[kind] ?? 0, bytes)
    }

    /// Notes the size of the record that an effect writes, including its key and headers.
    mutating func note(_ effect: Effect) {
        let record = TopicRecord(effect)
        // Besides name and value, a header has their lengths, which take at most 16 bytes.
        let headerBytes = record.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 16 }
        self.note(record.topic.rawValue, bytes: record.key.utf8.count + (record.value?.count ?? 0) + headerBytes)
    }

    /// Checks that every row and record is below `maxRecordBytes`, and that the largest one of each named kind has at
    /// least `minKilobytes`.
    ///
    /// The minima show that the test has really built a large state.
    func expectBounded(minKilobytes: [String: Int], sourceLocation: SourceLocation = #_sourceLocation) {
        for (kind, bytes) in self.largestBytes.sorted(by: { $0.key < $1.key }) {
            #expect(bytes < Self.maxRecordBytes, "too large: \(kind)", sourceLocation: sourceLocation)
        }
        for (kind, kilobytes) in minKilobytes.sorted(by: { $0.key < $1.key }) {
            let bytes = self.largestBytes[kind] ?? 0
            #expect(bytes / 1000 >= kilobytes, "the test's state is too small: \(kind)", sourceLocation: sourceLocation)
        }
    }
}

/// A machine that a test drives to its largest state, and the sizes of its rows and records.
struct SizeHarness<M: Machine> where M.Effect == Effect, M.Row: Codable {
    var partition: MachineHarness<M>
    var sizes = LargestSizes()

    init(_ machine: M) {
        self.partition = MachineHarness(machine, at: Moment(now: Largest.now, offset: Largest.offset))
    }

    /// Handles the due rows and one input, and notes the sizes of the records that the effects write.
    @discardableResult mutating func send(_ input: M.Input) -> [Effect] {
        let effects = self.partition.send(input)
        for effect in effects { self.sizes.note(effect) }
        return effects
    }

    /// Notes the sizes of all rows as they are written to the state topic, and checks that each row can be read back.
    mutating func noteRows() {
        for key in self.partition.rows.sortedKeys {
            guard let row = self.partition.rows[key] else { continue }
            let kind = key.text.split(separator: "/")[0]
            let bytes = Wire.encode(row)
            self.sizes.note("row \(kind)", bytes: key.text.utf8.count + bytes.count)
            #expect((try? Wire.decode(M.Row.self, from: bytes)) == row && M.Key(text: key.text) == key, "\(kind)")
        }
    }
}

extension [Effect] {
    /// The codes of the rejected calls; empty when no call was rejected.
    var rejections: [ReplyCode] {
        self.compactMap {
            if case .reply(let reply) = $0, case .failure(let error) = reply.outcome { error.code } else { nil }
        }
    }
}
