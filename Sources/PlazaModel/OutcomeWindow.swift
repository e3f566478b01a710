// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// The last outcomes of one session's calls at one machine, so that a call sent again is answered again and never
/// applied twice (I15).
///
/// Holds at most `limit` outcomes, for `lifetime` after the last one. A counter at or below one that was let go is
/// refused: it can no longer be told whether it was applied.
package struct OutcomeWindow: Hashable, Sendable, Codable {
    /// The most calls that one session may have open in a live, and so the outcomes worth keeping.
    package static let limit = 16
    /// How long a retry can still be told from a new call.
    package static let lifetime = Milliseconds.seconds(60)

    /// What is known of a call; indirect, for a window is copied far more often than its entries are read.
    package indirect enum Entry: Hashable, Sendable, Codable {
        /// It was decided here.
        case answered(outcome: Outcome, seen: Seen?)
        /// It was passed on to another machine, which decides and answers.
        case passedOn
    }

    /// What to do with a call.
    package enum Verdict: Hashable, Sendable {
        case fresh
        case repeated(Entry)
        case forgotten
    }

    package struct Kept: Hashable, Sendable, Codable {
        package var counter: Int64
        package var entry: Entry
    }

    /// In the order in which the calls were decided.
    package private(set) var kept: [Kept] = []
    /// The highest counter that was let go.
    package private(set) var floor: Int64 = .min
    /// When the window may go.
    package private(set) var expiresAt: Timestamp

    /// When a row that holds the window falls due: its end, rounded up to ten seconds, so that a busy session's row
    /// changes its due time once in ten seconds and not with each call.
    package var due: Timestamp {
        let step: Int64 = 10_000
        return Timestamp(milliseconds: (self.expiresAt.milliseconds + step - 1) / step * step)
    }

    /// An empty window.
    package init(at now: Timestamp) { self.expiresAt = now + Self.lifetime }

    /// Tells whether the call `counter` is new.
    package func verdict(on counter: Int64) -> Verdict {
        if let index = self.index(of: counter) { return .repeated(self.kept[index].entry) }
        return counter <= self.floor ? .forgotten : .fresh
    }

    /// Keeps what became of the call `counter`; what a second step decided takes the place of `passedOn`.
    package mutating func record(_ counter: Int64, _ entry: Entry, at now: Timestamp) {
        self.expiresAt = now + Self.lifetime
        if let index = self.index(of: counter) {
            self.kept[index].entry = entry
            return
        }
        if self.kept.count == Self.limit { self.floor = max(self.floor, self.kept.removeFirst().counter) }
        self.kept.append(Kept(counter: counter, entry: entry))
    }

    /// Puts other entries in the place of those for which `other` gives one.
    package mutating func replace(_ other: (Entry) -> Entry?) {
        for index in self.kept.indices {
            if let entry = other(self.kept[index].entry) { self.kept[index].entry = entry }
        }
    }

    /// By index, for an iterator would copy each entry.
    private func index(of counter: Int64) -> Int? {
        for index in self.kept.indices where self.kept[index].counter == counter { return index }
        return nil
    }
}
