// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The last items of one live's feed, without gaps, for clients that resume (I7, no lost or repeated item).
package struct FeedRing: Sendable {
    /// The result of an `append`.
    package enum Verdict: Hashable, Sendable {
        /// The item is new.
        case fresh
        /// The item was added before; records are delivered at least once.
        case repeated
        /// The item belongs to an earlier live with the same name.
        case stale
    }

    /// The items that a client missed since its position.
    package enum Answer: Hashable, Sendable {
        /// Exactly the items that it missed, in order; empty if it missed none.
        case complete([EncodedFeedItem])
        /// Unknown, because some of the items are no longer kept.
        case cannot
    }

    /// The largest number of items; the oldest are removed first.
    package static let itemLimit = 4096
    /// The largest size of all items; the oldest are removed first.
    package static let byteLimit = 4 << 20

    /// The live's incarnation.
    package private(set) var epoch: Int64
    /// The number of the last item that was added, even if it is no longer kept; 0 before the first.
    package private(set) var last: Int64 = 0
    /// The offset of the last item's record, if known.
    package private(set) var lastOffset: Int64?
    /// The number of the first item of the current gapless sequence, even if it is no longer kept; 0 before the first.
    package private(set) var since: Int64 = 0
    /// The offset of the record of item `since`, if known.
    package private(set) var sinceOffset: Int64?
    /// Bytes of the items kept.
    package private(set) var byteCount = 0
    private let itemLimit: Int
    /// Whether the ring holds only some of the live's items; it then cannot serve a resume.
    private let isSparse: Bool
    private var items: RingBuffer<EncodedFeedItem>

    /// Creates an empty ring.
    ///
    /// - Parameters:
    ///   - epoch: The live's incarnation.
    ///   - itemLimit: The largest number of items.
    ///   - isSparse: Whether only some of the live's items are added, as in a ring of messages.
    package init(epoch: Int64, itemLimit: Int = FeedRing.itemLimit, isSparse: Bool = false) {
        self.epoch = epoch
        self.itemLimit = itemLimit
        self.isSparse = isSparse
        self.items = RingBuffer(limit: itemLimit)
    }

    /// Creates an empty ring for a live whose last item is at `latest`.
    package init(latest: FeedToken) {
        self.init(epoch: latest.position.epoch)
        self.last = latest.position.number
        self.lastOffset = latest.offset
        self.since = self.last + 1
        self.sinceOffset = latest.offset.map { $0 + 1 }
    }

    /// The number of items.
    package var count: Int { self.items.count }
    /// The items kept, oldest first.
    package var kept: [EncodedFeedItem] { (0..<self.items.count).map { self.items[$0] } }
    /// The token of the last item; nil before the first.
    package var latestToken: FeedToken? {
        if self.since == 0 { return nil }
        return FeedToken(FeedPosition(epoch: self.epoch, number: self.last), offset: self.lastOffset)
    }

    /// The oldest kept item that was read at or after `time`.
    package func first(from time: MonotonicTime) -> EncodedFeedItem? {
        (0..<self.items.count).lazy.map { self.items[$0] }.first { $0.at >= time }
    }

    /// The number of the first item whose record has at least this offset; the item may not have been read yet.
    ///
    /// - Returns: nil if items from that offset on are no longer kept, or their offsets are not known.
    package func number(from offset: Int64) -> Int64? {
        if let lastOffset = self.lastOffset, lastOffset < offset { return self.last + 1 }
        guard let first = self.items.first, let firstOffset = first.offset else { return nil }
        if firstOffset < offset { return self.kept.first { $0.offset ?? 0 >= offset }?.number }
        return first.number == self.since ? first.number : nil
    }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - epoch: The incarnation of the live that the item belongs to.
    ///   - dropped: Increased by the number of items that were removed.
    /// - Returns: Whether the item is new, repeated or stale.
    package mutating func append(_ item: EncodedFeedItem, epoch: Int64, dropped: inout Int) -> Verdict {
        if epoch < self.epoch { return .stale }
        if epoch > self.epoch {
            dropped += self.clear()
            self.epoch = epoch
            self.last = 0
            self.since = 0
        }
        if self.since > 0, item.number <= self.last { return .repeated }
        // Item numbers are consecutive. If a number is missing nevertheless, no resume may cross the gap.
        if self.since == 0 || (!self.isSparse && item.number != self.last + 1) {
            dropped += self.clear()
            self.since = item.number
            self.sinceOffset = item.offset
        }
        self.last = item.number
        self.lastOffset = item.offset
        if item.bytes.count > Self.byteLimit {
            dropped += self.clear()
            return .fresh
        }
        while self.items.count == self.itemLimit || self.byteCount + item.bytes.count > Self.byteLimit {
            guard self.removeFirst() else { break }
            dropped += 1
        }
        if self.items.append(item) { self.byteCount += item.bytes.count }
        return .fresh
    }

    /// Removes the oldest item.
    ///
    /// Returns false if there is none.
    @discardableResult package mutating func removeFirst() -> Bool {
        guard let item = self.items.popFirst() else { return false }
        self.byteCount -= item.bytes.count
        return true
    }

    /// Returns the items after `position`; an empty array if the position is ahead of the ring.
    package func items(after position: FeedPosition) -> Answer {
        guard self.canAnswer(after: position) else { return .cannot }
        guard let first = self.items.first, position.number < self.last else { return .complete([]) }
        let start = Int(position.number + 1 - first.number)
        return .complete((start..<self.items.count).map { self.items[$0] })
    }

    /// Returns whether all items after `position` are kept.
    package func canAnswer(after position: FeedPosition) -> Bool {
        guard position.epoch == self.epoch, position.number >= 0, self.since > 0, !self.isSparse else { return false }
        return position.number >= self.oldest - 1
    }

    /// The number of the oldest item; if there is none, the number that the next item will have.
    package var oldest: Int64 { self.items.first?.number ?? self.last + 1 }

    private mutating func clear() -> Int {
        let count = self.items.count
        self.items = RingBuffer(limit: self.itemLimit)
        self.byteCount = 0
        return count
    }
}
