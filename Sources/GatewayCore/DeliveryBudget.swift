// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// What still goes to a reader that is so far behind.
package enum DeliveryLevel: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// Everything, counts too.
    case everything = 0
    /// No counters, and no counts beside the feed.
    case withoutCounters = 1
    /// Besides, no tips.
    case withoutTips = 2
    /// Besides, no barrage: control items and gifts alone.
    case withoutBarrage = 3
    /// Nothing of the feed now; what is missed comes from the ring when the reader has caught up.
    case later = 4

    package static func < (a: DeliveryLevel, b: DeliveryLevel) -> Bool { a.rawValue < b.rawValue }

    /// Whether items of the class go out at this level.
    package func admits(_ feedClass: FeedClass) -> Bool {
        switch self {
        case .everything: true
        case .withoutCounters: feedClass < .counter
        case .withoutTips: feedClass < .tip
        case .withoutBarrage: feedClass < .barrage
        case .later: false
        }
    }
}

/// The byte budget of one connection: the more waits for a slow reader, the more gives way, by class (I16).
package struct DeliveryBudget: Hashable, Sendable {
    /// Bytes that may wait for a reader before nothing more of a feed is sent to it.
    package let bytes: Int
    /// How long a reader may stay at `later` before it is disconnected.
    package let patience: Milliseconds

    /// A budget.
    package init(bytes: Int = 256 << 10, patience: Milliseconds = .seconds(10)) {
        self.bytes = max(8, bytes)
        self.patience = patience
    }

    /// What goes to a reader for whom `pending` bytes wait.
    package func level(pending: Int) -> DeliveryLevel {
        if pending >= self.bytes { return .later }
        if pending >= self.bytes / 2 { return .withoutBarrage }
        if pending >= self.bytes / 4 { return .withoutTips }
        return pending >= self.bytes / 8 ? .withoutCounters : .everything
    }
}

/// The ledger of a gateway's feed deliveries (I10): what is due is delivered, shed or disconnected, or still owed to a
/// reader that catches up.
package struct DeliveryLedger: Hashable, Sendable {
    /// Items × viewers.
    package private(set) var due = 0
    /// Handed to viewers' connections.
    package private(set) var delivered = 0
    /// Gave way to a slow reader's budget, by class.
    package private(set) var shed = [Int](repeating: 0, count: FeedClass.allCases.count)
    /// Were owed to viewers whose connection ended.
    package private(set) var disconnected = 0
    /// Are owed now.
    package private(set) var owed = 0

    /// An empty ledger.
    package init() {}

    /// Whether nothing is unaccounted for.
    package var balances: Bool {
        self.due == self.delivered + self.shed.reduce(0, +) + self.disconnected + self.owed && self.owed >= 0
    }

    /// Items went to viewers: `items` of them to each of `viewers`.
    package mutating func delivered(items: Int, viewers: Int) {
        self.due += items * viewers
        self.delivered += items * viewers
    }

    /// Items gave way for one viewer.
    package mutating func shed(_ feedClass: FeedClass, items: Int = 1) {
        self.due += items
        self.shed[feedClass.rawValue] += items
    }

    /// Items are kept back for one viewer.
    package mutating func owe(items: Int) {
        self.due += items
        self.owed += items
    }

    /// A viewer got `items` from the ring, of which `owed` were owed to it.
    package mutating func repaid(items: Int, owed: Int) {
        self.owed -= owed
        self.delivered += items
        self.due += items - owed
    }

    /// A viewer to whom items were owed is gone.
    package mutating func disconnected(owed: Int) {
        self.owed -= owed
        self.disconnected += owed
    }
}
