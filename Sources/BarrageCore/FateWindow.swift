// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What became of one message: its place in the feed, or why it has none.
package struct Fate: Hashable, Sendable {
    /// The counter of the request.
    var counter: Int64
    /// The place in the feed; number 0: none.
    var position: FeedPosition
    /// Why it has no place; `none` when it has one.
    var refusal: Refusal
    /// Milliseconds after which a new try makes sense; 0: none does.
    var retryAfter: Int64

    /// The message entered at `position`.
    init(_ counter: Int64, at position: FeedPosition) {
        self.init(counter: counter, position: position, refusal: .none, retryAfter: 0)
    }

    /// The message was refused.
    init(_ counter: Int64, refused refusal: Refusal, retryAfter: Milliseconds = Milliseconds(0)) {
        let nowhere = FeedPosition(epoch: 0, number: 0)
        self.init(counter: counter, position: nowhere, refusal: refusal, retryAfter: retryAfter.count)
    }

    init(counter: Int64, position: FeedPosition, refusal: Refusal, retryAfter: Int64) {
        self.counter = counter
        self.position = position
        self.refusal = refusal
        self.retryAfter = retryAfter
    }

    /// What the sender hears, each time.
    var outcome: Outcome {
        guard let error = self.refusal.error(retryAfter: self.retryAfter) else {
            return .success(result: .sent(position: self.position))
        }
        return .failure(error: error)
    }
}

/// The last fates of one session's messages to a live: an `OutcomeWindow` that knows what a message can come to.
///
/// Messages are the most frequent calls by far, so this one is a few plain numbers: quick to copy for undo, and short
/// in the state topic, where it goes with every batch.
package struct FateWindow: Hashable, Sendable {
    /// In the order in which the messages were decided.
    private(set) var fates: [Fate] = []
    /// The highest counter that was let go.
    private(set) var floor: Int64 = .min
    /// When the window may go.
    private(set) var expiresAt: Timestamp

    /// An empty window.
    init(at now: Timestamp) { self.expiresAt = now + OutcomeWindow.lifetime }

    /// When the row falls due, rounded up as `OutcomeWindow.due` is.
    var due: Timestamp {
        let step: Int64 = 10_000
        return Timestamp(milliseconds: (self.expiresAt.milliseconds + step - 1) / step * step)
    }

    /// What is known of a message.
    enum Verdict: Hashable {
        case fresh
        case repeated(Fate)
        case forgotten
    }

    /// Tells whether the message `counter` is new.
    func verdict(on counter: Int64) -> Verdict {
        for fate in self.fates where fate.counter == counter { return .repeated(fate) }
        return counter <= self.floor ? .forgotten : .fresh
    }

    /// Keeps what became of a message that was new.
    mutating func record(_ fate: Fate, at now: Timestamp) {
        if self.fates.count == OutcomeWindow.limit { self.floor = max(self.floor, self.fates.removeFirst().counter) }
        self.fates.append(fate)
        self.expiresAt = now + OutcomeWindow.lifetime
    }
}

extension FateWindow: Codable {
    private enum CodingKeys: String, CodingKey {
        case fates
        case floor
        case expiresAt
    }

    /// How many numbers one fate is: counter, epoch, number, refusal, retry hint.
    private static let width = 5

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let numbers = try values.decode([Int64].self, forKey: .fates)
        self.floor = try values.decodeIfPresent(Int64.self, forKey: .floor) ?? .min
        self.expiresAt = try values.decode(Timestamp.self, forKey: .expiresAt)
        for start in stride(from: 0, to: numbers.count, by: Self.width) {
            guard start + Self.width <= numbers.count, let refusal = Refusal(rawValue: numbers[start + 3]) else {
                throw DecodingError.dataCorruptedError(forKey: .fates, in: values, debugDescription: "not fates")
            }
            let position = FeedPosition(epoch: numbers[start + 1], number: numbers[start + 2])
            self.fates.append(
                Fate(counter: numbers[start], position: position, refusal: refusal, retryAfter: numbers[start + 4]))
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        let numbers = self.fates.flatMap {
            [$0.counter, $0.position.epoch, $0.position.number, $0.refusal.rawValue, $0.retryAfter]
        }
        try values.encode(numbers, forKey: .fates)
        if self.floor != .min { try values.encode(self.floor, forKey: .floor) }
        try values.encode(self.expiresAt, forKey: .expiresAt)
    }
}
