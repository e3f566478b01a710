// SPDX-License-Identifier: Apache-2.0

/// The time of an input on the broker's clock, and its offset in the inbox partition.
@usableFromInline package struct Moment: Hashable, Sendable {
    /// The broker's time of the input; never decreases.
    ///
    /// When a machine handles a due row, this is the time of the input that advanced the clock.
    @usableFromInline package var now: Timestamp
    /// The offset of the input in its inbox partition.
    @usableFromInline package var offset: Int64
    /// How long the partition has stood still so far: the sum of the times in which it had no owner or no input.
    ///
    /// Never decreases, unless an owner of the partition (the instance that runs its machine) is of an older release,
    /// which does not commit the sum. What was added to the sum since the last call of an idempotency window extends
    /// the window.
    @usableFromInline package var standstill: Milliseconds

    /// A gap between two inputs that is longer than this is a standstill.
    ///
    /// While a row has a due time, ticks are at most one second apart. The Redis script `change.lua`, which extends
    /// leases by standstills, uses the same limit.
    @inlinable package static var maxGap: Milliseconds { .seconds(2) }

    /// Makes a moment from the time and the offset of an input, and the standstill of its partition so far.
    @inlinable package init(now: Timestamp, offset: Int64, standstill: Milliseconds = Milliseconds(0)) {
        self.now = now
        self.offset = offset
        self.standstill = standstill
    }

    /// The standstill between two consecutive inputs at `previous` and `now`.
    ///
    /// It is 0 when the gap is at most `maxGap`, and when `previous` is `distantPast`, which means that there was no
    /// input before.
    @inlinable package static func standstill(from previous: Timestamp, to now: Timestamp) -> Milliseconds {
        guard previous > .distantPast, now - previous > Self.maxGap else { return Milliseconds(0) }
        return now - previous
    }
}

/// A deterministic state machine: it handles an input with its partition's rows, and returns changed rows and effects.
///
/// A machine has no stored state. All state is in the rows of the journal, so that undo, restore and state records are
/// implemented once for all machines. A machine does no IO and uses neither clock nor random numbers. It handles every
/// input in every state: a bad input leads to a rejection among the effects, never to a trap. The result of an
/// iteration over a dictionary or a set must be sorted before it leads to effects.
@usableFromInline package protocol Machine<Input, Key, Row, Effect>: Sendable {
    /// A command, or a fact from another machine.
    associatedtype Input: Sendable
    /// The key of a row.
    associatedtype Key: RowKey
    /// One keyed piece of the machine's state.
    associatedtype Row: JournalRow
    /// An action that the machine's shell, the loop that runs the machine, performs; as plain data.
    associatedtype Effect: Sendable & Equatable

    /// Processes one input.
    ///
    /// - Parameters:
    ///   - input: the input, read from the inbox.
    ///   - journal: the rows of the input's partition.
    ///   - moment: the time and the offset of the input.
    ///   - effects: the resulting effects are appended to this array, in order.
    func handle(_ input: Input, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect])

    /// Handles the row `key`, which is due.
    ///
    /// Must change the row so that it is no longer due at `moment.now`. The due time has already left the
    /// queue, so a row that keeps its due time is possibly never handled again.
    func handleDueRow(_ key: Key, in journal: inout Journal<Key, Row>, at moment: Moment, into effects: inout [Effect])
}

extension Machine {
    /// Handles all rows that are due at `moment`, earliest first.
    ///
    /// - Parameters:
    ///   - journal: the rows.
    ///   - moment: the time and the offset of the input that advanced the clock.
    ///   - limit: the maximum number of rows to handle in this call; later calls handle the rest.
    ///   - effects: the resulting effects are appended to this array, in order.
    /// - Returns: the number of handled rows.
    @inlinable @discardableResult
    package func handleDue(
        in journal: inout Journal<Key, Row>, at moment: Moment, limit: Int = 10_000, into effects: inout [Effect]
    ) -> Int {
        var handledCount = 0
        while handledCount < limit, let key = journal.popDue(at: moment.now) {
            self.handleDueRow(key, in: &journal, at: moment, into: &effects)
            handledCount += 1
        }
        return handledCount
    }
}
