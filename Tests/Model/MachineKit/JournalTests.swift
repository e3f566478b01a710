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
    init(_ value: Int, dueAtMilliseconds due: Int64? = nil) {
        self.value = value
        self.due = due.map { Timestamp(milliseconds: $0) }
    }
}

typealias NumberJournal = Journal<NumberKey, NumberRow>

extension Journal {
    /// Whether a row changed since the last commit or rollback.
    fileprivate var hasChanges: Bool { !self.changedSlots.isEmpty }
}

/// A journal stores the rows of a machine's state, undoes the changes of a batch that aborts, and finds due rows.
@Suite struct JournalTests {
    @Test func `changes are listed in the order of the first change, with the current rows`() {
        var rows = NumberJournal()
        // A restored row counts as committed.
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
        // Neither an equal row nor the removal of a missing row is a change.
        rows[NumberKey(1)] = NumberRow(1)
        rows[NumberKey(7)] = nil
        #expect(!rows.hasChanges)
    }

    @Test func `reading a row changes nothing, and a removed row is found again only after a rollback`() throws {
        var rows = NumberJournal()
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
        var rows = NumberJournal()
        rows.restore(NumberKey(1), NumberRow(1))
        rows.restore(NumberKey(2), NumberRow(2))
        rows[NumberKey(1)] = nil
        rows[NumberKey(1)] = NumberRow(10)
        // An update returns what its closure returns.
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

    @Test func `a look-up that follows the look-up of another row finds the right row, even after removals`() throws {
        var rows = NumberJournal()
        for number in 0..<4 { rows.restore(NumberKey(number), NumberRow(number)) }
        let indexOfRow1 = try #require(rows.index(of: NumberKey(1)))
        // A look-up `near` a row stores in that row the index of the row that it found. The next look-up tries this
        // index first, although the index may be out of date.
        func rowLookedUpNearRow1(_ number: Int) -> NumberRow? {
            rows.index(of: NumberKey(number), near: indexOfRow1).flatMap { rows.row(at: $0) }
        }
        #expect(rowLookedUpNearRow1(0) == NumberRow(0))
        #expect(rowLookedUpNearRow1(2) == NumberRow(2))
        #expect(rowLookedUpNearRow1(2) == NumberRow(2))
        // A removed row is not found, neither before the commit nor after another row has reused its slot.
        rows[NumberKey(2)] = nil
        #expect(rowLookedUpNearRow1(2) == nil)
        rows.rollback()
        #expect(rowLookedUpNearRow1(2) == NumberRow(2))
        rows[NumberKey(2)] = nil
        rows.commit()
        rows[NumberKey(7)] = NumberRow(7)
        #expect(rowLookedUpNearRow1(2) == nil)
        rows[NumberKey(2)] = NumberRow(20)
        #expect(rowLookedUpNearRow1(2) == NumberRow(20))
        #expect(rowLookedUpNearRow1(7) == NumberRow(7))
    }

    @Test func `rows fall due in the order of their times, and at equal times in the order of their keys`() {
        var rows = NumberJournal()
        for (key, due) in [(3, 20), (1, 20), (2, 10), (4, 30)] as [(Int, Int64)] {
            rows[NumberKey(key)] = NumberRow(0, dueAtMilliseconds: due)
        }
        #expect(rows.nextDue == Timestamp(milliseconds: 10))
        var popped: [Int] = []
        while let key = rows.popDue(at: Timestamp(milliseconds: 20)) { popped.append(key.number) }
        #expect(popped == [2, 1, 3])
        #expect(rows.nextDue == Timestamp(milliseconds: 30))
    }

    @Test func `a row whose due time changed falls due only at the new time, and a removed row never falls due`() {
        var rows = NumberJournal()
        rows[NumberKey(1)] = NumberRow(0, dueAtMilliseconds: 10)
        rows[NumberKey(1)] = NumberRow(0, dueAtMilliseconds: 50)
        rows[NumberKey(2)] = NumberRow(0, dueAtMilliseconds: 20)
        rows[NumberKey(2)] = NumberRow(0)
        rows[NumberKey(3)] = NumberRow(0, dueAtMilliseconds: 30)
        rows[NumberKey(3)] = nil
        #expect(rows.nextDue == Timestamp(milliseconds: 50))
        var popped = rows.popDue(at: Timestamp(milliseconds: 49))
        #expect(popped == nil)
        popped = rows.popDue(at: Timestamp(milliseconds: 50))
        #expect(popped == NumberKey(1))
    }

    @Test func `rows that fell due in an aborted batch fall due again`() {
        var rows = NumberJournal()
        rows.restore(NumberKey(1), NumberRow(1, dueAtMilliseconds: 10))
        for _ in 0..<3 {
            // Each round is a batch that removes the due row and aborts.
            let key = rows.popDue(at: Timestamp(milliseconds: 10))
            #expect(key == NumberKey(1))
            rows[NumberKey(1)] = nil
            rows.rollback()
        }
    }

    @Test(arguments: 1...20) func `I15 a journal agrees with a dictionary of committed rows and one of current rows`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var rows = NumberJournal()
        var committed: [NumberKey: NumberRow] = [:]
        var current: [NumberKey: NumberRow] = [:]
        for step in 0..<3000 {
            let key = NumberKey(Int.random(in: 0..<12, using: &random))
            let due = Bool.random(using: &random) ? Int64(step % 50) : nil
            let row = NumberRow(step, dueAtMilliseconds: due)
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
        var rows = NumberJournal()
        for step in 0..<10_000 {
            rows[NumberKey(1)] = NumberRow(step, dueAtMilliseconds: Int64(step) + 1_000_000)
            rows.commit()
        }
        // The queue is rebuilt when it has more than two entries for each row and 64 more: with one row, more than
        // 2 * 1 + 64 = 66. The limit of this test, 70, is a little higher.
        #expect(rows.dueTimes.count <= 70)
    }
}

/// The queue of the times at which rows are due, with the keys of the rows.
@Suite struct DueQueueTests {
    @Test(arguments: 1...10) func `the first entry of a due queue is always the least of its entries`(seed: UInt64) {
        var random = SeededRandom(seed: seed)
        var queue = DueQueue<NumberKey>()
        var expected: [DueQueue<NumberKey>.Entry] = []
        for _ in 0..<500 {
            // Each step adds an entry with a probability of two in three.
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

/// A machine whose effect is the double of its input.
///
/// The machine stores each input in a row that is due at once, and removes the row when it handles the due row.
private struct Doubler: Machine {
    func handle(_ input: Int, in rows: inout NumberJournal, at moment: Moment, into effects: inout [String]) {
        rows[NumberKey(input)] = NumberRow(input, dueAtMilliseconds: moment.now.milliseconds)
        effects.append("\(2 * input)")
    }
    func handleDueRow(_ key: NumberKey, in rows: inout NumberJournal, at moment: Moment, into effects: inout [String]) {
        effects.append("due \(key.number)")
        rows[key] = nil
    }
}

/// How a machine handles the rows of a journal that are due.
@Suite struct MachineTests {
    @Test func `I16 one call handles due rows in order up to its limit, and the next call handles the rest`() {
        var rows = NumberJournal()
        var effects: [String] = []
        let moment = Moment(now: Timestamp(milliseconds: 5), offset: 1)
        for number in [3, 1, 2] { Doubler().handle(number, in: &rows, at: moment, into: &effects) }
        let handledCount = Doubler().handleDue(in: &rows, at: moment, limit: 2, into: &effects)
        #expect(handledCount == 2)
        let laterHandledCount = Doubler().handleDue(in: &rows, at: moment, into: &effects)
        #expect(laterHandledCount == 1)
        #expect(effects == ["6", "2", "4", "due 1", "due 2", "due 3"])
    }
}

/// The hash table from the keys of a journal to the slots of their rows.
@Suite struct SlotIndexTests {
    @Test(arguments: 1...10) func `an index finds each slot by its hash, even after removals and at equal hashes`(
        seed: UInt64
    ) {
        var random = SeededRandom(seed: seed)
        var index = SlotIndex()
        /// The hash of each slot in the index.
        var expected: [Int: Int] = [:]
        for _ in 0..<2_000 {
            let slot = Int.random(in: 0..<60, using: &random)
            if let hash = expected.removeValue(forKey: slot) {
                index.remove(slot, hash: hash)
            } else {
                // With only eight hashes most searches collide. The search for a negative hash begins at the table's
                // end.
                let hash = Int.random(in: -4..<4, using: &random)
                index.insert(slot, hash: hash)
                expected[slot] = hash
            }
            for slot in 0..<60 {
                let hashesThatFindSlot = (-4..<4).filter { hash in index.slot(hash) { $0 == slot } == slot }
                if let hash = expected[slot] {
                    #expect(hashesThatFindSlot == [hash])
                } else {
                    #expect(hashesThatFindSlot.isEmpty, "the slot is not in the index")
                }
            }
        }
        #expect(index.count == expected.count)
    }
}
