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
@usableFromInline package struct Journal<Key: RowKey, Row: JournalRow>: Sendable {
    @usableFromInline var rows: [Key: Row] = [:]
    /// What stood there when the open batch first changed it; `.some(nil)`: nothing.
    @usableFromInline var replaced: [Key: Row?] = [:]
    @usableFromInline var changedKeys: [Key] = []
    @usableFromInline var dueTimes = DueQueue<Key>()

    /// An empty journal.
    @inlinable package init() {}

    /// How many rows there are.
    @inlinable package var count: Int { self.rows.count }
    /// Whether the open batch has changed anything.
    @inlinable package var hasChanges: Bool { !self.changedKeys.isEmpty }
    /// All keys, in their order: for tests, snapshots and walks that may reach an effect.
    @inlinable package var sortedKeys: [Key] { self.rows.keys.sorted() }
    /// The keys that `isWanted` picks, in their order: for walks over one kind of row.
    @inlinable package func sortedKeys(where isWanted: (Key) -> Bool) -> [Key] {
        self.rows.keys.filter(isWanted).sorted()
    }
    /// When the next row is due, if any is.
    @inlinable package var nextDue: Timestamp? {
        mutating get {
            self.dropStaleDueTimes()
            return self.dueTimes.first?.time
        }
    }

    /// The row `key`; setting it to nil removes the row.
    @inlinable package subscript(key: Key) -> Row? {
        get { self.rows[key] }
        set {
            let old = self.rows[key]
            guard old != newValue else { return }
            if self.replaced.index(forKey: key) == nil { self.remember(key, old) }
            self.rows[key] = newValue
            if let due = newValue?.due, due != old?.due { self.dueTimes.push(due, key) }
        }
    }

    /// Changes the row `key` in place, without a copy of what it holds.
    ///
    /// - Returns: what `body` returns, or nil when there is no such row.
    @inlinable package mutating func update<R>(_ key: Key, _ body: (inout Row) -> R) -> R? {
        guard let index = self.rows.index(forKey: key) else { return nil }
        // The copy kept for undo is made once a batch; later changes happen in place.
        if self.replaced.index(forKey: key) == nil { self.remember(key, self.rows.values[index]) }
        let (result, oldDue, newDue) = Self.change(&self.rows.values[index], body)
        if let newDue, newDue != oldDue { self.dueTimes.push(newDue, key) }
        return result
    }

    /// Reads both due times where the row stands: taking it out to look would copy it.
    @inlinable static func change<R>(
        _ row: inout Row, _ body: (inout Row) -> R
    ) -> (result: R, oldDue: Timestamp?, newDue: Timestamp?) {
        let oldDue = row.due
        let result = body(&row)
        return (result, oldDue, row.due)
    }

    /// The rows that the open batch has changed, in the order of their first change; nil: removed.
    @inlinable package var changes: [(key: Key, row: Row?)] { self.changedKeys.map { ($0, self.rows[$0]) } }

    /// Calls `body` for each row that the open batch has changed: as it was before, and as it is.
    @inlinable package func forEachChange(_ body: (Row?, Row?) -> Void) {
        for key in self.changedKeys { body(self.replaced[key] ?? nil, self.rows[key]) }
    }

    /// Keeps what the open batch did.
    @inlinable package mutating func commit() {
        self.replaced.removeAll(keepingCapacity: true)
        self.changedKeys.removeAll(keepingCapacity: true)
        if self.dueTimes.count > 2 * self.rows.count + 64 { self.rebuildDueTimes() }
    }

    /// Puts back every row that the open batch replaced.
    package mutating func rollback() {
        for key in self.changedKeys {
            self.rows[key] = self.replaced[key] ?? nil
        }
        self.replaced.removeAll()
        self.changedKeys.removeAll()
        self.rebuildDueTimes()
    }

    /// Takes in a row read from the state topic; it counts as committed.
    @inlinable package mutating func restore(_ key: Key, _ row: Row?) {
        self.rows[key] = row
        if let due = row?.due { self.dueTimes.push(due, key) }
    }

    /// The next row that is due at `now`, each at most once for each of its due times.
    @inlinable package mutating func popDue(at now: Timestamp) -> Key? {
        // The time is looked at first: with most inputs nothing is due, and no row is looked up.
        while let first = self.dueTimes.first, first.time <= now {
            self.dueTimes.removeFirst()
            if self.rows[first.key]?.due == first.time { return first.key }
        }
        return nil
    }

    @inlinable mutating func remember(_ key: Key, _ old: Row?) {
        self.replaced[key] = .some(old)
        self.changedKeys.append(key)
    }

    /// A row that changed its due time leaves its old one behind; those are dropped when they come first.
    @inlinable mutating func dropStaleDueTimes() {
        while let first = self.dueTimes.first, self.rows[first.key]?.due != first.time { self.dueTimes.removeFirst() }
    }

    @usableFromInline mutating func rebuildDueTimes() {
        self.dueTimes = DueQueue()
        for (key, row) in self.rows {
            if let due = row.due { self.dueTimes.push(due, key) }
        }
    }
}
