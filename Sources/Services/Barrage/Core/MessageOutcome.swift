// SPDX-License-Identifier: Apache-2.0
package import MachineKit
import PlazaModel

/// The outcome of one call that sends to a feed: a position in the feed, success without a position, or a rejection.
package struct MessageOutcome: Hashable, Sendable {
    /// The position in the feed; its number is 0 when there is no position.
    var position: FeedPosition
    /// Why the call was rejected; `none` when it was not rejected.
    var rejection: Rejection
    /// Milliseconds after which the client may retry; 0 when there is no hint.
    var retryAfter: Int64

    /// The call succeeded and has no position of its own in the feed.
    static let done = MessageOutcome(at: FeedPosition(epoch: 0, number: 0))

    /// The message entered the feed at `position`.
    init(at position: FeedPosition) {
        self.position = position
        self.rejection = .none
        self.retryAfter = 0
    }

    /// The call was rejected.
    init(rejected rejection: Rejection, retryAfter: Milliseconds = Milliseconds(0)) {
        self.position = FeedPosition(epoch: 0, number: 0)
        self.rejection = rejection
        self.retryAfter = retryAfter.count
    }

    /// The outcome in the form that a reply contains.
    func outcome(under rules: AppRules) -> Outcome {
        if let error = self.rejection.error(retryAfter: self.retryAfter, under: rules) { return .failure(error: error) }
        return .success(result: self.position.number == 0 ? .done : .sent(position: self.position))
    }
}

/// The idempotency window of one session's calls to a feed.
package typealias MessageWindow = IdempotencyWindow<PackedOutcomes>

/// Outcomes of calls to a feed in one array of plain numbers, the words.
///
/// Messages are the most frequent calls by far. One array is quick to copy for undo, and short in the state topic.
package struct PackedOutcomes: OutcomeStorage {
    /// A header of five words (highest dropped counter, expiry, head, highest counter, standstill), then the outcomes.
    ///
    /// A counter is the number of a call in its session. A full window drops its oldest outcome for each new one, so
    /// the outcomes are a ring buffer, and the head is the index of the oldest. The standstill is the time in which the
    /// partition had no owner or no input; the expiry already includes it.
    private(set) var words: ContiguousArray<Int64>

    // Indices of the words before the first outcome.
    private static let highestDroppedCounterIndex = 0
    private static let expiryIndex = 1
    private static let headIndex = 2
    /// The highest counter that was ever recorded.
    ///
    /// Most calls are new and have a higher counter. One comparison then shows that no outcome is recorded.
    private static let highestCounterIndex = 3
    private static let standstillIndex = 4
    private static let firstOutcomeIndex = 5
    /// The number of words of one outcome.
    ///
    /// The first word is the call's counter. For a success, the other two are the epoch and the number of the position.
    /// For a rejection, they are the raw value of the rejection, negated, and the retry hint in milliseconds. An epoch
    /// is never negative, and a raw value is above 0, so the sign distinguishes the two cases.
    private static let wordsPerOutcome = 3

    package init(expiresAt: Timestamp) { self.words = [.min, expiresAt.milliseconds, 0, .min, 0] }

    /// Restores the outcomes that were saved for the undo of a batch.
    init(words: ContiguousArray<Int64>) { self.words = words }

    package var highestDroppedCounter: Int64 {
        get { self.words[Self.highestDroppedCounterIndex] }
        set { self.words[Self.highestDroppedCounterIndex] = newValue }
    }
    package var expiresAt: Timestamp {
        get { Timestamp(milliseconds: self.words[Self.expiryIndex]) }
        set { self.words[Self.expiryIndex] = newValue.milliseconds }
    }
    package var standstill: Milliseconds {
        get { Milliseconds(self.words[Self.standstillIndex]) }
        set { self.words[Self.standstillIndex] = newValue.count }
    }
    package var count: Int { (self.words.count - Self.firstOutcomeIndex) / Self.wordsPerOutcome }

    /// The counters of calls (the number of a call's request in its session) and their outcomes, in the order in which
    /// the calls were decided.
    var entries: [(counter: Int64, outcome: MessageOutcome)] {
        let head = Int(self.words[Self.headIndex])
        return (0..<self.count).map {
            let index = (head + $0) % self.count
            return (self.words[Self.firstOutcomeIndex + index * Self.wordsPerOutcome], self.outcome(at: index))
        }
    }

    package func index(of counter: Int64) -> Int? {
        if counter > self.words[Self.highestCounterIndex] { return nil }
        for index in 0..<self.count where self.words[Self.firstOutcomeIndex + index * Self.wordsPerOutcome] == counter {
            return index
        }
        return nil
    }

    package func outcome(at index: Int) -> MessageOutcome {
        let start = Self.firstOutcomeIndex + index * Self.wordsPerOutcome
        let (second, third) = (self.words[start + 1], self.words[start + 2])
        if second >= 0 { return MessageOutcome(at: FeedPosition(epoch: second, number: third)) }
        // `-second` is always the raw value of a rejection, because `resultWords` made it.
        return MessageOutcome(rejected: Rejection(rawValue: -second) ?? .none, retryAfter: Milliseconds(third))
    }

    package mutating func append(_ outcome: MessageOutcome, of counter: Int64) {
        let (second, third) = Self.resultWords(outcome)
        self.words.append(counter)
        self.words.append(second)
        self.words.append(third)
        self.raiseHighestCounter(to: counter)
    }

    package mutating func replace(at index: Int, with outcome: MessageOutcome) {
        let start = Self.firstOutcomeIndex + index * Self.wordsPerOutcome
        (self.words[start + 1], self.words[start + 2]) = Self.resultWords(outcome)
    }

    package mutating func replaceOldest(with outcome: MessageOutcome, of counter: Int64) -> Int64 {
        // `head` is the index of the oldest outcome.
        let head = Int(self.words[Self.headIndex])
        let start = Self.firstOutcomeIndex + head * Self.wordsPerOutcome
        let oldestCounter = self.words[start]
        self.words[start] = counter
        self.replace(at: head, with: outcome)
        self.words[Self.headIndex] = Int64((head + 1) % self.count)
        self.raiseHighestCounter(to: counter)
        return oldestCounter
    }

    package mutating func removeAll() -> Int64? {
        guard self.count > 0 else { return nil }
        let highestCounter = self.entries.map(\.counter).max()
        self.words.removeSubrange(Self.firstOutcomeIndex...)
        self.words[Self.headIndex] = 0
        return highestCounter
    }

    private mutating func raiseHighestCounter(to counter: Int64) {
        self.words[Self.highestCounterIndex] = max(self.words[Self.highestCounterIndex], counter)
    }

    /// The two words of an outcome that follow its counter.
    private static func resultWords(_ outcome: MessageOutcome) -> (Int64, Int64) {
        outcome.rejection == .none
            ? (outcome.position.epoch, outcome.position.number) : (-outcome.rejection.rawValue, outcome.retryAfter)
    }
}

extension PackedOutcomes: Equatable {
    // The ring buffers of equal windows may have different heads, so the entries are compared if the words differ.
    package static func == (a: PackedOutcomes, b: PackedOutcomes) -> Bool {
        a.words == b.words
            || (a.highestDroppedCounter == b.highestDroppedCounter && a.expiresAt == b.expiresAt
                && a.standstill == b.standstill && a.entries.elementsEqual(b.entries, by: ==))
    }
}

extension PackedOutcomes: Codable {
    /// The names in stored rows; two differ from the properties, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case outcomes = "fates"
        case highestDroppedCounter = "floor"
        case expiresAt
        case standstill
    }

    /// The number of values of one outcome in the encoded row: counter, epoch, number, rejection, retry hint.
    ///
    /// The encoded row does not use the words: it has a value for each field, and some values are always 0.
    private static let encodedValuesPerOutcome = 5

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let numbers = try values.decode([Int64].self, forKey: .outcomes)
        let droppedCounter = try values.decodeIfPresent(Int64.self, forKey: .highestDroppedCounter) ?? .min
        let standstill = try values.decodeIfPresent(Milliseconds.self, forKey: .standstill) ?? Milliseconds(0)
        // The words of the header, in the order of their indices. The highest counter is not encoded: it begins with
        // the highest dropped counter, and `append` raises it. The entries are encoded oldest first, so the head is 0.
        self.words = [
            droppedCounter, try values.decode(Timestamp.self, forKey: .expiresAt).milliseconds, 0, droppedCounter,
            standstill.count,
        ]
        guard numbers.count <= IdempotencyLimits.maxOutcomes * Self.encodedValuesPerOutcome else {
            throw DecodingError.dataCorruptedError(forKey: .outcomes, in: values, debugDescription: "too many outcomes")
        }
        for start in stride(from: 0, to: numbers.count, by: Self.encodedValuesPerOutcome) {
            guard start + Self.encodedValuesPerOutcome <= numbers.count,
                let rejection = Rejection(rawValue: numbers[start + 3]),
                numbers[start + 1] >= 0
            else {
                throw DecodingError.dataCorruptedError(forKey: .outcomes, in: values, debugDescription: "not outcomes")
            }
            let position = FeedPosition(epoch: numbers[start + 1], number: numbers[start + 2])
            let outcome =
                rejection == .none
                ? MessageOutcome(at: position)
                : MessageOutcome(rejected: rejection, retryAfter: Milliseconds(numbers[start + 4]))
            self.append(outcome, of: numbers[start])
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let numbers = self.entries.flatMap { counter, outcome in
            [
                counter, outcome.position.epoch, outcome.position.number, outcome.rejection.rawValue,
                outcome.retryAfter,
            ]
        }
        try values.encode(numbers, forKey: .outcomes)
        if self.highestDroppedCounter != .min {
            try values.encode(self.highestDroppedCounter, forKey: .highestDroppedCounter)
        }
        try values.encode(self.expiresAt, forKey: .expiresAt)
        if self.standstill != Milliseconds(0) { try values.encode(self.standstill, forKey: .standstill) }
    }
}
