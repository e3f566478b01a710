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
    /// How a journal (the map of a partition's rows) saves rows for undo: as copies, unless there is a cheaper way.
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

extension JournalRow {
    /// Changes the row in place and returns its new due time, because reading the due time separately would copy the
    /// row.
    @inlinable mutating func change<R>(_ body: (inout Self) -> R) -> (result: R, due: Timestamp?) {
        let result = body(&self)
        return (result, self.due)
    }
}
