// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The rings of all lives of one feed partition, bounded together: the items of the last 60 s, and fewer when they are
/// too many (I16: the oldest go first).
package struct FeedShelf: Sendable {
    /// How long an item is kept.
    package static let span = Milliseconds.seconds(60)
    /// Items kept at most.
    package static let itemLimit = 200_000

    /// Bytes kept at most.
    package let byteLimit: Int
    /// Bytes kept.
    package private(set) var byteCount = 0
    private var rings: [LiveKey: Shelved] = [:]
    /// Which live each kept item belongs to, oldest first.
    private var order = RingBuffer<Placed>(limit: FeedShelf.itemLimit)

    private struct Shelved: Sendable {
        var ring: FeedRing
        /// Items that the ring dropped by itself; their entries in `order` stand for nothing.
        var gone = 0
    }

    private struct Placed: Sendable {
        var key: LiveKey
        var at: Timestamp
    }

    /// An empty shelf.
    package init(byteLimit: Int = 64 << 20) { self.byteLimit = byteLimit }

    /// How many lives have items here, or had some lately.
    package var roomCount: Int { self.rings.count }
    /// How many items are kept, at most.
    package var itemCount: Int { self.order.count }

    /// Adds an item.
    package mutating func append(_ piece: FeedPiece, of key: LiveKey, epoch: Int64) -> FeedRing.Verdict {
        while self.order.count == Self.itemLimit || self.byteCount + piece.bytes.count > self.byteLimit {
            guard self.removeOldest() else { break }
        }
        var dropped = 0
        let before = self.rings[key]?.ring.byteCount ?? 0
        let verdict = self.rings[key, default: Shelved(ring: FeedRing(epoch: epoch))].ring.append(
            piece, epoch: epoch, dropped: &dropped)
        let after = self.rings[key]?.ring.byteCount ?? 0
        self.byteCount += after - before
        self.rings[key]?.gone += dropped
        // An item too large for any ring is not kept; its entry stands for nothing from the start.
        if verdict == .fresh, self.order.append(Placed(key: key, at: piece.at)), self.rings[key]?.ring.count == 0 {
            self.rings[key]?.gone += 1
        }
        return verdict
    }

    /// Lets go of what is older than the span.
    package mutating func prune(at now: Timestamp) {
        while let oldest = self.order.first, now - oldest.at > Self.span { self.removeOldest() }
    }

    /// What came after `position` in a live.
    package func answer(_ key: LiveKey, after position: FeedPosition) -> FeedRing.Answer {
        self.rings[key]?.ring.answer(after: position) ?? .cannot
    }

    /// Where a live's feed stands, as far as this shelf has seen it.
    package func position(_ key: LiveKey) -> FeedPosition? {
        self.rings[key].map { FeedPosition(epoch: $0.ring.epoch, number: $0.ring.last) }
    }

    /// Forgets a live that has nothing here any more, so that names do not gather.
    package mutating func forget(_ key: LiveKey) {
        if let shelved = self.rings[key], shelved.ring.count == 0, shelved.gone == 0 { self.rings[key] = nil }
    }

    @discardableResult private mutating func removeOldest() -> Bool {
        guard let placed = self.order.popFirst() else { return false }
        guard var shelved = self.rings.removeValue(forKey: placed.key) else { return true }
        if shelved.gone > 0 {
            shelved.gone -= 1
        } else {
            let before = shelved.ring.byteCount
            shelved.ring.removeFirst()
            self.byteCount += shelved.ring.byteCount - before
        }
        self.rings[placed.key] = shelved
        return true
    }
}
