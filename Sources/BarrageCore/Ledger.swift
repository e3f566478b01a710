// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Why something that might have entered a feed did not.
package enum DropReason: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
    /// The last second is as full as the message's class may make it.
    case budget
    /// The sender has its even share of the last second.
    case share
    /// A later counter took its place before there was room: what it told is in that one.
    case merged

    package static func < (a: DropReason, b: DropReason) -> Bool { a.rawValue < b.rawValue }
}

/// What became of all that was published to a feed: published = admitted + refused + dropped (I10).
///
/// A counter that still waits is not published yet. Plain numbers in one place, quick to copy for undo.
package struct Ledger: Sendable {
    /// How many messages of a class entered.
    package struct Admitted: Hashable, Sendable {
        package var feedClass: FeedClass
        package var count: Int64
    }
    /// How many messages were refused with a code.
    package struct Refused: Hashable, Sendable {
        package var code: ReplyCode
        package var count: Int64
    }
    /// How many messages of a class fell, and why.
    package struct Dropped: Hashable, Sendable {
        package var feedClass: FeedClass
        package var reason: DropReason
        package var count: Int64
    }

    // Where counts stand, with room for more kinds: the places stand in state rows and never change.
    private static let firstDropped = 8
    private static let reasonsOfClass = 4
    private static let firstRefused = 32

    /// Messages, tips and facts that reached the feed's writer; a retry of an answered one is none.
    package private(set) var published: Int64 = 0
    /// Admitted by class, dropped by class and reason, refused by number.
    private var counts = InlineArray<64, Int64>(repeating: 0)

    /// A ledger of nothing.
    package init() {}

    /// By class, highest first.
    package var admitted: [Admitted] {
        FeedClass.allCases.map { Admitted(feedClass: $0, count: self.counts[$0.rawValue]) }.filter { $0.count > 0 }
    }
    /// By code.
    package var refused: [Refused] {
        var sums: [Refused] = []
        for refusal in Refusal.allCases {
            let count = self.counts[Self.place(refusal)]
            guard count > 0 else { continue }
            if let index = sums.firstIndex(where: { $0.code == refusal.code }) {
                sums[index].count += count
            } else {
                sums.append(Refused(code: refusal.code, count: count))
            }
        }
        return sums.sorted { $0.code.code < $1.code.code }
    }
    /// By class and reason.
    package var dropped: [Dropped] {
        var found: [Dropped] = []
        for feedClass in FeedClass.allCases {
            for reason in DropReason.allCases.sorted() {
                let count = self.counts[Self.place(feedClass, reason)]
                if count > 0 { found.append(Dropped(feedClass: feedClass, reason: reason, count: count)) }
            }
        }
        return found
    }

    /// How many entered, of all classes: the number of the feed's last item.
    package var admittedCount: Int64 { self.sum(0..<Self.firstDropped) }
    /// How many were refused, with any code.
    package var refusedCount: Int64 { self.sum(Self.firstRefused..<self.counts.count) }
    /// How many fell to the budget, or were merged.
    package var droppedCount: Int64 { self.sum(Self.firstDropped..<Self.firstRefused) }
    /// Whether every message is accounted for.
    package var isBalanced: Bool {
        self.published == self.admittedCount + self.refusedCount + self.droppedCount
    }

    /// Counts something that entered.
    mutating func countAdmitted(_ feedClass: FeedClass) {
        self.published += 1
        self.counts[feedClass.rawValue] += 1
    }

    /// Counts a message that was refused.
    mutating func countRefused(_ refusal: Refusal) {
        self.published += 1
        self.counts[Self.place(refusal)] += 1
    }

    /// Counts something that fell.
    mutating func countDropped(_ feedClass: FeedClass, _ reason: DropReason) {
        self.published += 1
        self.counts[Self.place(feedClass, reason)] += 1
    }

    /// Adds another feed's ledger.
    package mutating func add(_ other: Ledger) {
        self.published += other.published
        for index in self.counts.indices { self.counts[index] += other.counts[index] }
    }

    private static func place(_ feedClass: FeedClass, _ reason: DropReason) -> Int {
        let number =
            switch reason {
            case .budget: 0
            case .share: 1
            case .merged: 2
            }
        return Self.firstDropped + feedClass.rawValue * Self.reasonsOfClass + number
    }

    private static func place(_ refusal: Refusal) -> Int { Self.firstRefused + Int(refusal.rawValue) }

    private func sum(_ places: Range<Int>) -> Int64 { places.reduce(0) { $0 + self.counts[$1] } }
}

extension Ledger: Hashable {
    package static func == (a: Ledger, b: Ledger) -> Bool {
        a.published == b.published && a.counts.indices.allSatisfy { a.counts[$0] == b.counts[$0] }
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(self.published) }
}

extension Ledger: Codable {
    /// Short: places with their counts, where there are any.
    private enum CodingKeys: String, CodingKey {
        case published
        case counts
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.published = try values.decode(Int64.self, forKey: .published)
        let pairs = try values.decode([Int64].self, forKey: .counts)
        for start in stride(from: 0, to: pairs.count, by: 2) {
            guard start + 1 < pairs.count, let place = Int(exactly: pairs[start]), self.counts.indices.contains(place)
            else {
                throw DecodingError.dataCorruptedError(forKey: .counts, in: values, debugDescription: "not a ledger")
            }
            self.counts[place] = pairs[start + 1]
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.published, forKey: .published)
        var pairs: [Int64] = []
        for place in self.counts.indices where self.counts[place] != 0 { pairs += [Int64(place), self.counts[place]] }
        try values.encode(pairs, forKey: .counts)
    }
}
