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
    /// When it was read, by the gateway's clock.
    package var at: Timestamp
    /// The offset of its record in its partition, where it has one.
    package var offset: Int64?
    /// The item's JSON.
    package var bytes: [UInt8]

    /// An item.
    package init(
        number: Int64, feedClass: FeedClass, isEnd: Bool = false, at: Timestamp, offset: Int64? = nil, bytes: [UInt8]
    ) {
        self.number = number
        self.feedClass = feedClass
        self.isEnd = isEnd
        self.at = at
        self.offset = offset
        self.bytes = bytes
    }
}

/// One record of a feed partition, its JSON unread.
package struct FeedRecord: Sendable {
    /// The live.
    package var key: LiveKey
    /// The live's incarnation.
    package var epoch: Int64
    /// The item.
    package var piece: FeedPiece

    /// A record.
    package init(key: LiveKey, epoch: Int64, piece: FeedPiece) {
        self.key = key
        self.epoch = epoch
        self.piece = piece
    }
}
