// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials
package import MachineKit

/// One partition of a machine: its rows, and a clock that only the test advances.
///
/// `rows` are in memory; nothing is written to a state topic.
package struct MachineHarness<M: Machine> {
    package var machine: M
    package var rows = Journal<M.Key, M.Row>()
    /// The clock, and the offset of the last input or tick; each input and each tick has the next offset.
    package var moment: Moment

    /// Creates a partition without rows.
    ///
    /// - Parameters:
    ///   - machine: The machine.
    ///   - moment: Where the clock and the offsets begin; the first input or tick has the next offset.
    package init(_ machine: M, at moment: Moment = Moment(now: Timestamp(milliseconds: 1_000_000), offset: 0)) {
        (self.machine, self.moment) = (machine, moment)
    }

    /// The clock: the time of the last input or tick, unless the test has set it since then.
    package var now: Timestamp {
        get { self.moment.now }
        set { self.moment.now = newValue }
    }

    /// The offset of the last input or tick.
    package var offset: Int64 {
        get { self.moment.offset }
        set { self.moment.offset = newValue }
    }

    /// The moment of the next input or tick.
    private var nextMoment: Moment {
        var moment = self.moment
        moment.offset += 1
        return moment
    }

    /// Handles the due rows, then one input at the next offset, as a service does, and commits; returns the effects.
    @discardableResult package mutating func send(_ input: M.Input) -> [M.Effect] {
        self.handle(input, at: self.nextMoment)
    }

    /// Does the same as `send`, but does not commit, so that a test can roll the rows back.
    package mutating func sendUncommitted(_ input: M.Input) -> [M.Effect] {
        self.handleUncommitted(input, at: self.nextMoment)
    }

    /// Advances the clock, handles the rows that fall due at the next offset, as a tick does, and commits; returns the
    /// effects.
    @discardableResult package mutating func advance(_ span: Milliseconds) -> [M.Effect] {
        self.now = self.now + span
        return self.handle(nil, at: self.nextMoment)
    }

    /// Handles the due rows, then the input, if there is one, at a moment that the test names, and commits; returns the
    /// effects.
    package mutating func handle(_ input: M.Input?, at moment: Moment) -> [M.Effect] {
        defer { self.rows.commit() }
        return self.handleUncommitted(input, at: moment)
    }

    private mutating func handleUncommitted(_ input: M.Input?, at moment: Moment) -> [M.Effect] {
        self.moment = moment
        var effects: [M.Effect] = []
        self.machine.handleDue(in: &self.rows, at: moment, into: &effects)
        if let input { self.machine.handle(input, in: &self.rows, at: moment, into: &effects) }
        return effects
    }
}

extension MachineHarness {
    /// The number of rows whose keys have this kind as their first part.
    package func rowCount(of kind: String) -> Int { self.rows.sortedKeys.count { $0.text.hasPrefix(kind + "/") } }
}

extension MachineHarness where M.Row: Codable {
    /// Whether every key and row is unchanged after encoding for the state topic and decoding.
    package func roundTripsThroughStateTopic() throws -> Bool {
        for key in self.rows.sortedKeys {
            guard let row = self.rows[key] else { return false }
            let encodedRow = try JSONEncoder().encode(row)
            guard try JSONDecoder().decode(M.Row.self, from: encodedRow) == row, M.Key(text: key.text) == key else {
                return false
            }
        }
        return true
    }
}
