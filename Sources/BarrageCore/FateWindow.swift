// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What became of one call: its place in the feed, that it was done, or why not.
package struct Fate: Hashable, Sendable {
    /// The counter of the request.
    var counter: Int64
    /// The place in the feed; number 0: none.
    var position: FeedPosition
    /// Why it was refused; `none` when it was not.
    var refusal: Refusal
    /// Milliseconds after which a new try makes sense; 0: none does.
    var retryAfter: Int64

    /// The message entered at `position`.
    init(_ counter: Int64, at position: FeedPosition) {
        self.init(counter: counter, position: position, refusal: .none, retryAfter: 0)
    }

    /// The call was done, and has no place in the feed of its own.
    init(done counter: Int64) {
        self.init(counter: counter, position: FeedPosition(epoch: 0, number: 0), refusal: .none, retryAfter: 0)
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
    func outcome(under rules: AppRules) -> Outcome {
        if let error = self.refusal.error(retryAfter: self.retryAfter, under: rules) { return .failure(error: error) }
        return .success(result: self.position.number == 0 ? .done : .sent(position: self.position))
    }
}

/// The last fates of one session's calls to a live: an `OutcomeWindow` that knows what such a call can come to.
///
/// Messages are the most frequent calls by far, so this one is one array of plain numbers: quick to copy for undo, and
/// short in the state topic, where it goes with every batch.
package struct FateWindow: Sendable {
    /// Floor, expiry, head and highest counter, then the fates: a ring once there are as many as are kept.
    private(set) var words: ContiguousArray<Int64>

    /// Where a word stands before the first fate.
    private static let floorPlace = 0
    private static let expiryPlace = 1
    private static let headPlace = 2
    /// No counter above the one that stands here was ever recorded: most calls are new, and learn it from this alone.
    private static let highestPlace = 3
    private static let firstFate = 4
    /// How many numbers one fate is: its counter, and either epoch and number of its place or, below zero to tell them
    /// apart, the number of the refusal, and its retry hint.
    private static let width = 3

    /// An empty window.
    init(at now: Timestamp) { self.words = [.min, (now + OutcomeWindow.lifetime).milliseconds, 0, .min] }

    /// A window as it was kept for undo.
    init(words: ContiguousArray<Int64>) { self.words = words }

    /// The highest counter that was let go.
    var floor: Int64 { self.words[Self.floorPlace] }
    /// When the window may go.
    var expiresAt: Timestamp { Timestamp(milliseconds: self.words[Self.expiryPlace]) }
    /// How many fates it holds.
    package var count: Int { (self.words.count - Self.firstFate) / Self.width }
    /// In the order in which the calls were decided.
    var fates: [Fate] {
        (0..<self.count).map { self.fate(at: (Int(self.words[Self.headPlace]) + $0) % self.count) }
    }

    /// When the row falls due, rounded up as `OutcomeWindow.due` is.
    var due: Timestamp {
        let step: Int64 = 10_000
        return Timestamp(milliseconds: (self.words[Self.expiryPlace] + step - 1) / step * step)
    }

    /// What is known of a call.
    enum Verdict: Hashable {
        case fresh
        case repeated(Fate)
        case forgotten
    }

    /// Tells whether the call `counter` is new.
    func verdict(on counter: Int64) -> Verdict {
        if counter > self.words[Self.highestPlace] { return .fresh }
        for place in 0..<self.count where self.words[Self.firstFate + place * Self.width] == counter {
            return .repeated(self.fate(at: place))
        }
        return counter <= self.floor ? .forgotten : .fresh
    }

    /// Keeps what became of a call that was new.
    mutating func record(_ fate: Fate, at now: Timestamp) {
        let (second, third) = Self.pair(fate.position, fate.refusal, fate.retryAfter)
        if self.count < OutcomeWindow.limit {
            self.words.append(fate.counter)
            self.words.append(second)
            self.words.append(third)
        } else {
            let head = Int(self.words[Self.headPlace])
            let start = Self.firstFate + head * Self.width
            self.words[Self.floorPlace] = max(self.words[Self.floorPlace], self.words[start])
            self.words[start] = fate.counter
            self.words[start + 1] = second
            self.words[start + 2] = third
            self.words[Self.headPlace] = Int64((head + 1) % OutcomeWindow.limit)
        }
        self.words[Self.expiryPlace] = (now + OutcomeWindow.lifetime).milliseconds
        self.words[Self.highestPlace] = max(self.words[Self.highestPlace], fate.counter)
    }

    /// What is kept of a fate besides its counter.
    private static func pair(_ position: FeedPosition, _ refusal: Refusal, _ retryAfter: Int64) -> (Int64, Int64) {
        refusal == .none ? (position.epoch, position.number) : (-refusal.rawValue, retryAfter)
    }

    private func fate(at place: Int) -> Fate {
        let start = Self.firstFate + place * Self.width
        let (counter, second, third) = (self.words[start], self.words[start + 1], self.words[start + 2])
        if second >= 0 { return Fate(counter, at: FeedPosition(epoch: second, number: third)) }
        return Fate(counter, refused: Refusal(rawValue: -second) ?? .none, retryAfter: Milliseconds(third))
    }
}

extension FateWindow: Hashable {
    package static func == (a: FateWindow, b: FateWindow) -> Bool {
        a.words == b.words || a.floor == b.floor && a.expiresAt == b.expiresAt && a.fates == b.fates
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(self.floor)
        hasher.combine(self.fates)
    }
}

extension FateWindow: Codable {
    private enum CodingKeys: String, CodingKey {
        case fates
        case floor
        case expiresAt
    }

    /// How many numbers one fate is in the row: counter, epoch, number, refusal, retry hint.
    private static let rowWidth = 5

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        let numbers = try values.decode([Int64].self, forKey: .fates)
        let floor = try values.decodeIfPresent(Int64.self, forKey: .floor) ?? .min
        self.words = [floor, try values.decode(Timestamp.self, forKey: .expiresAt).milliseconds, 0, floor]
        guard numbers.count <= OutcomeWindow.limit * Self.rowWidth else {
            throw DecodingError.dataCorruptedError(forKey: .fates, in: values, debugDescription: "too many fates")
        }
        for start in stride(from: 0, to: numbers.count, by: Self.rowWidth) {
            guard start + Self.rowWidth <= numbers.count, let refusal = Refusal(rawValue: numbers[start + 3]),
                numbers[start + 1] >= 0
            else {
                throw DecodingError.dataCorruptedError(forKey: .fates, in: values, debugDescription: "not fates")
            }
            let position = FeedPosition(epoch: numbers[start + 1], number: numbers[start + 2])
            let (second, third) = Self.pair(position, refusal, numbers[start + 4])
            self.words += [numbers[start], second, third]
            self.words[Self.highestPlace] = max(self.words[Self.highestPlace], numbers[start])
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
