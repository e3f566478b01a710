// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The outcome of one seat call.
package struct SeatOutcome: Equatable, Sendable {
    /// The result of a call.
    package enum Result: Equatable, Sendable, Codable {
        /// The call was passed on to presence, which rejects it or returns it to this machine.
        case passedOn
        case done
        /// The caller got the seat `index`; nil means that the caller made an application instead.
        case seat(index: Int?)
        case rejected(error: ReplyError)

        /// The names in stored rows; one differs from its case, because stored names never change.
        private enum CodingKeys: String, CodingKey {
            case passedOn
            case done
            case seat
            case rejected = "refused"
        }
    }

    package var result: Result
    /// The first revision of the stage that shows the change made by the call; nil if viewers see no change.
    package var revision: Int64?

    /// The reply to the caller, which is the same for every retry; nil while presence processes the call.
    func reply(to caller: Caller, _ key: LiveKey) -> Effect? {
        let outcome: Outcome
        switch self.result {
        case .passedOn: return nil
        case .done: outcome = .success(result: .done)
        case .seat(let index): outcome = .success(result: .seat(index: index))
        case .rejected(let error): outcome = .failure(error: error)
        }
        // The gateway sends the reply only after it has read this revision, so that clients read their own changes.
        let required = self.revision.map { RequiredRevision(.stages, key.live, revision: $0) }
        return .reply(Reply(to: caller, app: key.app, outcome, required: required))
    }
}

/// The outcomes of one session's seat calls, for its idempotency window (I15, docs/RULES.md).
///
/// The journal copies the outcomes for undo at each call. Therefore the entries are plain numbers, and the few errors
/// of rejected calls are stored separately.
package struct SeatOutcomes: OutcomeStorage, Equatable {
    /// An outcome without the error of a rejected call.
    private struct Entry: Equatable {
        enum Result: Equatable {
            case passedOn
            case done
            case seat(index: Int?)
            case rejected
        }
        /// The call's counter: the number of the request in its session.
        var counter: Int64
        var result: Result
        var revision: Int64?
    }

    /// A rejected call with its error.
    private struct RejectedCall: Equatable {
        var counter: Int64
        var error: ReplyError
    }

    /// The entries, in the order in which the calls were decided.
    private var entries: [Entry] = []
    /// The errors of the rejected calls among `entries`.
    private var rejectedCalls: [RejectedCall] = []
    package var highestDroppedCounter: Int64 = .min
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
        case .seat(let seatIndex): result = .seat(index: seatIndex)
        case .rejected:
            guard let rejectedCall = self.rejectedCalls.first(where: { $0.counter == entry.counter }) else {
                preconditionFailure("a rejected call without its error")
            }
            result = .rejected(error: rejectedCall.error)
        }
        return SeatOutcome(result: result, revision: entry.revision)
    }

    package mutating func append(_ outcome: SeatOutcome, of counter: Int64) {
        self.entries.append(self.makeEntry(of: outcome, counter))
    }

    package mutating func replace(at index: Int, with outcome: SeatOutcome) {
        let counter = self.entries[index].counter
        self.removeError(of: counter)
        self.entries[index] = self.makeEntry(of: outcome, counter)
    }

    package mutating func replaceOldest(with outcome: SeatOutcome, of counter: Int64) -> Int64 {
        let oldestCounter = self.entries.removeFirst().counter
        self.removeError(of: oldestCounter)
        self.append(outcome, of: counter)
        return oldestCounter
    }

    package mutating func removeAll() -> Int64? {
        defer {
            self.entries = []
            self.rejectedCalls = []
        }
        return self.entries.map(\.counter).max()
    }

    /// Makes the entry for an outcome, and stores the error of a rejected call in `rejectedCalls`.
    private mutating func makeEntry(of outcome: SeatOutcome, _ counter: Int64) -> Entry {
        let result: Entry.Result
        switch outcome.result {
        case .passedOn: result = .passedOn
        case .done: result = .done
        case .seat(let index): result = .seat(index: index)
        case .rejected(let error):
            self.rejectedCalls.append(RejectedCall(counter: counter, error: error))
            result = .rejected
        }
        return Entry(counter: counter, result: result, revision: outcome.revision)
    }

    /// Removes the stored error of the call `counter`, if it was rejected.
    private mutating func removeError(of counter: Int64) {
        if !self.rejectedCalls.isEmpty { self.rejectedCalls.removeAll { $0.counter == counter } }
    }

    /// The counter of the call whose outcome is at `index`.
    func counter(at index: Int) -> Int64 { self.entries[index].counter }
}
