// SPDX-License-Identifier: Apache-2.0

/// The name of a row; its text is the key of the row's record in the machine's state topic.
@usableFromInline package protocol RowKey: Hashable, Comparable, Sendable {
    /// The key as it is written in the state topic.
    var text: String { get }
    /// Parses a key; nil when `text` is not the text of a key.
    init?(text: String)
}

/// One row of a machine's state.
@usableFromInline package protocol JournalRow: Equatable, Sendable {
    /// How a journal saves rows for undo: as copies, unless the kind of row has a cheaper way.
    associatedtype UndoStore: RowUndoStore<Self> = CopyingUndoStore<Self>
    /// When the machine must handle the row without an input; nil means never.
    var due: Timestamp? { get }
}

/// The previous versions of the rows that the open batch changed, for its rollback.
@usableFromInline package protocol RowUndoStore<Row>: Sendable {
    associatedtype Row
    /// An empty store.
    init()
    /// Saves `row`; the first row gets number 0, the next number 1, and so on.
    mutating func save(_ row: Row)
    /// The row that was saved under `number`.
    subscript(number: Int) -> Row { get }
    /// Removes all rows but keeps the memory for the next batch.
    mutating func removeAll()
}

/// Rows saved as copies.
///
/// A copy shares its content with the row until the row changes; then the changed part is copied.
@usableFromInline package struct CopyingUndoStore<Row: Sendable>: RowUndoStore {
    @usableFromInline var rows: ContiguousArray<Row> = []

    @inlinable package init() {}
    @inlinable package mutating func save(_ row: Row) { self.rows.append(row) }
    @inlinable package subscript(number: Int) -> Row { self.rows[number] }
    @inlinable package mutating func removeAll() { self.rows.removeAll(keepingCapacity: true) }
}

/// The rows of one partition: a map with an undo record of the open batch, its changed rows, and the rows' due times.
///
/// `rollback()` restores the replaced rows when the batch's transaction aborts; `commit()` drops the undo record.
/// `changes` are the records for the state topic. Due times are computed from the rows, so they need no undo and no
/// restore.
///
/// An operation hashes the key once and finds the row's slot, which holds everything about the row. Before the first
/// change in a batch, the row is saved for undo in the `UndoStore` of its type.
@usableFromInline package struct Journal<Key: RowKey, Row: JournalRow>: Sendable {
    /// How the open batch changed a slot.
    @usableFromInline enum Change: Sendable {
        case none
        /// The batch created the row: the slot was empty before.
        case created
        /// The previous row is saved under this number.
        case replaced(Int)
    }

    /// One row with its key, due time and undo information.
    @usableFromInline struct Slot: Sendable {
        @usableFromInline var key: Key
        @usableFromInline var hash: Int
        /// The row; nil when the open batch removed it or the slot is free.
        @usableFromInline var row: Row?
        /// Whether the slot has a row; `row != nil` would copy the row.
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

        /// Saves the row for undo under `number`, if there is a row, and increases `number`.
        @inlinable mutating func saveForUndo(in undoStore: inout Row.UndoStore, under number: inout Int) {
            let isSaved: Void? = self.withRow { undoStore.save($0) }
            self.change = isSaved == nil ? .created : .replaced(number)
            if isSaved != nil { number += 1 }
        }
    }

    /// Maps keys to slots; a row that the open batch removed keeps its slot until the commit.
    @usableFromInline var slotIndex = SlotIndex()
    @usableFromInline var slots: ContiguousArray<Slot> = []
    @usableFromInline var freeSlots: [Int] = []
    /// Slots that the open batch changed, in the order of their first change.
    @usableFromInline var changedSlots: [Int] = []
    /// The rows that the open batch replaced.
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

    /// The index of the row `key`, which the caller looks up right after the row at `index`.
    ///
    /// Such pairs of look-ups recur. Therefore the slot stores the index of its neighbor, and the second look-up needs
    /// no hash.
    @inlinable package mutating func index(of key: Key, near index: Int) -> Int? {
        // A wrong hint, such as the initial 0, does no harm, because the key is compared.
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

    /// Commits the open batch: keeps its changes and drops the undo record.
    @inlinable package mutating func commit() {
        for index in self.changedSlots {
            self.slots[index].change = .none
            if !self.slots[index].isTaken { self.freeSlot(index) }
        }
        self.clearChanges()
        // A row has at most one due time, so more than half of the queue's entries are then former due times. The 64
        // avoid frequent rebuilds of a small queue.
        if self.dueTimes.count > 2 * self.count + 64 { self.rebuildDueTimes() }
    }

    /// Restores every row that the open batch replaced.
    @inlinable package mutating func rollback() {
        for index in self.changedSlots {
            self.replace(index, by: self.previousRow(index))
            self.slots[index].change = .none
            if !self.slots[index].isTaken { self.freeSlot(index) }
        }
        self.clearChanges()
        self.rebuildDueTimes()
    }

    /// Sets or removes a row as the state topic says; the change counts as committed.
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
    /// Removes the due time from the queue, so the row is returned once, unless it gets a new due time.
    @inlinable package mutating func popDue(at now: Timestamp) -> Key? {
        while let time = self.dueTimes.firstTime, time <= now, let first = self.dueTimes.first {
            self.dueTimes.removeFirst()
            if self.isCurrent(first) { return first.key }
        }
        return nil
    }

    // MARK: - Slots

    /// The index of the slot of `key`, even if the open batch removed the row; nil when there is no slot.
    @inlinable func findSlot(of key: Key, hash: Int) -> Int? {
        // A span reads the key in place; an array's subscript would copy it.
        self.slotIndex.slot(hash) { self.slots.span[$0].key == key }
    }

    /// Reserves a free or new slot for the key and returns its index; the slot has no row yet.
    @inlinable mutating func makeSlot(_ key: Key, _ hash: Int) -> Int {
        let index: Int
        if let freeIndex = self.freeSlots.popLast() {
            index = freeIndex
            self.slots[index].key = key
            self.slots[index].hash = hash
        } else {
            index = self.slots.count
            self.slots.append(Slot(key: key, hash: hash))
        }
        self.slotIndex.insert(index, hash)
        return index
    }

    /// Frees the slot.
    ///
    /// Its key stays until another row uses the slot, but no look-up finds it.
    @inlinable mutating func freeSlot(_ index: Int) {
        self.slotIndex.remove(index, self.slots[index].hash)
        self.freeSlots.append(index)
    }

    /// Marks the slot as changed and saves its row for undo; does nothing after the first change in a batch.
    @inlinable mutating func saveForUndo(_ index: Int) {
        guard case .none = self.slots[index].change else { return }
        self.changedSlots.append(index)
        self.slots[index].saveForUndo(in: &self.undoStore, under: &self.undoCount)
    }

    /// The row that a changed slot had before the open batch; nil when the slot was empty.
    @inlinable func previousRow(_ index: Int) -> Row? {
        guard case .replaced(let number) = self.slots[index].change else { return nil }
        return self.undoStore[number]
    }

    /// Forgets which slots the batch changed, and the rows that were saved for undo.
    @inlinable mutating func clearChanges() {
        self.changedSlots.removeAll(keepingCapacity: true)
        self.undoStore.removeAll()
        self.undoCount = 0
    }

    /// Puts `row` into the slot, or empties the slot when `row` is nil; saves nothing for undo.
    @inlinable mutating func replace(_ index: Int, by row: Row?) {
        let isTaken = row != nil
        self.count += (isTaken ? 1 : 0) - (self.slots[index].isTaken ? 1 : 0)
        self.slots[index].row = row
        self.slots[index].isTaken = isTaken
        self.setDue(index, row?.due)
    }

    // MARK: - Due times

    /// Whether an entry of the queue is the present due time of its row, not a former one.
    @inlinable func isCurrent(_ entry: DueQueue<Key>.Entry) -> Bool {
        guard let index = self.findSlot(of: entry.key, hash: entry.key.hashValue) else { return false }
        return self.slots[index].due == entry.time
    }

    /// Records when the row in a slot is due, and adds a changed due time to the queue.
    @inlinable mutating func setDue(_ index: Int, _ due: Timestamp?) {
        guard self.slots[index].due != due else { return }
        self.slots[index].due = due
        if let due { self.dueTimes.push(due, self.slots[index].key) }
    }

    /// Builds the queue anew, without the former due times.
    @inlinable mutating func rebuildDueTimes() {
        self.dueTimes = DueQueue()
        for slot in self.slots {
            if let due = slot.due { self.dueTimes.push(due, slot.key) }
        }
    }
}

extension JournalRow {
    /// Changes the row in place and returns its new due time, because reading the due time separately would copy the
    /// row.
    @inlinable mutating func change<R>(_ body: (inout Self) -> R) -> (result: R, due: Timestamp?) {
        let result = body(&self)
        return (result, self.due)
    }
}
