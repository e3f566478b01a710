// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The last items of one live's feed, without holes, for clients that come back (I7).
package struct FeedRing: Sendable {
    /// What became of an item.
    package enum Verdict: Hashable, Sendable {
        /// It is the next one.
        case fresh
        /// It was here before: a broker that gives records at least once gave it again.
        case repeated
        /// It is of an earlier live of the same name.
        case stale
    }

    /// What a client that names its position gets.
    package enum Answer: Hashable, Sendable {
        /// Exactly what it missed, in order; nothing, when it missed nothing.
        case exactly([FeedPiece])
        /// What it missed is not here any more.
        case cannot
    }

    /// Items kept at most; the oldest go first.
    package static let itemLimit = 4096
    /// Bytes kept at most, for one live; the oldest items go first.
    package static let byteLimit = 4 << 20

    /// Which incarnation of the live.
    package private(set) var epoch: Int64
    /// The number of the last item that came, also when it is not kept any more; 0 before the first.
    package private(set) var last: Int64 = 0
    /// Where the last item's record is, if that is known.
    package private(set) var lastOffset: Int64?
    /// The number from which on every item has come by here, kept or not; 0 before the first.
    package private(set) var since: Int64 = 0
    /// Where the record of item `since` is, if that is known.
    package private(set) var sinceOffset: Int64?
    /// Bytes of the items kept.
    package private(set) var byteCount = 0
    private let itemLimit: Int
    /// Whether numbers may be left out: then nothing can be answered but what is kept.
    private let isSparse: Bool
    private var pieces: RingBuffer<FeedPiece>

    /// An empty ring.
    ///
    /// - Parameters:
    ///   - epoch: which incarnation of the live.
    ///   - itemLimit: items kept at most.
    ///   - isSparse: whether it gets some items only, as a ring of messages alone does.
    package init(epoch: Int64, itemLimit: Int = FeedRing.itemLimit, isSparse: Bool = false) {
        self.epoch = epoch
        self.itemLimit = itemLimit
        self.isSparse = isSparse
        self.pieces = RingBuffer(limit: itemLimit)
    }

    /// An empty ring of a live whose feed is known to stand at `place`.
    package init(standingAt place: FeedToken) {
        self.init(epoch: place.position.epoch)
        self.last = place.position.number
        self.lastOffset = place.offset
        self.since = self.last + 1
        self.sinceOffset = place.offset.map { $0 + 1 }
    }

    /// How many items are kept.
    package var count: Int { self.pieces.count }
    /// The items kept, oldest first.
    package var kept: [FeedPiece] { (0..<self.pieces.count).map { self.pieces[$0] } }
    /// Where the feed stands, as far as it came by here; nil before the first item.
    package var place: FeedToken? {
        if self.since == 0 { return nil }
        return FeedToken(FeedPosition(epoch: self.epoch, number: self.last), offset: self.lastOffset)
    }

    /// The oldest item kept that came at or after `time`.
    package func first(from time: Timestamp) -> FeedPiece? {
        (0..<self.pieces.count).lazy.map { self.pieces[$0] }.first { $0.at >= time }
    }

    /// Adds an item.
    ///
    /// - Parameters:
    ///   - piece: the item.
    ///   - epoch: which incarnation of the live it is of.
    ///   - dropped: grows by the number of items that had to go.
    /// - Returns: whether it is new.
    package mutating func append(_ piece: FeedPiece, epoch: Int64, dropped: inout Int) -> Verdict {
        if epoch < self.epoch { return .stale }
        if epoch > self.epoch {
            dropped += self.clear()
            self.epoch = epoch
            self.last = 0
            self.since = 0
        }
        if self.since > 0, piece.number <= self.last { return .repeated }
        // Numbers have no holes; if one shows all the same, no resume may reach across it.
        if self.since == 0 || (!self.isSparse && piece.number != self.last + 1) {
            dropped += self.clear()
            self.since = piece.number
            self.sinceOffset = piece.offset
        }
        self.last = piece.number
        self.lastOffset = piece.offset
        if piece.bytes.count > Self.byteLimit {
            dropped += self.clear()
            return .fresh
        }
        while self.pieces.count == self.itemLimit || self.byteCount + piece.bytes.count > Self.byteLimit {
            guard self.removeFirst() else { break }
            dropped += 1
        }
        if self.pieces.append(piece) { self.byteCount += piece.bytes.count }
        return .fresh
    }

    /// Removes the oldest item; false when there is none.
    @discardableResult package mutating func removeFirst() -> Bool {
        guard let piece = self.pieces.popFirst() else { return false }
        self.byteCount -= piece.bytes.count
        return true
    }

    /// What came after `position`.
    ///
    /// Of a place that has not come by here yet nothing is missing.
    package func answer(after position: FeedPosition) -> Answer {
        guard self.canAnswer(after: position) else { return .cannot }
        guard let first = self.pieces.first, position.number < self.last else { return .exactly([]) }
        let start = Int(position.number + 1 - first.number)
        return .exactly((start..<self.pieces.count).map { self.pieces[$0] })
    }

    /// Whether all that came after `position` is kept.
    package func canAnswer(after position: FeedPosition) -> Bool {
        guard position.epoch == self.epoch, position.number >= 0, self.since > 0, !self.isSparse else { return false }
        return position.number >= self.oldest - 1
    }

    /// The number from which on all items are kept; the next one's, if none is.
    package var oldest: Int64 { self.pieces.first?.number ?? self.last + 1 }

    private mutating func clear() -> Int {
        let count = self.pieces.count
        self.pieces = RingBuffer(limit: self.itemLimit)
        self.byteCount = 0
        return count
    }
}
