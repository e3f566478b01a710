// SPDX-License-Identifier: Apache-2.0

/// Where and when an input stands: its time on the broker's clock and its offset in the inbox partition.
@usableFromInline package struct Moment: Hashable, Sendable {
    /// The broker's time of the input; never goes back.
    ///
    /// For a row that falls due it is the time of the input that made time pass.
    @usableFromInline package var now: Timestamp
    /// The offset of the input in its inbox partition.
    @usableFromInline package var offset: Int64

    /// A moment at `now`, at `offset` of the inbox.
    @inlinable package init(now: Timestamp, offset: Int64) {
        self.now = now
        self.offset = offset
    }
}

/// A pure decision maker: inputs and rows go in, changed rows and effects come out.
///
/// A machine has no state of its own: all of it is rows in the journal, so undo, restore and state records are written
/// once, for all machines. It does no IO and sees neither clock nor chance. Every input is handled in every state; a
/// bad one becomes a refusal among the effects, never a trap. Nothing that iterates over a dictionary or a set may
/// reach an effect unsorted.
@usableFromInline package protocol Machine<Input, Key, Row, Effect>: Sendable {
    /// A command, or a fact that another machine tells.
    associatedtype Input: Sendable
    /// The name of a row.
    associatedtype Key: RowKey
    /// One keyed piece of the machine's state.
    associatedtype Row: JournalRow
    /// What is to be done: plain data.
    associatedtype Effect: Sendable & Equatable

    /// Decides one input.
    ///
    /// - Parameters:
    ///   - input: what was read from the inbox.
    ///   - journal: the rows of the input's partition.
    ///   - moment: the time and the offset of the input.
    ///   - effects: what follows is appended here, in order.
    func handle(_ input: Input, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect])

    /// Decides what follows from the row `key` having fallen due.
    ///
    /// Must change the row so that it is no longer due at `moment.now`; a row that stays due is cleared of its due time
    /// by the journal's caller no sooner than the next input.
    func due(_ key: Key, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect])
}

extension Machine {
    /// Handles all rows that are due at `moment`, earliest first.
    ///
    /// - Parameters:
    ///   - journal: the rows.
    ///   - moment: the time and the offset of the input that made time pass.
    ///   - limit: the most rows handled in one call; the rest wait for the next.
    ///   - effects: what follows is appended here, in order.
    /// - Returns: how many rows were handled.
    @inlinable @discardableResult
    package func handleDue(
        in journal: inout Journal<Key, Row>, at moment: Moment, limit: Int = 10_000, into effects: inout [Effect]
    ) -> Int {
        var handled = 0
        while handled < limit, let key = journal.popDue(at: moment.now) {
            self.due(key, in: &journal, at: moment, into: &effects)
            handled += 1
        }
        return handled
    }
}
