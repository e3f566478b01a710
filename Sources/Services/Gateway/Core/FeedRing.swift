// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The last items of one live's feed, without gaps, for clients that resume.
///
/// A client that resumes must get each item that it missed exactly once (I7 in docs/RULES.md). A sparse ring holds only
/// some of the items, such as the messages, and serves no resume.
package struct FeedRing: Sendable {
    /// The result of an `append`.
    package enum Verdict: Hashable, Sendable {
        /// The item is new.
        case fresh
        /// The item was added before: the reader may read a record more than once.
        case repeated
        /// The item belongs to an earlier live with the same id.
        case stale
    }

    /// The items that a client missed since its position.
    package enum Answer: Hashable, Sendable {
        /// Exactly the items that the client missed, in order; empty if the client missed none.
        case complete([EncodedFeedItem])
        /// Some of the items are no longer kept, or it is not known which items the client missed.
        case incomplete
    }

    /// The largest number of items; the oldest are removed first.
    package static let itemLimit = 4096
    /// The largest size of all items together, 4 MiB; the oldest are removed first.
    package static let byteLimit = 4 << 20

    /// The live's epoch, which distinguishes the live from earlier lives with the same id.
    package private(set) var epoch: Int64
    /// The number of the last item that was added, even if it is no longer kept; 0 before the first.
    package private(set) var lastNumber: Int64 = 0
    /// The offset of the last item's record, if known.
    package private(set) var lastOffset: Int64?
    /// The number of the first item of the current sequence without gaps, even if that item is no longer kept or not
    /// read yet; 0 while there is no sequence.
    package private(set) var sequenceStart: Int64 = 0
    /// The offset of the record of item `sequenceStart`, if known.
    package private(set) var sequenceStartOffset: Int64?
    /// The size of the items that are kept.
    package private(set) var byteCount = 0
    private let itemLimit: Int
    /// Whether only some of the live's items are added to the ring; numbers may then be missing.
    private let isSparse: Bool
    private var items: RingBuffer<EncodedFeedItem>

    /// Creates an empty ring.
    ///
    /// - Parameters:
    ///   - epoch: The live's epoch.
    ///   - itemLimit: The largest number of items.
    ///   - isSparse: Whether only some of the live's items are added, as in a ring of messages.
    package init(epoch: Int64, itemLimit: Int = FeedRing.itemLimit, isSparse: Bool = false) {
        self.epoch = epoch
        self.itemLimit = itemLimit
        self.isSparse = isSparse
        self.items = RingBuffer(limit: itemLimit)
    }

    /// Creates an empty ring for a live whose last item has the token `latest`.
    package init(latest: FeedToken) {
        self.init(epoch: latest.position.epoch)
        self.lastNumber = latest.position.number
        self.lastOffset = latest.offset
        // The ring will have all items from the next one on.
        self.sequenceStart = self.lastNumber + 1
        self.sequenceStartOffset = latest.offset.map { $0 + 1 }
    }

    /// The number of items.
    package var count: Int { self.items.count }
    /// The items that the ring has kept, oldest first.
    package var keptItems: [EncodedFeedItem] { (0..<self.items.count).map { self.items[$0] } }
    /// The token of the last item; nil before the first item.
    package var latestToken: FeedToken? {
        if self.sequenceStart == 0 { return nil }
        return FeedToken(FeedPosition(epoch: self.epoch, number: self.lastNumber), offset: self.lastOffset)
    }

    /// Returns the oldest kept item that was read at or after `time`.
    package func firstItem(readSince time: MonotonicTime) -> EncodedFeedItem? {
        (0..<self.items.count).lazy.map { self.items[$0] }.first { $0.readAt >= time }
    }

    /// Returns the number of the first item whose record has at least this offset; the item may not have been read yet.
    ///
    /// - Returns: The number; nil if the ring may have removed an item at or after the offset, or if the offsets of the
    ///   items are not known.
    package func firstNumber(fromOffset offset: Int64) -> Int64? {
        if let lastOffset = self.lastOffset, lastOffset < offset { return self.lastNumber + 1 }
        guard let first = self.items.first, let firstOffset = first.offset else { return nil }
        if firstOffset < offset { return self.keptItems.first { ($0.offset ?? 0) >= offset }?.number }
        // Unless the first kept item begins the sequence, earlier items from the offset on may have been removed.
        return first.number == self.sequenceStart ? first.number : nil
    }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - item: The item.
    ///   - epoch: The epoch of the live that the item belongs to.
    ///   - dropped: Increased by the number of items that were removed to make room, or because of a gap or a new
    ///     epoch.
    /// - Returns: Whether the item is new, repeated or stale.
    package mutating func append(_ item: EncodedFeedItem, epoch: Int64, dropped: inout Int) -> Verdict {
        if epoch < self.epoch { return .stale }
        if epoch > self.epoch {
            dropped += self.clear()
            self.epoch = epoch
            self.lastNumber = 0
            self.sequenceStart = 0
        }
        if self.sequenceStart > 0, item.number <= self.lastNumber { return .repeated }
        // Item numbers are consecutive. If a number is still missing, a resume across the gap would lose an item, so
        // the ring begins a new sequence after the gap.
        if self.sequenceStart == 0 || (!self.isSparse && item.number != self.lastNumber + 1) {
            dropped += self.clear()
            self.sequenceStart = item.number
            self.sequenceStartOffset = item.offset
        }
        self.lastNumber = item.number
        self.lastOffset = item.offset
        // An item that exceeds the limit by itself is not kept. The earlier items are removed too, because the ring
        // must have no gap.
        if item.bytes.count > Self.byteLimit {
            dropped += self.clear()
            return .fresh
        }
        while self.items.count == self.itemLimit || self.byteCount + item.bytes.count > Self.byteLimit {
            guard self.removeFirst() else { break }
            dropped += 1
        }
        // There is room for the item now, unless the ring's limit is 0.
        if self.items.append(item) { self.byteCount += item.bytes.count }
        return .fresh
    }

    /// Removes the oldest item; returns false if there is none.
    @discardableResult package mutating func removeFirst() -> Bool {
        guard let item = self.items.popFirst() else { return false }
        self.byteCount -= item.bytes.count
        return true
    }

    /// Returns the items after `position`; complete and empty if the position is ahead of the last item.
    package func items(after position: FeedPosition) -> Answer {
        guard self.hasAllItems(after: position) else { return .incomplete }
        guard let first = self.items.first, position.number < self.lastNumber else { return .complete([]) }
        let start = Int(position.number + 1 - first.number)
        return .complete((start..<self.items.count).map { self.items[$0] })
    }

    /// Returns whether all items after `position` are kept; it is true if the position is ahead of the last item.
    package func hasAllItems(after position: FeedPosition) -> Bool {
        guard position.epoch == self.epoch, position.number >= 0, self.sequenceStart > 0, !self.isSparse else {
            return false
        }
        return position.number >= self.oldestNumber - 1
    }

    /// The number of the oldest kept item; if there is none, the number that the next item will have.
    package var oldestNumber: Int64 { self.items.first?.number ?? self.lastNumber + 1 }

    /// Removes all items, and returns how many were removed.
    private mutating func clear() -> Int {
        let count = self.items.count
        self.items = RingBuffer(limit: self.itemLimit)
        self.byteCount = 0
        return count
    }
}
