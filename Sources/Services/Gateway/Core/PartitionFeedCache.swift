// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The rings of all lives of one feed partition; a ring holds the latest items of one live's feed.
///
/// The cache keeps the items of the last minute. If these exceed the limits of the whole cache, the oldest items of all
/// lives are removed first (I16 in docs/RULES.md).
package struct PartitionFeedCache: Sendable {
    /// How long an item is kept by default.
    package static let span = Milliseconds.seconds(60)
    /// The largest number of items.
    package static let itemLimit = 200_000

    /// How long an item is kept; nil if only the limits remove items.
    package let span: Milliseconds?
    /// The largest size of all items.
    package let byteLimit: Int
    /// The size of all items.
    package private(set) var byteCount = 0
    /// The largest number of items of one live.
    private let itemsPerLive: Int
    /// Whether the rings hold only some of the items of their lives, as in a cache of messages.
    private let isSparse: Bool
    private var rings: [LiveKey: CachedLive] = [:]
    /// An entry for each item, oldest first, by which the oldest item of all lives is found.
    ///
    /// An entry whose item was removed in another way is stale (`droppedCount`).
    private var order = RingBuffer<CachedItem>(limit: PartitionFeedCache.itemLimit)

    /// A live's ring, and the number of the live's stale entries in `order`.
    private struct CachedLive: Sendable {
        var ring: FeedRing
        /// The number of items that the ring dropped itself; as many of the live's oldest entries in `order` are stale.
        var droppedCount = 0
    }

    /// An entry of `order`: the live of an item, and when the item was read.
    private struct CachedItem: Sendable {
        var key: LiveKey
        var readAt: MonotonicTime
    }

    /// Creates an empty cache, by default of at most 64 MiB.
    package init(span: Milliseconds = PartitionFeedCache.span, byteLimit: Int = 64 << 20) {
        self.span = span
        self.byteLimit = byteLimit
        self.itemsPerLive = FeedRing.itemLimit
        self.isSparse = false
    }

    /// Creates an empty cache of the last messages of each live, however old they are.
    ///
    /// - Parameters:
    ///   - messages: The largest number of messages of one live.
    ///   - byteLimit: The largest size of the messages of all lives, by default 16 MiB; the oldest are removed first.
    package init(messages: Int, byteLimit: Int = 16 << 20) {
        self.span = nil
        self.byteLimit = byteLimit
        self.itemsPerLive = messages
        self.isSparse = true
    }

    /// An upper bound of the number of items: `order` may have stale entries.
    package var itemCount: Int { self.order.count }

    /// Adds an item.
    package mutating func append(_ item: EncodedFeedItem, of key: LiveKey, epoch: Int64) -> FeedRing.Verdict {
        while self.order.count == Self.itemLimit || self.byteCount + item.bytes.count > self.byteLimit {
            // Ends when nothing is left to be removed.
            guard self.removeOldest() else { break }
        }
        var dropped = 0
        let bytesBefore = self.rings[key]?.ring.byteCount ?? 0
        // Made here, because the argument of `default:` may not use `self` while `self.rings` is modified.
        let empty = CachedLive(ring: self.emptyRing(epoch))
        let verdict = self.rings[key, default: empty].ring.append(item, epoch: epoch, dropped: &dropped)
        let bytesAfter = self.rings[key]?.ring.byteCount ?? 0
        self.byteCount += bytesAfter - bytesBefore
        self.rings[key]?.droppedCount += dropped
        // `order.append` adds the item's entry. A ring does not keep an item that exceeds the ring's byte limit; its
        // entry is then stale at once.
        if verdict == .fresh, self.order.append(CachedItem(key: key, readAt: item.readAt)),
            self.rings[key]?.ring.count == 0
        {
            self.rings[key]?.droppedCount += 1
        }
        return verdict
    }

    /// Inserts older items before the items of a live, by rebuilding the live's ring.
    package mutating func prepend(_ older: [EncodedFeedItem], to key: LiveKey, epoch: Int64) {
        var newer: [EncodedFeedItem] = []
        if let ring = self.rings[key]?.ring {
            // The ring belongs to a later live with the same id, to which the older items do not belong.
            guard ring.epoch <= epoch else { return }
            if ring.epoch == epoch { newer = ring.keptItems }
            self.byteCount -= ring.byteCount
            // The entries of the ring's items in `order` are now stale; `append` adds new ones below.
            self.rings[key]?.droppedCount += ring.count
            let empty = self.emptyRing(epoch)
            self.rings[key]?.ring = empty
        }
        let firstNewer = newer.first?.number ?? .max
        for item in older where item.number < firstNewer { _ = self.append(item, of: key, epoch: epoch) }
        for item in newer { _ = self.append(item, of: key, epoch: epoch) }
    }

    /// Creates the ring of a live whose last item has the token `latest`; does nothing if the live has a ring of the
    /// token's epoch or a later one.
    package mutating func setLatest(_ key: LiveKey, _ latest: FeedToken) {
        if let ring = self.rings[key]?.ring, ring.epoch >= latest.position.epoch { return }
        self.forget(key)
        self.rings[key] = CachedLive(ring: FeedRing(latest: latest))
    }

    /// Removes items that are older than the span.
    package mutating func prune(at now: MonotonicTime) {
        guard let span = self.span else { return }
        while let oldest = self.order.first, now - oldest.readAt > span { self.removeOldest() }
    }

    /// Returns the items after `position` in a live.
    package func items(of key: LiveKey, after position: FeedPosition) -> FeedRing.Answer {
        self.rings[key]?.ring.items(after: position) ?? .incomplete
    }

    /// Returns the token of the last item of a live.
    package func latestToken(_ key: LiveKey) -> FeedToken? { self.rings[key]?.ring.latestToken }

    /// Returns a live's ring; nil if the live has none.
    package func ring(_ key: LiveKey) -> FeedRing? { self.rings[key]?.ring }

    /// Removes a live's ring, so that the rings of ended lives do not accumulate.
    package mutating func forget(_ key: LiveKey) {
        // The live's entries in `order` are stale, but are no longer counted as such. So if a later live has the same
        // id, they remove some of its items early.
        let removedLive = self.rings.removeValue(forKey: key)
        self.byteCount -= removedLive?.ring.byteCount ?? 0
    }

    /// Returns an empty ring with the limits of this cache.
    private func emptyRing(_ epoch: Int64) -> FeedRing {
        FeedRing(epoch: epoch, itemLimit: self.itemsPerLive, isSparse: self.isSparse)
    }

    /// Removes the oldest entry of `order` with its item; returns false if there is no entry.
    ///
    /// If the entry is stale, no item is removed.
    @discardableResult private mutating func removeOldest() -> Bool {
        guard let oldest = self.order.popFirst() else { return false }
        guard var live = self.rings.removeValue(forKey: oldest.key) else { return true }
        if live.droppedCount > 0 {
            live.droppedCount -= 1
        } else {
            let bytesBefore = live.ring.byteCount
            live.ring.removeFirst()
            self.byteCount += live.ring.byteCount - bytesBefore
        }
        self.rings[oldest.key] = live
        return true
    }
}
