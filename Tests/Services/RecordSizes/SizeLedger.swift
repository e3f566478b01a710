// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import PlazaWire
import Testing

/// The size of the largest row or record of each kind that a test has produced.
struct SizeLedger {
    /// Each row and record must be smaller than this: half of the broker's maximum message size.
    static let limit = PlazaTopic.maxMessageBytes / 2

    /// The bytes of the largest record, by kind: a topic's name, or "row " and the kind of the row.
    private(set) var largest: [String: Int] = [:]

    /// Notes the size of one row or record.
    mutating func note(_ kind: String, bytes: Int) { self.largest[kind] = max(self.largest[kind] ?? 0, bytes) }

    /// Notes the size of the record that an effect writes, including its key and headers.
    mutating func note(_ effect: Effect) {
        let record = TopicRecord(effect)
        // Besides name and value, a header has their lengths, which take at most 16 bytes.
        let headerBytes = record.headers.reduce(0) { $0 + $1.name.utf8.count + $1.value.count + 16 }
        self.note(record.topic.rawValue, bytes: record.key.utf8.count + (record.value?.count ?? 0) + headerBytes)
    }

    /// Checks that every record is below the limit, and that the largest of each named kind has `minKilobytes` or more.
    ///
    /// Without a minimum, a test that builds only a small state would pass.
    func expectBounded(minKilobytes: [String: Int], sourceLocation: SourceLocation = #_sourceLocation) {
        for (kind, bytes) in self.largest.sorted(by: { $0.key < $1.key }) {
            #expect(bytes < Self.limit, "\(kind): \(bytes) bytes", sourceLocation: sourceLocation)
        }
        for (kind, kilobytes) in minKilobytes.sorted(by: { $0.key < $1.key }) {
            #expect(
                (self.largest[kind] ?? 0) / 1000 >= kilobytes, "\(kind): \(self.largest[kind] ?? 0) bytes",
                sourceLocation: sourceLocation)
        }
    }
}

/// A machine that is driven to its largest state.
struct SizeHarness<M: Machine> where M.Effect == Effect, M.Row: Codable {
    let machine: M
    var journal = Journal<M.Key, M.Row>()
    var now = Largest.now
    var offset = Largest.offset
    var ledger = SizeLedger()

    init(_ machine: M) { self.machine = machine }

    /// Handles the due rows and one input, and notes the sizes of the records that the effects write.
    @discardableResult mutating func send(_ input: M.Input) -> [Effect] {
        self.offset += 1
        var effects: [Effect] = []
        let moment = Moment(now: self.now, offset: self.offset)
        self.machine.handleDue(in: &self.journal, at: moment, into: &effects)
        self.machine.handle(input, in: &self.journal, at: moment, into: &effects)
        self.journal.commit()
        for effect in effects { self.ledger.note(effect) }
        return effects
    }

    /// Notes the sizes of all rows as they are written to the state topic, and checks that each row can be read back.
    mutating func noteRows() {
        for key in self.journal.sortedKeys {
            guard let row = self.journal[key] else { continue }
            let kind = key.text.split(separator: "/")[0]
            let bytes = Wire.encode(row)
            self.ledger.note("row \(kind)", bytes: key.text.utf8.count + bytes.count)
            #expect((try? Wire.decode(M.Row.self, from: bytes)) == row && M.Key(text: key.text) == key, "\(kind)")
        }
    }

    /// The number of rows of a kind.
    func rows(of kind: String) -> Int {
        self.journal.sortedKeys.count { $0.text.hasPrefix(kind + "/") }
    }
}

extension [Effect] {
    /// The codes of the rejections.
    var codes: [ReplyCode] {
        self.compactMap {
            if case .reply(let reply) = $0, case .failure(let error) = reply.outcome { error.code } else { nil }
        }
    }
}
