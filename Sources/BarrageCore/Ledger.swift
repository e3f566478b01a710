// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Why the budget let a message fall.
package enum DropReason: String, Hashable, Comparable, Sendable, Codable, CaseIterable {
    /// The last second is as full as the message's class may make it.
    case budget
    /// The sender has its even share of the last second.
    case share

    package static func < (a: DropReason, b: DropReason) -> Bool { a.rawValue < b.rawValue }
}

/// What became of all that was published to a feed: published = admitted + refused + dropped (I10).
package struct Ledger: Hashable, Sendable, Codable {
    /// How many messages of a class entered.
    package struct Admitted: Hashable, Sendable, Codable {
        package var feedClass: FeedClass
        package var count: Int64
    }
    /// How many messages were refused with a code.
    package struct Refused: Hashable, Sendable, Codable {
        package var code: ReplyCode
        package var count: Int64
    }
    /// How many messages of a class the budget let fall, and why.
    package struct Dropped: Hashable, Sendable, Codable {
        package var feedClass: FeedClass
        package var reason: DropReason
        package var count: Int64
    }

    /// Messages, tips and facts that reached the feed's writer; a retry of an answered one is none.
    package private(set) var published: Int64 = 0
    /// By class, highest first.
    package private(set) var admitted: [Admitted] = []
    /// By code.
    package private(set) var refused: [Refused] = []
    /// By class and reason.
    package private(set) var dropped: [Dropped] = []

    /// A ledger of nothing.
    package init() {}

    /// How many entered, of all classes: the number of the feed's last item.
    package var admittedCount: Int64 { self.admitted.reduce(0) { $0 + $1.count } }
    /// How many were refused, with any code.
    package var refusedCount: Int64 { self.refused.reduce(0) { $0 + $1.count } }
    /// How many fell to the budget.
    package var droppedCount: Int64 { self.dropped.reduce(0) { $0 + $1.count } }
    /// Whether every message is accounted for.
    package var isBalanced: Bool {
        self.published == self.admittedCount + self.refusedCount + self.droppedCount
    }

    /// Counts a message that entered.
    mutating func countAdmitted(_ feedClass: FeedClass, by count: Int64 = 1) {
        self.published += count
        if let index = self.admitted.firstIndex(where: { $0.feedClass == feedClass }) {
            self.admitted[index].count += count
        } else {
            self.admitted.append(Admitted(feedClass: feedClass, count: count))
            self.admitted.sort { $0.feedClass < $1.feedClass }
        }
    }

    /// Counts a message that was refused.
    mutating func countRefused(_ code: ReplyCode, by count: Int64 = 1) {
        self.published += count
        if let index = self.refused.firstIndex(where: { $0.code == code }) {
            self.refused[index].count += count
        } else {
            self.refused.append(Refused(code: code, count: count))
            self.refused.sort { $0.code.code < $1.code.code }
        }
    }

    /// Counts a message that the budget let fall.
    mutating func countDropped(_ feedClass: FeedClass, _ reason: DropReason, by count: Int64 = 1) {
        self.published += count
        if let index = self.dropped.firstIndex(where: { $0.feedClass == feedClass && $0.reason == reason }) {
            self.dropped[index].count += count
        } else {
            self.dropped.append(Dropped(feedClass: feedClass, reason: reason, count: count))
            self.dropped.sort { ($0.feedClass, $0.reason) < ($1.feedClass, $1.reason) }
        }
    }

    /// Adds another feed's ledger.
    package mutating func add(_ other: Ledger) {
        for entry in other.admitted { self.countAdmitted(entry.feedClass, by: entry.count) }
        for entry in other.refused { self.countRefused(entry.code, by: entry.count) }
        for entry in other.dropped { self.countDropped(entry.feedClass, entry.reason, by: entry.count) }
    }
}
