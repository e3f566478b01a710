// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// The outcome of a call, as most machines store it in an idempotency window: a session's last calls.
///
/// The enum is indirect, because windows are copied far more often than outcomes are read.
package indirect enum CallOutcome: Hashable, Sendable, Codable {
    /// This machine decided the call; a repeated call gets the same reply.
    case answered(outcome: Outcome, required: RequiredRevision?)
    /// Another machine, to which the call was forwarded, decides and answers.
    case passedOn

    /// The names in stored rows.
    private enum AnsweredCodingKeys: String, CodingKey {
        case outcome
        case required = "seen"
    }
}

/// The idempotency window of most machines.
package typealias CallWindow = IdempotencyWindow<CallOutcomes>

/// The stored outcomes of a window, in the order in which the calls were decided.
package struct CallOutcomes: OutcomeStorage, Hashable, Codable {
    private struct Entry: Hashable, Sendable, Codable {
        var counter: Int64
        var outcome: CallOutcome

        private enum CodingKeys: String, CodingKey {
            case counter
            case outcome = "entry"
        }
    }

    private var entries: [Entry] = []
    package var highestDroppedCounter: Int64 = .min
    package var expiresAt: Timestamp
    /// The stored form of `standstill`; nil means 0, so that the encoding is the same as in earlier versions.
    private var storedStandstill: Milliseconds?

    /// The names in stored rows.
    private enum CodingKeys: String, CodingKey {
        case entries = "kept"
        case highestDroppedCounter = "floor"
        case expiresAt
        case storedStandstill = "standstill"
    }

    package init(expiresAt: Timestamp) { self.expiresAt = expiresAt }

    package var standstill: Milliseconds {
        get { self.storedStandstill ?? Milliseconds(0) }
        set { self.storedStandstill = newValue == Milliseconds(0) ? nil : newValue }
    }
    package var count: Int { self.entries.count }

    package func index(of counter: Int64) -> Int? {
        // An iterator would copy each entry, so the loop uses indices.
        for index in self.entries.indices where self.entries[index].counter == counter { return index }
        return nil
    }

    package func outcome(at index: Int) -> CallOutcome { self.entries[index].outcome }

    package mutating func append(_ outcome: CallOutcome, of counter: Int64) {
        self.entries.append(Entry(counter: counter, outcome: outcome))
    }

    package mutating func replace(at index: Int, with outcome: CallOutcome) { self.entries[index].outcome = outcome }

    package mutating func replaceOldest(with outcome: CallOutcome, of counter: Int64) -> Int64 {
        let droppedCounter = self.entries.removeFirst().counter
        self.append(outcome, of: counter)
        return droppedCounter
    }

    package mutating func removeAll() -> Int64? {
        defer { self.entries = [] }
        return self.entries.map(\.counter).max()
    }
}

extension ReplyError {
    /// The error for a request that is older than the outcomes in its idempotency window.
    package static let requestForgotten = ReplyError(
        .requestForgotten, "the request is too old; it was not applied now")
}
