// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The outcome of one seat call.
package struct SeatOutcome: Equatable, Sendable {
    /// The result of a call.
    package enum Result: Equatable, Sendable, Codable {
        /// The call was passed on to presence, which answers it or returns it.
        case passedOn
        case done
        /// The caller got the seat `index`; nil means that an application was made.
        case seat(index: Int?)
        case refused(error: ReplyError)
    }

    package var result: Result
    /// The first revision of the stage that shows the change made by the call.
    package var revision: Int64?

    /// The reply to the caller, which is the same for every retry; nil while presence processes the call.
    func reply(to caller: Caller, _ key: LiveKey) -> Effect? {
        let outcome: Outcome
        switch self.result {
        case .passedOn: return nil
        case .done: outcome = .success(result: .done)
        case .seat(let index): outcome = .success(result: .seat(index: index))
        case .refused(let error): outcome = .failure(error: error)
        }
        let required = self.revision.map { RequiredRevision(.stages, key.live, revision: $0) }
        return .reply(Reply(to: caller, app: key.app, outcome, required: required))
    }
}

/// The outcomes of one session's seat calls, for its idempotency window (I15).
///
/// The journal copies the outcomes for its undo log at each call. Therefore they are plain numbers. The errors of
/// rejected calls, which are few, are stored separately.
package struct SeatOutcomes: OutcomeStorage, Equatable {
    /// An outcome without the error of a rejected call.
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

    /// The error of a rejected call.
    private struct Refused: Equatable {
        var counter: Int64
        var error: ReplyError
    }

    /// The entries, in the order in which the calls were decided.
    private var entries: [Entry] = []
    /// The errors of the rejected calls among `entries`.
    private var refused: [Refused] = []
    package var floor: Int64 = .min
    package var expiresAt: Timestamp
    package var standstill = Milliseconds(0)

    package init(expiresAt: Timestamp) { self.expiresAt = expiresAt }

    package var count: Int { self.entries.count }

    package func index(of counter: Int64) -> Int? {
        // An iterator would copy each entry, so the loop uses indices.
        for index in self.entries.indices where self.entries[index].counter == counter { return index }
        return nil
    }

    package func outcome(at index: Int) -> SeatOutcome {
        let entry = self.entries[index]
        let result: SeatOutcome.Result
        switch entry.result {
        case .passedOn: result = .passedOn
        case .done: result = .done
        case .seat(let index): result = .seat(index: index)
        case .refused:
            guard let refused = self.refused.first(where: { $0.counter == entry.counter }) else {
                preconditionFailure("a rejected call without its error")
            }
            result = .refused(error: refused.error)
        }
        return SeatOutcome(result: result, revision: entry.revision)
    }

    package mutating func append(_ outcome: SeatOutcome, of counter: Int64) {
        self.entries.append(self.entry(of: outcome, counter))
    }

    package mutating func replace(at index: Int, with outcome: SeatOutcome) {
        let counter = self.entries[index].counter
        self.removeError(of: counter)
        self.entries[index] = self.entry(of: outcome, counter)
    }

    package mutating func replaceOldest(with outcome: SeatOutcome, of counter: Int64) -> Int64 {
        let oldest = self.entries.removeFirst().counter
        self.removeError(of: oldest)
        self.append(outcome, of: counter)
        return oldest
    }

    package mutating func removeAll() -> Int64? {
        defer {
            self.entries = []
            self.refused = []
        }
        return self.entries.map(\.counter).max()
    }

    /// The entry for an outcome; stores the error of a rejected call in `refused`.
    private mutating func entry(of outcome: SeatOutcome, _ counter: Int64) -> Entry {
        let result: Entry.Result
        switch outcome.result {
        case .passedOn: result = .passedOn
        case .done: result = .done
        case .seat(let index): result = .seat(index: index)
        case .refused(let error):
            self.refused.append(Refused(counter: counter, error: error))
            result = .refused
        }
        return Entry(counter: counter, result: result, revision: outcome.revision)
    }

    private mutating func removeError(of counter: Int64) {
        if !self.refused.isEmpty { self.refused.removeAll { $0.counter == counter } }
    }

    /// The counter at `index`.
    fileprivate func counter(at index: Int) -> Int64 { self.entries[index].counter }
}

/// The last calls of one session in a live: their outcomes, and the number of calls in the last second.
package struct SeatCallHistory: Equatable, Sendable {
    /// The outcomes (I15).
    package private(set) var window: IdempotencyWindow<SeatOutcomes>
    /// The second (since 1970) in which the last call was decided.
    private var second: Int64 = 0
    /// The number of calls that were decided in `second`.
    private var callsInSecond = 0

    /// An empty history.
    init(at moment: Moment) { self.window = IdempotencyWindow(at: moment) }

    /// Rejects a user who calls too often (R12.5).
    ///
    /// The rejection is not recorded, so the client may send the same call again later.
    func checkRate(of caller: Caller, at now: Timestamp) throws(ReplyError) {
        guard caller.role == .user, now.seconds == self.second, self.callsInSecond >= Limits.seatCallsPerSecond
        else { return }
        throw ReplyError(
            .tooFrequent, "at most \(Limits.seatCallsPerSecond) seat calls a second are possible",
            retryAfter: 1000 - now.milliseconds % 1000)
    }

    /// Records the outcome of the call `counter`; the outcome of a call that presence returned replaces `passedOn`.
    mutating func record(_ outcome: SeatOutcome, of counter: Int64, at moment: Moment) {
        self.callsInSecond = moment.now.seconds == self.second ? self.callsInSecond.saturatingAdd(1) : 1
        self.second = moment.now.seconds
        self.window.record(outcome, of: counter, at: moment)
    }

    /// Handles the due time of the window.
    ///
    /// - Returns: whether the row must be removed.
    mutating func expire(at moment: Moment) -> Bool { self.window.expire(at: moment) }
}

extension SeatCallHistory: Codable {
    private enum CodingKeys: String, CodingKey {
        case outcomes = "fates"
        case floor
        case expiresAt
        case standstill
        case second
        case callsInSecond
    }

    /// An outcome as it is encoded in the row.
    private struct RowEntry: Codable {
        var counter: Int64
        var result: SeatOutcome.Result
        var revision: Int64?
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        var outcomes = SeatOutcomes(expiresAt: try values.decode(Timestamp.self, forKey: .expiresAt))
        for entry in try values.decode([RowEntry].self, forKey: .outcomes) {
            guard outcomes.index(of: entry.counter) == nil, outcomes.count < IdempotencyLimits.outcomes else {
                throw DecodingError.dataCorruptedError(
                    forKey: .outcomes, in: values, debugDescription: "two outcomes of a call, or too many")
            }
            outcomes.append(SeatOutcome(result: entry.result, revision: entry.revision), of: entry.counter)
        }
        outcomes.floor = try values.decode(Int64.self, forKey: .floor)
        outcomes.standstill = try values.decodeIfPresent(Milliseconds.self, forKey: .standstill) ?? Milliseconds(0)
        self.window = IdempotencyWindow(storage: outcomes)
        self.second = try values.decode(Int64.self, forKey: .second)
        self.callsInSecond = try values.decode(Int.self, forKey: .callsInSecond)
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let outcomes = self.window.storage
        let entries = (0..<outcomes.count).map { index in
            let outcome = outcomes.outcome(at: index)
            return RowEntry(counter: outcomes.counter(at: index), result: outcome.result, revision: outcome.revision)
        }
        try values.encode(entries, forKey: .outcomes)
        try values.encode(outcomes.floor, forKey: .floor)
        try values.encode(outcomes.expiresAt, forKey: .expiresAt)
        if outcomes.standstill != Milliseconds(0) { try values.encode(outcomes.standstill, forKey: .standstill) }
        try values.encode(self.second, forKey: .second)
        try values.encode(self.callsInSecond, forKey: .callsInSecond)
    }
}

extension Journal where Key == SeatKey, Row == SeatRow {
    /// Looks the call up in the idempotency window at `index`; nil means that the session has no window yet.
    ///
    /// - Throws: `tooFrequent` when the call is new and exceeds the rate limit.
    func lookup(
        _ caller: Caller, at index: Int?, _ now: Timestamp
    ) throws(ReplyError) -> IdempotencyLookup<SeatOutcome> {
        guard let index, case .outcomes(let history)? = self.row(at: index) else {
            return IdempotencyLookup.fresh.asLateRetry(caller.isLateRetry)
        }
        let result = history.window.lookup(caller.counter).asLateRetry(caller.isLateRetry)
        if result == .fresh { try history.checkRate(of: caller, at: now) }
        return result
    }

    /// Records the outcome of a call in the row `key` at `index`; nil means that the session has no row yet.
    mutating func record(_ outcome: SeatOutcome, of caller: Caller, _ key: SeatKey, at index: Int?, _ moment: Moment) {
        let counter = caller.counter
        if let index {
            _ = self.update(at: index) { row in row.record(outcome, of: counter, at: moment) }
        } else {
            var history = SeatCallHistory(at: moment)
            history.record(outcome, of: counter, at: moment)
            self[key] = .outcomes(outcomes: history)
        }
    }
}

extension SeatRow {
    /// Records an outcome, if the row is a call history.
    ///
    /// The history is moved out of the row first, because a second reference to it would cause a copy.
    fileprivate mutating func record(_ outcome: SeatOutcome, of counter: Int64, at moment: Moment) {
        guard case .outcomes = self else { return }
        guard case .outcomes(var history) = consume self else { preconditionFailure("the row has changed its kind") }
        history.record(outcome, of: counter, at: moment)
        self = .outcomes(outcomes: history)
    }

    /// Handles the due time of a history.
    ///
    /// - Returns: whether the row must be removed.
    mutating func expire(at moment: Moment) -> Bool {
        guard case .outcomes(var history) = self else { return true }
        let hasEnded = history.expire(at: moment)
        self = .outcomes(outcomes: history)
        return hasEnded
    }
}
