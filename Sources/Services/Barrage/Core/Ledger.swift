// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel

/// Why an item was dropped.
package enum DropReason: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
    /// The items of the last second have reached the limit of the item's class.
    case budget
    /// The sender has used its even share of the budget in the last second.
    case share
    /// A later value of the same feed counter replaced the item before the item was published, and includes it.
    case merged

    package static func < (a: DropReason, b: DropReason) -> Bool { a.rawValue < b.rawValue }
}

/// The ledger of a feed: published = admitted + refused + dropped (I10 in docs/RULES.md).
///
/// `published` counts the messages of users and the items of machines that reached the fan-out, whatever became of
/// them. A feed counter (likes, speaking levels or the summary) that waits for its publication is not counted yet. The
/// ledger contains only numbers, so that it is quickly copied for the undo of a batch.
package struct Ledger: Sendable {
    /// The number of admitted items of a class.
    package struct Admitted: Hashable, Sendable {
        package var feedClass: FeedClass
        package var count: Int64
    }
    /// The number of messages refused with a code.
    package struct Refused: Hashable, Sendable {
        package var code: ReplyCode
        package var count: Int64
    }
    /// The number of items of a class dropped for a reason.
    package struct Dropped: Hashable, Sendable {
        package var feedClass: FeedClass
        package var reason: DropReason
        package var count: Int64
    }

    // The layout of the 64 `counts`: from index 0 the admitted items by class, from index 8 the dropped items by class
    // and reason, from index 32 the refused messages by rejection. There are gaps for new classes, reasons and
    // rejections. Stored rows contain the indices, so an index must never change its meaning.
    private static let firstDroppedIndex = 8
    private static let droppedIndicesPerClass = 4
    private static let firstRefusedIndex = 32

    /// The number of messages and items that reached the fan-out; repeated calls do not count.
    package private(set) var published: Int64 = 0
    /// All counts except `published`; see the layout above.
    #if canImport(Darwin)
    // Apps run this core in their tests on Apple systems that have no `InlineArray` yet.
    private var counts = [Int64](repeating: 0, count: 64)
    #else
    private var counts = InlineArray<64, Int64>(repeating: 0)
    #endif

    /// Creates an empty ledger.
    package init() {}

    /// The sum of the ledgers of all feeds of one partition; feeds whose rows were removed are not included.
    package init(of rows: BarrageRows) {
        for key in rows.sortedKeys {
            if case .feed(let feed)? = rows[key] { self.add(feed.value.ledger) }
        }
    }

    /// The admitted items by class, highest class first.
    package var admitted: [Admitted] {
        FeedClass.allCases.map { Admitted(feedClass: $0, count: self.counts[$0.rawValue]) }.filter { $0.count > 0 }
    }
    /// The refused messages by code.
    package var refused: [Refused] {
        var sums: [Refused] = []
        for rejection in Rejection.allCases {
            let count = self.counts[Self.index(of: rejection)]
            guard count > 0 else { continue }
            if let index = sums.firstIndex(where: { $0.code == rejection.code }) {
                sums[index].count = sums[index].count.saturatingAdd(count)
            } else {
                sums.append(Refused(code: rejection.code, count: count))
            }
        }
        return sums.sorted { $0.code.code < $1.code.code }
    }
    /// The dropped items by class and reason.
    package var dropped: [Dropped] {
        var sums: [Dropped] = []
        for feedClass in FeedClass.allCases {
            for reason in DropReason.allCases.sorted() {
                let count = self.counts[Self.index(of: feedClass, reason)]
                if count > 0 { sums.append(Dropped(feedClass: feedClass, reason: reason, count: count)) }
            }
        }
        return sums
    }

    /// The number of admitted items; it equals the number of the feed's last item.
    package var admittedCount: Int64 { self.sum(0..<Self.firstDroppedIndex) }
    /// The number of refused messages, with any code.
    package var refusedCount: Int64 { self.sum(Self.firstRefusedIndex..<self.counts.count) }
    /// The number of dropped items, for any reason.
    package var droppedCount: Int64 { self.sum(Self.firstDroppedIndex..<Self.firstRefusedIndex) }
    /// Whether every message and item is counted as admitted, refused or dropped.
    package var isBalanced: Bool {
        self.published == self.admittedCount.saturatingAdd(self.refusedCount).saturatingAdd(self.droppedCount)
    }

    /// Counts an admitted item.
    mutating func countAdmitted(_ feedClass: FeedClass) {
        self.count(at: feedClass.rawValue)
    }

    /// Counts a message that was refused.
    mutating func countRefused(_ rejection: Rejection) {
        self.count(at: Self.index(of: rejection))
    }

    /// Counts a dropped item.
    mutating func countDropped(_ feedClass: FeedClass, _ reason: DropReason) {
        self.count(at: Self.index(of: feedClass, reason))
    }

    /// Counts one item or message: adds 1 to `published` and to the count at `index`.
    ///
    /// A restored row may contain any numbers, so the additions saturate.
    private mutating func count(at index: Int) {
        self.published = self.published.saturatingAdd(1)
        self.counts[index] = self.counts[index].saturatingAdd(1)
    }

    /// Adds the numbers of another feed's ledger to this ledger.
    package mutating func add(_ other: Ledger) {
        self.published = self.published.saturatingAdd(other.published)
        for index in self.counts.indices {
            self.counts[index] = self.counts[index].saturatingAdd(other.counts[index])
        }
    }

    private static func index(of feedClass: FeedClass, _ reason: DropReason) -> Int {
        let reasonIndex =
            switch reason {
            case .budget: 0
            case .share: 1
            case .merged: 2
            }
        return Self.firstDroppedIndex + feedClass.rawValue * Self.droppedIndicesPerClass + reasonIndex
    }

    private static func index(of rejection: Rejection) -> Int { Self.firstRefusedIndex + Int(rejection.rawValue) }

    private func sum(_ indices: Range<Int>) -> Int64 { indices.reduce(0) { $0.saturatingAdd(self.counts[$1]) } }
}

extension Ledger: Hashable {
    package static func == (a: Ledger, b: Ledger) -> Bool {
        a.published == b.published && a.counts.indices.allSatisfy { a.counts[$0] == b.counts[$0] }
    }

    // One number is enough for a hash: equal ledgers have the same number.
    package func hash(into hasher: inout Hasher) { hasher.combine(self.published) }
}

extension Ledger: Codable {
    /// A short encoding: pairs of index and count, without counts of 0.
    private enum CodingKeys: String, CodingKey {
        case published
        case counts
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.published = try values.decode(Int64.self, forKey: .published)
        let pairs = try values.decode([Int64].self, forKey: .counts)
        for start in stride(from: 0, to: pairs.count, by: 2) {
            guard start + 1 < pairs.count, let index = Int(exactly: pairs[start]), self.counts.indices.contains(index)
            else {
                throw DecodingError.dataCorruptedError(forKey: .counts, in: values, debugDescription: "not a ledger")
            }
            self.counts[index] = pairs[start + 1]
        }
    }

    package func encode(to encoder: any Encoder) throws {
        var values = encoder.container(keyedBy: CodingKeys.self)
        try values.encode(self.published, forKey: .published)
        var pairs: [Int64] = []
        for index in self.counts.indices where self.counts[index] != 0 { pairs += [Int64(index), self.counts[index]] }
        try values.encode(pairs, forKey: .counts)
    }
}
