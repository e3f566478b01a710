// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import MachineKit

/// The key of a test row.
struct NumberKey: RowKey {
    var number: Int
    var text: String { "\(self.number)" }
    init(_ number: Int) { self.number = number }
    init?(text: String) {
        guard let number = Int(text) else { return nil }
        self.number = number
    }
    static func < (lhs: NumberKey, rhs: NumberKey) -> Bool { lhs.number < rhs.number }
}

/// A test row, which may be due at a time.
struct NumberRow: JournalRow {
    var value: Int
    var due: Timestamp?
    init(_ value: Int, due: Int64? = nil) {
        self.value = value
        self.due = due.map { Timestamp(milliseconds: $0) }
    }
}

typealias Rows = Journal<NumberKey, NumberRow>

extension Journal {
    fileprivate var hasChanges: Bool { !self.changedSlots.isEmpty }
}

/// A journal keeps a machine's rows, with undo for a batch that aborts, and with the times at which rows are due.
@Suite struct JournalTests {
    @Test func `changes are listed in the order of the first change, with the current rows`() {
        var rows = Rows()
        rows.restore(NumberKey(9), NumberRow(9))
        rows[NumberKey(2)] = NumberRow(1)
        rows[NumberKey(1)] = NumberRow(1)
        rows[NumberKey(2)] = NumberRow(2)
        rows[NumberKey(9)] = nil
        #expect(rows.hasChanges)
        #expect(rows.changes.map(\.key.number) == [2, 1, 9])
        #expect(rows.changes.map(\.row) == [NumberRow(2), NumberRow(1), nil])
        rows.commit()
        #expect(!rows.hasChanges && rows.changes.isEmpty)
        #expect(rows.sortedKeys.map(\.number) == [1, 2])
        // Assigning an equal row is not a change.
        rows[NumberKey(1)] = NumberRow(1)
        rows[NumberKey(7)] = nil
        #expect(!rows.hasChanges)
    }

    @Test func `reading a row changes nothing, and removed rows are not found`() throws {
        var rows = Rows()
        rows.restore(NumberKey(1), NumberRow(7))
        let index = try #require(rows.index(of: NumberKey(1)))
        #expect(rows.read(at: index) { $0.value } == 7 && rows[NumberKey(1)] == NumberRow(7))
        #expect(!rows.hasChanges)
        rows[NumberKey(1)] = nil
        #expect(rows.read(at: index) { $0.value } == nil)
        rows.rollback()
        #expect(rows[NumberKey(1)] == NumberRow(7))
    }

    @Test func `a rollback undoes created, changed and removed rows`() {
        var rows = Rows()
        rows.restore(NumberKey(1), NumberRow(1))
        rows.restore(NumberKey(2), NumberRow(2))
        rows[NumberKey(1)] = nil
        rows[NumberKey(1)] = NumberRow(10)
        let previousValue = rows.update(NumberKey(2)) { row in
            defer { row.value = 20 }
            return row.value
        }
        #expect(previousValue == 2)
        rows[NumberKey(3)] = NumberRow(3)
        let resultForMissingRow: Void? = rows.update(NumberKey(4)) { $0.value = 1 }
        #expect(resultForMissingRow == nil)
        rows.rollback()
        #expect(rows.sortedKeys.map { rows[$0]?.value } == [1, 2])
        #expect(!rows.hasChanges)
    }

    @Test func `a look-up that follows the look-up of another row finds the right row, also after removals`() throws {
        var rows = Rows()
        for number in 0..<4 { rows.restore(NumberKey(number), NumberRow(number)) }
        let first = try #require(rows.index(of: NumberKey(1)))
        // To speed up the next such look-up, a row stores the place of the row that was last looked up right after it.
        // The place may be out of date.
        func rowNearFirst(_ number: Int) -> NumberRow? {
            rows.index(of: NumberKey(number), near: first).flatMap { rows.row(at: $0) }
        }
        #expect(rowNearFirst(0) == NumberRow(0))
        #expect(rowNearFirst(2) == NumberRow(2))
        #expect(rowNearFirst(2) == NumberRow(2))
        // A removed row is not found, neither before the commit nor after another row has reused its slot.
        rows[NumberKey(2)] = nil
        #expect(rowNearFirst(2) == nil)
        rows.rollback()
        #expect(rowNearFirst(2) == NumberRow(2))
        rows[NumberKey(2)] = nil
        rows.commit()
        rows[NumberKey(7)] = NumberRow(7)
        #expect(rowNearFirst(2) == nil)
        rows[NumberKey(2)] = NumberRow(20)
        #expect(rowNearFirst(2) == NumberRow(20))
        #expect(rowNearFirst(7) == NumberRow(7))
    }

    @Test func `rows fall due earliest first, equal times in the order of their keys`() {
        var rows = Rows()
        for (key, due) in [(3, 20), (1, 20), (2, 10), (4, 30)] as [(Int, Int64)] {
            rows[NumberKey(key)] = NumberRow(0, due: due)
        }
        #expect(rows.nextDue == Timestamp(milliseconds: 10))
        var popped: [Int] = []
        while let key = rows.popDue(at: Timestamp(milliseconds: 20)) { popped.append(key.number) }
        #expect(popped == [2, 1, 3])
        #expect(rows.nextDue == Timestamp(milliseconds: 30))
    }

    @Test func `a row whose due time changed is due only at the new time`() {
        var rows = Rows()
        rows[NumberKey(1)] = NumberRow(0, due: 10)
        rows[NumberKey(1)] = NumberRow(0, due: 50)
        rows[NumberKey(2)] = NumberRow(0, due: 20)
        rows[NumberKey(2)] = NumberRow(0)
        rows[NumberKey(3)] = NumberRow(0, due: 30)
        rows[NumberKey(3)] = nil
        #expect(rows.nextDue == Timestamp(milliseconds: 50))
        var popped = rows.popDue(at: Timestamp(milliseconds: 49))
        #expect(popped == nil)
        popped = rows.popDue(at: Timestamp(milliseconds: 50))
        #expect(popped == NumberKey(1))
    }

    @Test func `rows that fell due in an aborted batch fall due again`() {
        var rows = Rows()
        rows.restore(NumberKey(1), NumberRow(1, due: 10))
        for _ in 0..<3 {
            let key = rows.popDue(at: Timestamp(milliseconds: 10))
            #expect(key == NumberKey(1))
            rows[NumberKey(1)] = nil
            rows.rollback()
        }
    }

    @Test(arguments: 1...20) func `I15 a journal agrees with two dictionaries, through commits and aborts`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var rows = Rows()
        var committed: [NumberKey: NumberRow] = [:]
        var current: [NumberKey: NumberRow] = [:]
        for step in 0..<3000 {
            let key = NumberKey(Int.random(in: 0..<12, using: &random))
            let row = NumberRow(step, due: Bool.random(using: &random) ? Int64(step % 50) : nil)
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                rows.rollback()
                current = committed
            case 1:
                rows.commit()
                committed = current
            case 2, 3:
                rows[key] = nil
                current[key] = nil
            case 4...6:
                let updated: Void? = rows.update(key) { $0 = row }
                #expect((updated != nil) == (current[key] != nil))
                if updated != nil { current[key] = row }
            default:
                rows[key] = row
                current[key] = row
            }
            #expect(rows.sortedKeys == current.keys.sorted())
            #expect(current.allSatisfy { rows[$0.key] == $0.value })
            #expect(rows.nextDue == current.values.compactMap(\.due).min())
            // The changes applied to the committed rows give the current rows.
            var replayed = committed
            for change in rows.changes { replayed[change.key] = change.row }
            #expect(replayed == current)
        }
    }

    @Test func `I16 replaced due times do not accumulate in the queue`() {
        var rows = Rows()
        for step in 0..<10_000 {
            rows[NumberKey(1)] = NumberRow(step, due: Int64(step) + 1_000_000)
            rows.commit()
        }
        // The queue is rebuilt when it has more than two entries for each row and 64 more: 2 * 1 + 64 = 66 with one
        // row. The limit leaves a little room.
        #expect(rows.dueTimes.count <= 70)
    }
}

/// The queue of due times and keys.
@Suite struct DueQueueTests {
    @Test(arguments: 1...10) func `a due queue returns its entries in order`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = DueQueue<NumberKey>()
        var expected: [DueQueue<NumberKey>.Entry] = []
        for _ in 0..<500 {
            if Int.random(in: 0..<3, using: &random) > 0 {
                let time = Timestamp(milliseconds: Int64.random(in: 0..<40, using: &random))
                let key = NumberKey(Int.random(in: 0..<10, using: &random))
                queue.push(time, key)
                expected.append(DueQueue<NumberKey>.Entry(time: time, key: key))
                expected.sort()
            } else if !expected.isEmpty {
                queue.removeFirst()
                expected.removeFirst()
            }
            #expect(queue.count == expected.count && queue.first == expected.first)
        }
    }
}

/// A machine whose effect is the double of its input; it stores the input in a row that is due at once, and removes a
/// row that is due.
private struct Doubler: Machine {
    func handle(_ input: Int, in rows: inout Rows, at moment: Moment, into effects: inout [String]) {
        rows[NumberKey(input)] = NumberRow(input, due: moment.now.milliseconds)
        effects.append("\(2 * input)")
    }
    func handleDueRow(_ key: NumberKey, in rows: inout Rows, at moment: Moment, into effects: inout [String]) {
        effects.append("due \(key.number)")
        rows[key] = nil
    }
}

/// How a machine handles the rows of a journal that are due.
@Suite struct MachineTests {
    @Test func `I16 due rows are handled in order, at most the limit in one call`() {
        var rows = Rows()
        var effects: [String] = []
        let moment = Moment(now: Timestamp(milliseconds: 5), offset: 1)
        for number in [3, 1, 2] { Doubler().handle(number, in: &rows, at: moment, into: &effects) }
        let handled = Doubler().handleDue(in: &rows, at: moment, limit: 2, into: &effects)
        #expect(handled == 2)
        let handledLater = Doubler().handleDue(in: &rows, at: moment, into: &effects)
        #expect(handledLater == 1)
        #expect(effects == ["6", "2", "4", "due 1", "due 2", "due 3"])
    }
}

/// The hash table from the keys of a journal to the slots of their rows.
@Suite struct SlotIndexTests {
    @Test(arguments: 1...10) func `an index finds each slot after removals and with equal hashes`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var index = SlotIndex()
        /// The hash of each slot in the index.
        var expected: [Int: Int] = [:]
        for _ in 0..<2_000 {
            let slot = Int.random(in: 0..<60, using: &random)
            if let hash = expected.removeValue(forKey: slot) {
                index.remove(slot, hash)
            } else {
                // There are only few hashes, some at the end of the table, so that most searches collide.
                let hash = Int.random(in: -4..<4, using: &random)
                index.insert(slot, hash)
                expected[slot] = hash
            }
            for slot in 0..<60 {
                let hashesThatFindSlot = (-4..<4).filter { hash in index.slot(hash) { $0 == slot } == slot }
                if let hash = expected[slot] {
                    #expect(hashesThatFindSlot == [hash])
                } else {
                    #expect(hashesThatFindSlot.isEmpty, "the slot was removed")
                }
            }
        }
        #expect(index.count == expected.count)
    }
}
