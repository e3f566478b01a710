// SPDX-License-Identifier: Apache-2.0

/// The rows of one partition: a map that also stores how to undo the open batch, which rows it changed, and when each
/// row is due.
///
/// When the batch's transaction aborts, `rollback()` restores the rows as they were before the batch. `commit()` drops
/// the rows that were saved for this. `changes` are the records for the state topic. Due times are computed from the
/// rows, so they are neither saved nor restored.
///
/// An operation hashes the key once and finds the row's slot, which holds everything about the row. Before the first
/// change in a batch, the row is saved for undo in the `UndoStore` of its type.
@usableFromInline package struct Journal<Key: RowKey, Row: JournalRow>: Sendable {
    /// How the open batch changed a slot.
    @usableFromInline enum Change: Sendable {
        case none
        /// The batch created the row: the slot was empty before.
        case created
        /// The batch changed or removed a row, which is saved for undo under this number.
        case replaced(Int)
    }

    /// One row with its key, due time and undo information.
    @usableFromInline struct Slot: Sendable {
        @usableFromInline var key: Key
        @usableFromInline var hash: Int
        /// The row; nil when the open batch removed it or the slot is free.
        @usableFromInline var row: Row?
        /// Whether the slot has a row; stored here, because the comparison `row != nil` would copy the row.
        @usableFromInline var isTaken = false
        /// When the row is due; stored here, because reading it from the row would copy the row's content.
        @usableFromInline var due: Timestamp?
        /// How the open batch changed the slot.
        @usableFromInline var change = Change.none

        /// The index of the slot that was last looked up right after this slot.
        @usableFromInline var neighborHint = 0

        @inlinable init(key: Key, hash: Int) {
            self.key = key
            self.hash = hash
        }

        /// Passes the row to `body`.
        ///
        /// The row is moved out of the slot and back, because reading it in place would copy it.
        @inlinable mutating func withRow<R>(_ body: (Row) -> R) -> R? {
            guard let row = self.row.take() else { return nil }
            let result = body(row)
            self.row = consume row
            return result
        }

        /// Records how the open batch changes this slot: saves the slot's row for undo under `number` and increases
        /// `number`, or marks the slot as created if it has no row.
        @inlinable mutating func saveForUndo(in undoStore: inout Row.UndoStore, under number: inout Int) {
            // `withRow` returns nil when the slot has no row.
            let isSaved = self.withRow { undoStore.save($0) } != nil
            self.change = isSaved ? .replaced(number) : .created
            if isSaved { number += 1 }
        }
    }

    /// Maps keys to slots; a row that the open batch removed keeps its slot until the commit.
    @usableFromInline var slotIndex = SlotIndex()
    @usableFromInline var slots: ContiguousArray<Slot> = []
    @usableFromInline var freeSlots: [Int] = []
    /// Slots that the open batch changed, in the order of their first change.
    @usableFromInline var changedSlots: [Int] = []
    /// The rows that the open batch changed or removed, as they were before the batch.
    @usableFromInline var undoStore = Row.UndoStore()
    /// The number of rows in `undoStore`.
    @usableFromInline var undoCount = 0
    /// The due times of the rows, and former due times that are still in the queue.
    @usableFromInline var dueTimes = DueQueue<Key>()
    /// The number of rows.
    @usableFromInline package internal(set) var count = 0

    /// An empty journal.
    @inlinable package init() {}

    /// All keys, sorted: for tests, snapshots and iterations that lead to effects.
    @inlinable package var sortedKeys: [Key] { self.sortedKeys { _ in true } }
    /// The keys that `isIncluded` selects, sorted, for iterations over one kind of row.
    @inlinable package func sortedKeys(where isIncluded: (Key) -> Bool) -> [Key] {
        var keys: [Key] = []
        for slot in self.slots where slot.isTaken && isIncluded(slot.key) { keys.append(slot.key) }
        return keys.sorted()
    }
    /// When the next row is due; nil when no row has a due time.
    @inlinable package var nextDue: Timestamp? {
        mutating get {
            // When a row changes its due time, the former due time stays in the queue until it reaches the head
            // and is dropped here.
            while let first = self.dueTimes.first, !self.isCurrent(first) { self.dueTimes.removeFirst() }
            return self.dueTimes.first?.time
        }
    }
    /// The key of the earliest row that is due at `now`; nil when no row is due.
    ///
    /// Unlike `popDue`, it leaves the due time in the queue. It is mutating, because it drops former due times.
    package mutating func dueKey(at now: Timestamp) -> Key? {
        guard let time = self.nextDue, time <= now else { return nil }
        return self.dueTimes.first?.key
    }

    /// The row `key`; setting it to nil removes the row.
    @inlinable package subscript(key: Key) -> Row? {
        get {
            guard let index = self.findSlot(of: key, hash: key.hashValue) else { return nil }
            return self.slots[index].row
        }
        set {
            let hash = key.hashValue
            guard let index = self.findSlot(of: key, hash: hash) else {
                guard let newValue else { return }
                let index = self.makeSlot(key, hash)
                self.saveForUndo(index)
                self.replace(index, by: newValue)
                return
            }
            guard self.slots[index].row != newValue else { return }
            self.saveForUndo(index)
            self.replace(index, by: newValue)
        }
    }

    /// Changes the row `key` in place, without copying its content.
    ///
    /// - Returns: what `body` returns, or nil when there is no such row.
    @inlinable package mutating func update<R>(_ key: Key, _ body: (inout Row) -> R) -> R? {
        guard let index = self.index(of: key) else { return nil }
        return self.update(at: index, body)
    }

    /// The index of the row `key`, for `row(at:)` and `update(at:)`; valid until the batch is committed or rolled back.
    ///
    /// - Returns: nil when there is no such row.
    @inlinable package func index(of key: Key) -> Int? {
        guard let index = self.findSlot(of: key, hash: key.hashValue), self.slots[index].isTaken else { return nil }
        return index
    }

    /// The index of the row `key`, which is looked up right after the row at `index`; nil when there is no such row.
    ///
    /// Such pairs of look-ups recur. Therefore the slot stores the index of its neighbor, and the second look-up needs
    /// no hash.
    @inlinable package mutating func index(of key: Key, near index: Int) -> Int? {
        // A wrong hint, such as the initial 0, does no harm, because the key of its slot is compared with `key`.
        let hint = self.slots[index].neighborHint
        if self.slots[hint].isTaken, self.slots.span[hint].key == key { return hint }
        guard let neighborIndex = self.index(of: key) else { return nil }
        self.slots[index].neighborHint = neighborIndex
        return neighborIndex
    }

    /// The row at `index`, which `index(of:)` returned in this batch; nil when the row was removed.
    @inlinable package func row(at index: Int) -> Row? { self.slots[index].row }

    /// Reads the row at `index`, which `index(of:)` returned in this batch, without copying its content.
    ///
    /// The method is mutating, because it moves the row out of its slot and back.
    ///
    /// - Returns: what `body` returns, or nil when the row was removed.
    @inlinable package mutating func read<R>(at index: Int, _ body: (Row) -> R) -> R? {
        self.slots[index].withRow(body)
    }

    /// Changes the row at `index`, which `index(of:)` returned in this batch, in place.
    ///
    /// - Returns: what `body` returns, or nil when the row was removed.
    @inlinable package mutating func update<R>(at index: Int, _ body: (inout Row) -> R) -> R? {
        guard self.slots[index].isTaken else { return nil }
        self.saveForUndo(index)
        guard let (result, due) = self.slots[index].row?.change(body) else { return nil }
        self.setDue(index, due)
        return result
    }

    /// The rows that the open batch has changed, in the order of their first change; nil for a removed row.
    @inlinable package var changes: [(key: Key, row: Row?)] {
        self.changedSlots.map { (self.slots[$0].key, self.slots[$0].row) }
    }

    /// Calls `body` with the previous and the current version of each row that the open batch has changed.
    @inlinable package func forEachChange(_ body: (_ previous: Row?, _ current: Row?) -> Void) {
        for index in self.changedSlots { body(self.previousRow(index), self.slots[index].row) }
    }

    /// Commits the open batch: keeps its changes, and drops the rows that are saved for undo.
    @inlinable package mutating func commit() {
        for index in self.changedSlots {
            self.slots[index].change = .none
            if !self.slots[index].isTaken { self.freeSlot(index) }
        }
        self.clearChanges()
        // A row has at most one due time. So if the queue has over twice as many entries as there are rows, most
        // entries are former due times. The addend 64 avoids frequent rebuilds of a small queue.
        if self.dueTimes.count > 2 * self.count + 64 { self.rebuildDueTimes() }
    }

    /// Aborts the open batch: restores the rows that it changed or removed, and removes those that it created.
    @inlinable package mutating func rollback() {
        for index in self.changedSlots {
            self.replace(index, by: self.previousRow(index))
            self.slots[index].change = .none
            if !self.slots[index].isTaken { self.freeSlot(index) }
        }
        self.clearChanges()
        self.rebuildDueTimes()
    }

    /// Sets or removes a row as the state topic says, while no batch is open; `rollback` does not undo the change.
    @inlinable package mutating func restore(_ key: Key, _ row: Row?) {
        let hash = key.hashValue
        let existingIndex = self.findSlot(of: key, hash: hash)
        if row == nil, existingIndex == nil { return }
        let index = existingIndex ?? self.makeSlot(key, hash)
        self.replace(index, by: row)
        if row == nil { self.freeSlot(index) }
    }

    /// The key of the earliest row that is due at `now`; nil when no row is due.
    ///
    /// Removes the due time from the queue, so a due row is returned only once, until it gets another due time.
    @inlinable package mutating func popDue(at now: Timestamp) -> Key? {
        while let time = self.dueTimes.firstTime, time <= now, let first = self.dueTimes.first {
            self.dueTimes.removeFirst()
            if self.isCurrent(first) { return first.key }
        }
        return nil
    }
}
