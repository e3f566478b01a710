// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The rings of all lives of one feed partition, bounded together: the items of the last minute, and fewer when they are
/// too many (I16: the oldest go first).
package struct FeedShelf: Sendable {
    /// How long an item is kept, unless the gateway is set otherwise.
    package static let span = Milliseconds.seconds(60)
    /// Items kept at most.
    package static let itemLimit = 200_000

    /// How long an item is kept here; nil: as long as there is room.
    package let span: Milliseconds?
    /// Bytes kept at most.
    package let byteLimit: Int
    /// Bytes kept.
    package private(set) var byteCount = 0
    private let itemsPerLive: Int
    private let isSparse: Bool
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
    package init(span: Milliseconds = FeedShelf.span, byteLimit: Int = 64 << 20) {
        self.span = span
        self.byteLimit = byteLimit
        self.itemsPerLive = FeedRing.itemLimit
        self.isSparse = false
    }

    /// An empty shelf for the last messages of each live, however old they are.
    ///
    /// - Parameters:
    ///   - messages: messages kept of one live at most.
    ///   - byteLimit: bytes kept of all lives at most; those that came first go first.
    package init(messages: Int, byteLimit: Int = 16 << 20) {
        self.span = nil
        self.byteLimit = byteLimit
        self.itemsPerLive = messages
        self.isSparse = true
    }

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
        let empty = Shelved(ring: self.emptyRing(epoch))
        let verdict = self.rings[key, default: empty].ring.append(piece, epoch: epoch, dropped: &dropped)
        let after = self.rings[key]?.ring.byteCount ?? 0
        self.byteCount += after - before
        self.rings[key]?.gone += dropped
        // An item too large for any ring is not kept; its entry stands for nothing from the start.
        if verdict == .fresh, self.order.append(Placed(key: key, at: piece.at)), self.rings[key]?.ring.count == 0 {
            self.rings[key]?.gone += 1
        }
        return verdict
    }

    /// Puts older items before those that are kept of a live.
    package mutating func prepend(_ older: [FeedPiece], to key: LiveKey, epoch: Int64) {
        var newer: [FeedPiece] = []
        if let ring = self.rings[key]?.ring {
            guard ring.epoch <= epoch else { return }
            if ring.epoch == epoch { newer = ring.kept }
            self.byteCount -= ring.byteCount
            self.rings[key]?.gone += ring.count
            let empty = self.emptyRing(epoch)
            self.rings[key]?.ring = empty
        }
        let first = newer.first?.number ?? .max
        for piece in older where piece.number < first { _ = self.append(piece, of: key, epoch: epoch) }
        for piece in newer { _ = self.append(piece, of: key, epoch: epoch) }
    }

    /// Learns where the feed of a live stands of which nothing has come by here.
    package mutating func learn(_ key: LiveKey, standsAt place: FeedToken) {
        if let known = self.rings[key]?.ring, known.epoch >= place.position.epoch { return }
        self.forget(key)
        self.rings[key] = Shelved(ring: FeedRing(standingAt: place))
    }

    /// Lets go of what is older than the span.
    package mutating func prune(at now: Timestamp) {
        guard let span = self.span else { return }
        while let oldest = self.order.first, now - oldest.at > span { self.removeOldest() }
    }

    /// What came after `position` in a live.
    package func answer(_ key: LiveKey, after position: FeedPosition) -> FeedRing.Answer {
        self.rings[key]?.ring.answer(after: position) ?? .cannot
    }

    /// Where a live's feed stands, as far as this shelf has seen it.
    package func place(_ key: LiveKey) -> FeedToken? { self.rings[key]?.ring.place }

    /// A live's ring, if any of its items came by here.
    package func ring(_ key: LiveKey) -> FeedRing? { self.rings[key]?.ring }

    /// Forgets a live, so that names do not gather.
    package mutating func forget(_ key: LiveKey) {
        // Its entries in `order` find nothing any more, or let a later live of that name lose some items early.
        let forgotten = self.rings.removeValue(forKey: key)
        self.byteCount -= forgotten?.ring.byteCount ?? 0
    }

    private func emptyRing(_ epoch: Int64) -> FeedRing {
        FeedRing(epoch: epoch, itemLimit: self.itemsPerLive, isSparse: self.isSparse)
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
