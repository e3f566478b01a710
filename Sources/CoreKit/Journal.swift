// SPDX-License-Identifier: Apache-2.0

/// The name of a row; its text is the key of the row's record in the machine's state topic.
@usableFromInline package protocol RowKey: Hashable, Comparable, Sendable {
    /// The key as it stands in the state topic.
    var text: String { get }
    /// The key that `text` spells, if it spells one.
    init?(text: String)
}

/// One keyed piece of a machine's state.
@usableFromInline package protocol JournalRow: Equatable, Sendable {
    /// When the row wants to be looked at without an input, if ever.
    var due: Timestamp? { get }
}

/// The rows of one partition: a map that remembers what the open batch replaced, what it changed, and what is due when.
///
/// `rollback()` puts back what a batch replaced when its transaction aborts; `commit()` forgets it. `changes` are the
/// records for the state topic. Due times follow from the rows, so they need no undo and no restore of their own.
/// A row that the batch removes leaves its place behind until the batch ends, so that each change is one look-up.
@usableFromInline package struct Journal<Key: RowKey, Row: JournalRow>: Sendable {
    /// The place of a row.
    @usableFromInline struct Slot: Sendable {
        /// Nil: the open batch removed it, or made and removed it.
        @usableFromInline var row: Row?
        /// The batch that last changed it.
        @usableFromInline var batch: Int

        @inlinable init(row: Row?, batch: Int) {
            self.row = row
            self.batch = batch
        }
    }

    /// What stood in a place when the open batch first changed it; nil: nothing.
    @usableFromInline struct Replaced: Sendable {
        @usableFromInline let key: Key
        @usableFromInline let row: Row?

        @inlinable init(key: Key, row: Row?) {
            self.key = key
            self.row = row
        }
    }

    @usableFromInline var slots: [Key: Slot] = [:]
    /// The number of the open batch; places that were not changed since a restore have 0.
    @usableFromInline var batch = 1
    /// In the order of the first changes.
    @usableFromInline var replaced: [Replaced] = []
    /// Keys of which the open batch removed a row, perhaps to make it again.
    @usableFromInline var removed: [Key] = []
    /// Places without a row.
    @usableFromInline var emptied = 0
    @usableFromInline var dueTimes = DueQueue<Key>()

    /// An empty journal.
    @inlinable package init() {}

    /// How many rows there are.
    @inlinable package var count: Int { self.slots.count - self.emptied }
    /// Whether the open batch has changed anything.
    @inlinable package var hasChanges: Bool { !self.replaced.isEmpty }
    /// All keys, in their order: for tests, snapshots and walks that may reach an effect.
    @inlinable package var sortedKeys: [Key] { self.sortedKeys { _ in true } }
    /// The keys that `isWanted` picks, in their order: for walks over one kind of row.
    @inlinable package func sortedKeys(where isWanted: (Key) -> Bool) -> [Key] {
        self.slots.compactMap { $0.value.row != nil && isWanted($0.key) ? $0.key : nil }.sorted()
    }
    /// When the next row is due, if any is.
    @inlinable package var nextDue: Timestamp? {
        mutating get {
            while let first = self.dueTimes.first {
                if self.isDue(first) { return first.time }
                self.dueTimes.removeFirst()
            }
            return nil
        }
    }

    /// The row `key`; setting it to nil removes the row.
    @inlinable package subscript(key: Key) -> Row? {
        get {
            guard let index = self.slots.index(forKey: key) else { return nil }
            return self.slots.values[index].row
        }
        set {
            guard let index = self.slots.index(forKey: key) else {
                guard let newValue else { return }
                self.replaced.append(Replaced(key: key, row: nil))
                self.slots[key] = Slot(row: newValue, batch: self.batch)
                if let due = newValue.due { self.dueTimes.push(due, key) }
                return
            }
            let old = self.slots.values[index].row
            guard old != newValue else { return }
            self.remember(key, at: index)
            self.slots.values[index].row = newValue
            if newValue == nil {
                self.removed.append(key)
                self.emptied += 1
            } else if old == nil {
                self.emptied -= 1
            }
            if let due = newValue?.due, due != old?.due { self.dueTimes.push(due, key) }
        }
    }

    /// Changes the row `key` in place, without a copy of what it holds.
    ///
    /// - Returns: what `body` returns, or nil when there is no such row.
    @inlinable package mutating func update<R>(_ key: Key, _ body: (inout Row) -> R) -> R? {
        guard let index = self.slots.index(forKey: key), self.slots.values[index].row != nil else { return nil }
        // The copy kept for undo is made once a batch; later changes happen in place.
        self.remember(key, at: index)
        guard let changed = Self.change(&self.slots.values[index], body) else { return nil }
        if let due = changed.newDue, due != changed.oldDue { self.dueTimes.push(due, key) }
        return changed.result
    }

    /// Takes the row out of its place for the time of the change, so that nobody shares what it holds.
    @inlinable static func change<R>(
        _ slot: inout Slot, _ body: (inout Row) -> R
    ) -> (result: R, oldDue: Timestamp?, newDue: Timestamp?)? {
        guard var row = slot.row.take() else { return nil }
        let oldDue = row.due
        let result = body(&row)
        let newDue = row.due
        slot.row = row
        return (result, oldDue, newDue)
    }

    /// The rows that the open batch has changed, in the order of their first change; nil: removed.
    @inlinable package var changes: [(key: Key, row: Row?)] { self.replaced.map { ($0.key, self[$0.key]) } }

    /// Calls `body` for each row that the open batch has changed: as it was before, and as it is.
    @inlinable package func forEachChange(_ body: (Row?, Row?) -> Void) {
        for before in self.replaced { body(before.row, self[before.key]) }
    }

    /// Keeps what the open batch did.
    @inlinable package mutating func commit() {
        for key in self.removed {
            if let index = self.slots.index(forKey: key), self.slots.values[index].row == nil {
                self.slots.remove(at: index)
            }
        }
        self.beginBatch()
        if self.dueTimes.count > 2 * self.slots.count + 64 { self.rebuildDueTimes() }
    }

    /// Puts back every row that the open batch replaced.
    package mutating func rollback() {
        for before in self.replaced { self.slots[before.key] = before.row.map { Slot(row: $0, batch: 0) } }
        self.beginBatch()
        self.rebuildDueTimes()
    }

    /// Takes in a row read from the state topic; it counts as committed.
    @inlinable package mutating func restore(_ key: Key, _ row: Row?) {
        self.slots[key] = row.map { Slot(row: $0, batch: 0) }
        if let due = row?.due { self.dueTimes.push(due, key) }
    }

    /// The next row that is due at `now`, each at most once for each of its due times.
    @inlinable package mutating func popDue(at now: Timestamp) -> Key? {
        while let first = self.dueTimes.first, first.time <= now {
            self.dueTimes.removeFirst()
            if self.isDue(first) { return first.key }
        }
        return nil
    }

    /// Keeps the row at `index` for undo, when the open batch has not changed it yet.
    @inlinable mutating func remember(_ key: Key, at index: Dictionary<Key, Slot>.Index) {
        if self.slots.values[index].batch == self.batch { return }
        self.replaced.append(Replaced(key: key, row: self.slots.values[index].row))
        self.slots.values[index].batch = self.batch
    }

    @inlinable mutating func beginBatch() {
        self.replaced.removeAll(keepingCapacity: true)
        self.removed.removeAll(keepingCapacity: true)
        self.emptied = 0
        self.batch += 1
    }

    /// Whether the row still is due then: one that changed its due time leaves its old one behind.
    @inlinable func isDue(_ entry: DueQueue<Key>.Entry) -> Bool { self[entry.key]?.due == entry.time }

    @usableFromInline mutating func rebuildDueTimes() {
        self.dueTimes = DueQueue()
        for (key, slot) in self.slots {
            if let due = slot.row?.due { self.dueTimes.push(due, key) }
        }
    }
}
