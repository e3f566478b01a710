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
    /// How a journal keeps rows for undo; copies, unless a kind of row has a cheaper way.
    associatedtype Kept: KeptRows<Self> = CopiedRows<Self>
    /// When the row wants to be looked at without an input, if ever.
    var due: Timestamp? { get }
}

/// Rows as they were when the open batch first changed them.
@usableFromInline package protocol KeptRows<Row>: Sendable {
    associatedtype Row
    /// No rows.
    init()
    /// Keeps `row`; the first one is number 0, the next number 1, and so on.
    mutating func keep(_ row: Row)
    /// The row that was kept under `number`.
    subscript(number: Int) -> Row { get }
    /// Forgets all rows, but holds the space for those of the next batch.
    mutating func removeAll()
}

/// Rows kept as copies: each shares what it holds with the row until that changes, and then the changed part is copied.
@usableFromInline package struct CopiedRows<Row: Sendable>: KeptRows {
    @usableFromInline var rows: ContiguousArray<Row> = []

    @inlinable package init() {}
    @inlinable package mutating func keep(_ row: Row) { self.rows.append(row) }
    @inlinable package subscript(number: Int) -> Row { self.rows[number] }
    @inlinable package mutating func removeAll() { self.rows.removeAll(keepingCapacity: true) }
}

/// The rows of one partition: a map that remembers what the open batch replaced, what it changed, and what is due when.
///
/// `rollback()` puts back what a batch replaced when its transaction aborts; `commit()` forgets it. `changes` are the
/// records for the state topic. Due times follow from the rows, so they need no undo and no restore of their own.
///
/// A key is hashed once an operation: it leads to the row's slot, and all that the journal knows of the row stands
/// there. A row is kept for undo once a batch, at its first change, in the way of its kind (`KeptRows`).
@usableFromInline package struct Journal<Key: RowKey, Row: JournalRow>: Sendable {
    /// What the open batch did with a slot.
    @usableFromInline enum Change: Sendable {
        case none
        /// Nothing stood there before.
        case made
        /// The row that stood there is kept under this number.
        case replaced(Int)
    }

    /// A row's place.
    @usableFromInline struct Slot: Sendable {
        @usableFromInline var key: Key
        @usableFromInline var hash: Int
        /// Nil: removed by the open batch, or free.
        @usableFromInline var row: Row?
        /// Whether there is a row: looking at the row itself would copy it.
        @usableFromInline var isTaken = false
        /// When the row is due: asking the row itself, before each change, would copy what it holds.
        @usableFromInline var due: Timestamp?
        /// What the open batch did with it.
        @usableFromInline var change = Change.none

        /// Where the row was that was last looked for beside this one.
        @usableFromInline var companion = 0

        @inlinable init(key: Key, hash: Int) {
            self.key = key
            self.hash = hash
        }

        /// Lends the row; taken out and put back, for a look at it where it stands would copy it.
        @inlinable mutating func lend<R>(_ body: (Row) -> R) -> R? {
            guard let row = self.row.take() else { return nil }
            let result = body(row)
            self.row = consume row
            return result
        }

        /// Keeps the row for undo under the next number, if there is one.
        @inlinable mutating func remember(in kept: inout Row.Kept, under number: inout Int) {
            let isKept: Void? = self.lend { kept.keep($0) }
            self.change = isKept == nil ? .made : .replaced(number)
            if isKept != nil { number += 1 }
        }
    }

    /// Where each key's slot is; a row that the open batch removed keeps its slot until the batch is committed.
    @usableFromInline var places = SlotIndex()
    @usableFromInline var slots: ContiguousArray<Slot> = []
    @usableFromInline var freeSlots: [Int] = []
    /// Slots that the open batch changed, in the order of their first change.
    @usableFromInline var changedSlots: [Int] = []
    /// What stood there before.
    @usableFromInline var kept = Row.Kept()
    @usableFromInline var keptCount = 0
    @usableFromInline var dueTimes = DueQueue<Key>()
    /// How many rows there are.
    @usableFromInline package internal(set) var count = 0

    /// An empty journal.
    @inlinable package init() {}

    /// Whether the open batch has changed anything.
    @inlinable package var hasChanges: Bool { !self.changedSlots.isEmpty }
    /// All keys, in their order: for tests, snapshots and walks that may reach an effect.
    @inlinable package var sortedKeys: [Key] { self.sortedKeys { _ in true } }
    /// The keys that `isWanted` picks, in their order: for walks over one kind of row.
    @inlinable package func sortedKeys(where isWanted: (Key) -> Bool) -> [Key] {
        var keys: [Key] = []
        for slot in self.slots where slot.isTaken && isWanted(slot.key) { keys.append(slot.key) }
        return keys.sorted()
    }
    /// When the next row is due, if any is.
    @inlinable package var nextDue: Timestamp? {
        mutating get {
            // A row that changed its due time leaves its old one behind; those are dropped when they come first.
            while let first = self.dueTimes.first, !self.isDue(first) { self.dueTimes.removeFirst() }
            return self.dueTimes.first?.time
        }
    }

    /// The row `key`; setting it to nil removes the row.
    @inlinable package subscript(key: Key) -> Row? {
        get {
            guard let place = self.slot(of: key, key.hashValue) else { return nil }
            return self.slots[place].row
        }
        set {
            let hash = key.hashValue
            guard let place = self.slot(of: key, hash) else {
                guard let newValue else { return }
                let place = self.makeSlot(key, hash)
                self.remember(place)
                self.replace(place, by: newValue)
                return
            }
            guard self.slots[place].row != newValue else { return }
            self.remember(place)
            self.replace(place, by: newValue)
        }
    }

    /// Changes the row `key` in place, without a copy of what it holds.
    ///
    /// - Returns: what `body` returns, or nil when there is no such row.
    @inlinable package mutating func update<R>(_ key: Key, _ body: (inout Row) -> R) -> R? {
        guard let place = self.place(of: key) else { return nil }
        return self.update(at: place, body)
    }

    /// Where the row `key` stands, for `row(at:)` and `update(at:)`; holds until the batch is committed or rolled back.
    ///
    /// - Returns: nil when there is no such row.
    @inlinable package func place(of key: Key) -> Int? {
        guard let place = self.slot(of: key, key.hashValue), self.slots[place].isTaken else { return nil }
        return place
    }

    /// Where the row `key` stands, as `place(of:)` tells, for who has just looked for the row at `place`: rows that are
    /// looked for together once are so again and again, and then one look finds the second.
    @inlinable package mutating func place(of key: Key, beside place: Int) -> Int? {
        let known = self.slots[place].companion
        if self.slots[known].isTaken, self.slots.span[known].key == key { return known }
        guard let found = self.place(of: key) else { return nil }
        self.slots[place].companion = found
        return found
    }

    /// The row at `place`, which `place(of:)` gave in this batch; nil: it was removed.
    @inlinable package func row(at place: Int) -> Row? { self.slots[place].row }

    /// Looks at the row at `place`, which `place(of:)` gave in this batch, without a copy of what it holds.
    ///
    /// - Returns: what `body` returns, or nil when the row was removed.
    @inlinable package mutating func look<R>(at place: Int, _ body: (Row) -> R) -> R? {
        self.slots[place].lend(body)
    }

    /// Changes the row at `place`, which `place(of:)` gave in this batch, in place.
    ///
    /// - Returns: what `body` returns, or nil when the row was removed.
    @inlinable package mutating func update<R>(at place: Int, _ body: (inout Row) -> R) -> R? {
        guard self.slots[place].isTaken else { return nil }
        self.remember(place)
        guard let (result, due) = self.slots[place].row?.change(body) else { return nil }
        self.note(place, due)
        return result
    }

    /// The rows that the open batch has changed, in the order of their first change; nil: removed.
    @inlinable package var changes: [(key: Key, row: Row?)] {
        self.changedSlots.map { (self.slots[$0].key, self.slots[$0].row) }
    }

    /// Calls `body` for each row that the open batch has changed: as it was before, and as it is.
    @inlinable package func forEachChange(_ body: (Row?, Row?) -> Void) {
        for place in self.changedSlots { body(self.replaced(place), self.slots[place].row) }
    }

    /// Keeps what the open batch did.
    @inlinable package mutating func commit() {
        for place in self.changedSlots {
            self.slots[place].change = .none
            if !self.slots[place].isTaken { self.freeSlot(place) }
        }
        self.forgetChanges()
        if self.dueTimes.count > 2 * self.count + 64 { self.rebuildDueTimes() }
    }

    /// Puts back every row that the open batch replaced.
    @inlinable package mutating func rollback() {
        for place in self.changedSlots {
            self.replace(place, by: self.replaced(place))
            self.slots[place].change = .none
            if !self.slots[place].isTaken { self.freeSlot(place) }
        }
        self.forgetChanges()
        self.rebuildDueTimes()
    }

    /// Takes in a row read from the state topic; it counts as committed.
    @inlinable package mutating func restore(_ key: Key, _ row: Row?) {
        let hash = key.hashValue
        let known = self.slot(of: key, hash)
        if row == nil, known == nil { return }
        let place = known ?? self.makeSlot(key, hash)
        self.replace(place, by: row)
        if row == nil { self.freeSlot(place) }
    }

    /// The next row that is due at `now`, each at most once for each of its due times.
    @inlinable package mutating func popDue(at now: Timestamp) -> Key? {
        while let time = self.dueTimes.firstTime, time <= now, let first = self.dueTimes.first {
            self.dueTimes.removeFirst()
            if self.isDue(first) { return first.key }
        }
        return nil
    }

    // MARK: - Slots

    @inlinable func slot(of key: Key, _ hash: Int) -> Int? {
        // Through a span, which looks at the key where it stands: an array would hand out a copy.
        self.places.slot(hash) { self.slots.span[$0].key == key }
    }

    @inlinable mutating func makeSlot(_ key: Key, _ hash: Int) -> Int {
        let place: Int
        if let free = self.freeSlots.popLast() {
            place = free
            self.slots[place].key = key
            self.slots[place].hash = hash
        } else {
            place = self.slots.count
            self.slots.append(Slot(key: key, hash: hash))
        }
        self.places.insert(place, hash)
        return place
    }

    /// Its key stays until the next row takes the slot: it is no longer led to.
    @inlinable mutating func freeSlot(_ place: Int) {
        self.places.remove(place, self.slots[place].hash)
        self.freeSlots.append(place)
    }

    /// Keeps what stands in the slot for undo, once a batch.
    @inlinable mutating func remember(_ place: Int) {
        guard case .none = self.slots[place].change else { return }
        self.changedSlots.append(place)
        self.slots[place].remember(in: &self.kept, under: &self.keptCount)
    }

    /// What stood in a changed slot before.
    @inlinable func replaced(_ place: Int) -> Row? {
        guard case .replaced(let number) = self.slots[place].change else { return nil }
        return self.kept[number]
    }

    @inlinable mutating func forgetChanges() {
        self.changedSlots.removeAll(keepingCapacity: true)
        self.kept.removeAll()
        self.keptCount = 0
    }

    @inlinable mutating func replace(_ place: Int, by row: Row?) {
        let isTaken = row != nil
        self.count += (isTaken ? 1 : 0) - (self.slots[place].isTaken ? 1 : 0)
        self.slots[place].row = row
        self.slots[place].isTaken = isTaken
        self.note(place, row?.due)
    }

    // MARK: - Due times

    @inlinable func isDue(_ entry: DueQueue<Key>.Entry) -> Bool {
        guard let place = self.slot(of: entry.key, entry.key.hashValue) else { return false }
        return self.slots[place].due == entry.time
    }

    /// Takes in when the row in a slot is due now; the queue has it already unless that has changed.
    @inlinable mutating func note(_ place: Int, _ due: Timestamp?) {
        guard self.slots[place].due != due else { return }
        self.slots[place].due = due
        if let due { self.dueTimes.push(due, self.slots[place].key) }
    }

    @inlinable mutating func rebuildDueTimes() {
        self.dueTimes = DueQueue()
        for slot in self.slots {
            if let due = slot.due { self.dueTimes.push(due, slot.key) }
        }
    }
}

extension JournalRow {
    /// Changes the row where it stands, and tells when it is due then: taking it out to look would copy it.
    @inlinable mutating func change<R>(_ body: (inout Self) -> R) -> (result: R, due: Timestamp?) {
        let result = body(&self)
        return (result, self.due)
    }
}
