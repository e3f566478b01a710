// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// One item of a feed as a gateway carries it: the JSON that clients get, unread, and what its record's headers say.
package struct FeedPiece: Hashable, Sendable {
    /// The item's number in its live and epoch.
    package var number: Int64
    /// What gives way to what.
    package var feedClass: FeedClass
    /// The live's last item: after it, everybody is out.
    package var isEnd: Bool
    /// When it was written, by the broker's clock.
    package var at: Timestamp
    /// The item's JSON.
    package var bytes: [UInt8]

    /// An item.
    package init(number: Int64, feedClass: FeedClass, isEnd: Bool = false, at: Timestamp, bytes: [UInt8]) {
        self.number = number
        self.feedClass = feedClass
        self.isEnd = isEnd
        self.at = at
        self.bytes = bytes
    }
}

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
    /// Bytes of the items kept.
    package private(set) var byteCount = 0
    private var pieces = RingBuffer<FeedPiece>(limit: FeedRing.itemLimit)

    /// An empty ring.
    package init(epoch: Int64) { self.epoch = epoch }

    /// How many items are kept.
    package var count: Int { self.pieces.count }

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
        }
        if self.last > 0, piece.number <= self.last { return .repeated }
        // Numbers have no holes; if one shows all the same, no resume may reach across it.
        if self.last > 0, piece.number != self.last + 1 { dropped += self.clear() }
        self.last = piece.number
        if piece.bytes.count > Self.byteLimit {
            dropped += self.clear()
            return .fresh
        }
        while self.pieces.count == Self.itemLimit || self.byteCount + piece.bytes.count > Self.byteLimit {
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
    /// A client may be ahead of this gateway; then it missed nothing.
    package func answer(after position: FeedPosition) -> Answer {
        guard position.epoch == self.epoch, position.number >= 0, self.last > 0 else { return .cannot }
        if position.number >= self.last { return .exactly([]) }
        guard let first = self.pieces.first, position.number + 1 >= first.number else { return .cannot }
        let start = Int(position.number + 1 - first.number)
        return .exactly((start..<self.pieces.count).map { self.pieces[$0] })
    }

    private mutating func clear() -> Int {
        let count = self.pieces.count
        self.pieces = RingBuffer(limit: Self.itemLimit)
        self.byteCount = 0
        return count
    }
}
