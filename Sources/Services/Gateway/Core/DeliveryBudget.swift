// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The classes of items that are sent to a reader, that is, to one viewer's connection; a reader with more pending
/// bytes gets fewer classes.
package enum DeliveryLevel: Int, Hashable, Comparable, Sendable, CaseIterable {
    /// All items, and the viewer counts.
    case everything = 0
    /// All items except counters; no viewer counts.
    case withoutCounters = 1
    /// No counters and no tips.
    case withoutTips = 2
    /// No counters, tips and barrage: only control items and gifts.
    case withoutBarrage = 3
    /// No feed items now; the reader gets them from the feed cache when its pending bytes have been sent.
    case deferred = 4

    package static func < (a: DeliveryLevel, b: DeliveryLevel) -> Bool { a.rawValue < b.rawValue }

    /// Returns whether items of the class are sent at this level.
    ///
    /// The order of the classes is control, gift, barrage, tip, counter.
    package func admits(_ feedClass: FeedClass) -> Bool {
        switch self {
        case .everything: true
        case .withoutCounters: feedClass < .counter
        case .withoutTips: feedClass < .tip
        case .withoutBarrage: feedClass < .barrage
        case .deferred: false
        }
    }
}

/// The budget of a connection for feed items that wait to be sent, in bytes (I16 in docs/RULES.md).
///
/// The more bytes are pending for a slow reader, the more classes of items are shed, that is, never sent to it.
package struct DeliveryBudget: Hashable, Sendable {
    /// The number of pending bytes at which a reader's feed is deferred.
    package let bytes: Int
    /// How long a reader may remain at `deferred` without progress before it is disconnected.
    package let timeout: Milliseconds

    /// Creates a budget; by default 256 KiB and 10 s.
    package init(bytes: Int = 256 << 10, timeout: Milliseconds = .seconds(10)) {
        // `level` divides the budget by up to 8, so a smaller budget would have levels of 0 bytes.
        self.bytes = max(8, bytes)
        self.timeout = timeout
    }

    /// Returns the level of a reader with `pendingBytes` in its send buffer.
    package func level(pendingBytes: Int) -> DeliveryLevel {
        if pendingBytes >= self.bytes { return .deferred }
        if pendingBytes >= self.bytes / 2 { return .withoutBarrage }
        if pendingBytes >= self.bytes / 4 { return .withoutTips }
        return pendingBytes >= self.bytes / 8 ? .withoutCounters : .everything
    }
}

/// The counts of a gateway's feed deliveries, in which no item is missing (I10 in docs/RULES.md).
///
/// Every due item is delivered, shed, dropped by a disconnect, or still deferred for a slow reader.
package struct DeliveryLedger: Hashable, Sendable {
    /// Items that were due, counted once per viewer.
    package private(set) var due = 0
    /// Items that were written to viewers' connections.
    package private(set) var delivered = 0
    /// Items that were shed because they exceeded a slow reader's budget, by class.
    package private(set) var shed = [Int](repeating: 0, count: FeedClass.allCases.count)
    /// Items that a viewer still had to get when it left the live or its connection ended.
    package private(set) var disconnected = 0
    /// Items that are currently deferred for slow readers.
    package private(set) var deferred = 0

    /// Creates an empty ledger.
    package init() {}

    /// Records that `items` items were sent to each of `viewers` viewers.
    package mutating func countDelivered(items: Int, viewers: Int) {
        self.due += items * viewers
        self.delivered += items * viewers
    }

    /// Records items that were shed for one viewer.
    package mutating func countShed(_ feedClass: FeedClass, items: Int = 1) {
        self.due += items
        self.shed[feedClass.rawValue] += items
    }

    /// Records items that are sent to one viewer later.
    package mutating func countDeferred(items: Int) {
        self.due += items
        self.deferred += items
    }

    /// Records that `items` items were sent to a viewer that catches up; `deferred` of them had been counted as
    /// deferred.
    ///
    /// The other items are counted as due only now: a replay also has items that were never deferred.
    package mutating func countDeliveredLate(items: Int, ofDeferred deferred: Int) {
        self.deferred -= deferred
        self.delivered += items
        self.due += items - deferred
    }

    /// Records that a viewer with `deferred` deferred items has left or was disconnected.
    package mutating func countDisconnected(deferred: Int) {
        self.deferred -= deferred
        self.disconnected += deferred
    }
}
