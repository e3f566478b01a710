// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What became of one seat call: plain and short, for it is copied for undo and written with every batch.
package struct SeatFate: Equatable, Sendable, Codable {
    /// How a call came out.
    package enum Result: Equatable, Sendable, Codable {
        /// Presence has it, which answers or sends it back.
        case passedOn
        case done
        case seat(index: Int?)
        case refused(error: ReplyError)
    }

    package var counter: Int64
    package var result: Result
    /// The stage's revision that a reader must have to see what the call changed.
    package var revision: Int64?

    /// What the caller hears, each time; nil while the call is passed on.
    func reply(to caller: Caller, _ key: LiveKey) -> Effect? {
        let outcome: Outcome
        switch self.result {
        case .passedOn: return nil
        case .done: outcome = .success(result: .done)
        case .seat(let index): outcome = .success(result: .seat(index: index))
        case .refused(let error): outcome = .failure(error: error)
        }
        let seen = self.revision.map { Seen(.stages, key.live, revision: $0) }
        return .reply(Reply(to: caller, app: key.app, outcome, seen: seen))
    }
}

/// The last fates of one session's calls in a live (I15): an `OutcomeWindow` that knows what a seat call can come to.
///
/// Plain numbers, which are copied for undo with each call; the words of refusals, which are few, stand apart.
package struct SeatOutcomes: Equatable, Sendable {
    /// What became of a call, but for the words of a refusal.
    private struct Entry: Equatable {
        enum Result: Equatable {
            case passedOn
            case done
            case seat(index: Int?)
            case refused
        }
        var counter: Int64
        var result: Result
        var revision: Int64?
    }

    /// Why a call was refused.
    private struct Refused: Equatable {
        var counter: Int64
        var error: ReplyError
    }

    /// In the order in which the calls were decided.
    private var entries: [Entry] = []
    /// Of those of them that were refused.
    private var refused: [Refused] = []
    /// The highest counter that was let go.
    package private(set) var floor: Int64 = .min
    /// When the window may go.
    package private(set) var expiresAt: Timestamp
    /// The second, since 1970, of the last call, and how many calls were decided in it.
    private var second: Int64 = 0
    private var callsInSecond = 0

    /// An empty window.
    init(at now: Timestamp) { self.expiresAt = now + OutcomeWindow.lifetime }

    /// In the order in which the calls were decided.
    package var fates: [SeatFate] { self.entries.indices.map { self.fate(at: $0) } }

    /// When the row falls due, rounded up as `OutcomeWindow.due` is, so that it rarely changes.
    package var due: Timestamp {
        let step: Int64 = 10_000
        return Timestamp(milliseconds: (self.expiresAt.milliseconds + step - 1) / step * step)
    }

    /// What is known of a call.
    enum Verdict: Equatable {
        case fresh
        case repeated(SeatFate)
        case forgotten
    }

    /// Tells whether the call `counter` is new.
    func verdict(on counter: Int64) -> Verdict {
        if let index = self.index(of: counter) { return .repeated(self.fate(at: index)) }
        return counter <= self.floor ? .forgotten : .fresh
    }

    /// Refuses a user who calls too often (reference 12); nothing is kept of it, so the same call may come again later.
    func checkRate(of caller: Caller, at now: Timestamp) throws(ReplyError) {
        guard caller.role == .user, now.seconds == self.second, self.callsInSecond >= Limits.seatCallsPerSecond
        else { return }
        throw ReplyError(
            .tooFrequent, "at most \(Limits.seatCallsPerSecond) seat calls a second",
            retryAfter: 1000 - now.milliseconds % 1000)
    }

    /// Keeps what became of a call; what a second step decided takes the place of `passedOn`.
    mutating func record(_ fate: SeatFate, at now: Timestamp) {
        self.expiresAt = now + OutcomeWindow.lifetime
        self.callsInSecond = now.seconds == self.second ? self.callsInSecond + 1 : 1
        self.second = now.seconds
        self.keep(fate)
    }

    private mutating func keep(_ fate: SeatFate) {
        let known = self.index(of: fate.counter)
        if known != nil { self.forgetError(of: fate.counter) }
        let entry = Entry(counter: fate.counter, result: self.result(of: fate), revision: fate.revision)
        if let known {
            self.entries[known] = entry
            return
        }
        if self.entries.count == OutcomeWindow.limit {
            let oldest = self.entries.removeFirst().counter
            self.forgetError(of: oldest)
            self.floor = max(self.floor, oldest)
        }
        self.entries.append(entry)
    }

    /// The result of a fate, whose words are kept if it is a refusal.
    private mutating func result(of fate: SeatFate) -> Entry.Result {
        switch fate.result {
        case .passedOn: return .passedOn
        case .done: return .done
        case .seat(let index): return .seat(index: index)
        case .refused(let error):
            self.refused.append(Refused(counter: fate.counter, error: error))
            return .refused
        }
    }

    private mutating func forgetError(of counter: Int64) {
        if !self.refused.isEmpty { self.refused.removeAll { $0.counter == counter } }
    }

    private func fate(at index: Int) -> SeatFate {
        let entry = self.entries[index]
        let result: SeatFate.Result
        switch entry.result {
        case .passedOn: result = .passedOn
        case .done: result = .done
        case .seat(let index): result = .seat(index: index)
        case .refused:
            guard let refused = self.refused.first(where: { $0.counter == entry.counter }) else {
                preconditionFailure("a refusal without words")
            }
            result = .refused(error: refused.error)
        }
        return SeatFate(counter: entry.counter, result: result, revision: entry.revision)
    }

    /// By index, for an iterator would copy each.
    private func index(of counter: Int64) -> Int? {
        for index in self.entries.indices where self.entries[index].counter == counter { return index }
        return nil
    }
}

extension SeatOutcomes: Codable {
    private enum CodingKeys: String, CodingKey {
        case fates
        case floor
        case expiresAt
        case second
        case callsInSecond
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.expiresAt = try values.decode(Timestamp.self, forKey: .expiresAt)
        for fate in try values.decode([SeatFate].self, forKey: .fates) { self.keep(fate) }
        self.floor = try values.decode(Int64.self, forKey: .floor)
        self.second = try values.decode(Int64.self, forKey: .second)
        self.callsInSecond = try values.decode(Int.self, forKey: .callsInSecond)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.fates, forKey: .fates)
        try values.encode(self.floor, forKey: .floor)
        try values.encode(self.expiresAt, forKey: .expiresAt)
        try values.encode(self.second, forKey: .second)
        try values.encode(self.callsInSecond, forKey: .callsInSecond)
    }
}

extension Journal where Key == SeatKey, Row == SeatRow {
    /// Tells whether the caller's call is new to the window at `place`; nil: there is none.
    ///
    /// - Throws: `tooFrequent`, when it is new and one too many.
    func verdict(at place: Int?, on caller: Caller, at now: Timestamp) throws(ReplyError) -> SeatOutcomes.Verdict {
        guard let place, case .outcomes(let window)? = self.row(at: place) else { return .fresh }
        let verdict = window.verdict(on: caller.counter)
        if verdict == .fresh { try window.checkRate(of: caller, at: now) }
        return verdict
    }

    /// Keeps what became of a call, in the window `key` at `place`; nil: it is the first.
    mutating func record(_ key: SeatKey, at place: Int?, _ fate: SeatFate, at now: Timestamp) {
        if let place {
            _ = self.update(at: place) { row in row.record(fate, at: now) }
        } else {
            var window = SeatOutcomes(at: now)
            window.record(fate, at: now)
            self[key] = .outcomes(outcomes: window)
        }
    }
}

extension SeatRow {
    /// Keeps what became of a call, if the row is a window: taken out for it, for beside the row it would be shared.
    fileprivate mutating func record(_ fate: SeatFate, at now: Timestamp) {
        guard case .outcomes = self else { return }
        guard case .outcomes(var window) = consume self else { preconditionFailure("a window is one") }
        window.record(fate, at: now)
        self = .outcomes(outcomes: window)
    }
}
