// SPDX-License-Identifier: Apache-2.0
package import MachineKit
import PlazaModel

/// The last calls of one session in a live: their outcomes, and the number of calls in the second of the last call.
package struct SeatCallHistory: Equatable, Sendable {
    /// The outcomes of the calls, for retries (I15, docs/RULES.md).
    package private(set) var window: IdempotencyWindow<SeatOutcomes>
    /// The clock second in which the last call was decided, in seconds since 1970.
    private var second: Int64 = 0
    /// The number of calls that were decided in `second`.
    private var callsInSecond = 0

    /// An empty history.
    init(at moment: Moment) { self.window = IdempotencyWindow(at: moment) }

    /// Rejects a call of a user who calls too often (R12.5).
    ///
    /// The rejection is not recorded, so a retry of the call can succeed later.
    func checkRate(of caller: Caller, at now: Timestamp) throws(ReplyError) {
        guard caller.role == .user, now.seconds == self.second, self.callsInSecond >= Limits.seatCallsPerSecond
        else { return }
        // The retry hint is the rest of the current second in milliseconds.
        throw ReplyError(
            .tooFrequent, "at most \(Limits.seatCallsPerSecond) seat calls a second are possible",
            retryAfter: 1_000 - now.milliseconds % 1_000)
    }

    /// Records the outcome of the call `counter` (the number of the request in its session).
    ///
    /// A call that was passed on to presence is recorded twice: first as passed on, then, when presence has answered,
    /// with its final outcome.
    mutating func record(_ outcome: SeatOutcome, of counter: Int64, at moment: Moment) {
        self.callsInSecond = moment.now.seconds == self.second ? self.callsInSecond.saturatingAdd(1) : 1
        self.second = moment.now.seconds
        self.window.record(outcome, of: counter, at: moment)
    }

    /// Handles the due time of the window (see `IdempotencyWindow.expire`).
    ///
    /// - Returns: whether the window has expired, so that the row must be removed.
    mutating func expire(at moment: Moment) -> Bool { self.window.expire(at: moment) }
}

extension SeatCallHistory: Codable {
    /// The names in stored rows; two differ from their cases, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case outcomes = "fates"
        case highestDroppedCounter = "floor"
        case expiresAt
        case standstill
        case second
        case callsInSecond
    }

    /// The outcome of the call `counter`, as it is encoded in the row.
    private struct RowEntry: Codable {
        var counter: Int64
        var result: SeatOutcome.Result
        var revision: Int64?
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        var outcomes = SeatOutcomes(expiresAt: try values.decode(Timestamp.self, forKey: .expiresAt))
        for entry in try values.decode([RowEntry].self, forKey: .outcomes) {
            guard outcomes.index(of: entry.counter) == nil, outcomes.count < IdempotencyLimits.maxOutcomes else {
                throw DecodingError.dataCorruptedError(
                    forKey: .outcomes, in: values, debugDescription: "two outcomes of a call, or too many")
            }
            outcomes.append(SeatOutcome(result: entry.result, revision: entry.revision), of: entry.counter)
        }
        outcomes.highestDroppedCounter = try values.decode(Int64.self, forKey: .highestDroppedCounter)
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
        try values.encode(outcomes.highestDroppedCounter, forKey: .highestDroppedCounter)
        try values.encode(outcomes.expiresAt, forKey: .expiresAt)
        if outcomes.standstill != Milliseconds(0) { try values.encode(outcomes.standstill, forKey: .standstill) }
        try values.encode(self.second, forKey: .second)
        try values.encode(self.callsInSecond, forKey: .callsInSecond)
    }
}

extension Journal where Key == SeatKey, Row == SeatRow {
    /// Looks up the caller's call in the call history at `index`, which is nil if the session has no row yet.
    ///
    /// - Throws: `tooFrequent` when the call is new and exceeds the rate limit.
    func lookup(
        _ caller: Caller, at index: Int?, _ now: Timestamp
    ) throws(ReplyError) -> IdempotencyLookup<SeatOutcome> {
        guard let index, case .callHistory(let history)? = self.row(at: index) else {
            return IdempotencyLookup.fresh.treatingFresh(asForgottenIf: caller.isLateRetry)
        }
        let result = history.window.lookup(caller.counter).treatingFresh(asForgottenIf: caller.isLateRetry)
        if result == .fresh { try history.checkRate(of: caller, at: now) }
        return result
    }

    /// Records the outcome of a call in the row `key`, whose index is nil if the session has no row yet.
    mutating func record(_ outcome: SeatOutcome, of caller: Caller, _ key: SeatKey, at index: Int?, _ moment: Moment) {
        let counter = caller.counter
        if let index {
            _ = self.update(at: index) { row in row.record(outcome, of: counter, at: moment) }
        } else {
            var history = SeatCallHistory(at: moment)
            history.record(outcome, of: counter, at: moment)
            self[key] = .callHistory(history: history)
        }
    }
}

extension SeatRow {
    /// Records an outcome, if the row is a call history.
    ///
    /// The history is moved out of the row first, because a second reference to it would cause a copy.
    fileprivate mutating func record(_ outcome: SeatOutcome, of counter: Int64, at moment: Moment) {
        guard case .callHistory = self else { return }
        guard case .callHistory(var history) = consume self else {
            preconditionFailure("the row has changed its kind")
        }
        history.record(outcome, of: counter, at: moment)
        self = .callHistory(history: history)
    }

    /// Handles the due time of a call history; the machine calls this only for call histories.
    ///
    /// - Returns: whether the window has expired and the row must be removed; true for any other row.
    mutating func expire(at moment: Moment) -> Bool {
        guard case .callHistory(var history) = self else { return true }
        let isExpired = history.expire(at: moment)
        self = .callHistory(history: history)
        return isExpired
    }
}
