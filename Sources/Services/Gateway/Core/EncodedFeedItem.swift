// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// One feed item as a gateway stores it: the item's JSON, which is sent to clients without being parsed, and the fields
/// that the gateway needs itself; these come from the record's headers and its position in the topic.
package struct EncodedFeedItem: Hashable, Sendable {
    /// The item's number in its live and epoch.
    package var number: Int64
    /// The item's priority; slow readers do not get items of low priority.
    package var feedClass: FeedClass
    /// Whether this is the live's last item, after which all viewers leave.
    package var isEnd: Bool
    /// When the gateway read the item.
    package var readAt: MonotonicTime
    /// The offset of the item's record, if known.
    package var offset: Int64?
    /// The item's JSON.
    package var bytes: [UInt8]

    /// Creates an item.
    package init(
        number: Int64, feedClass: FeedClass, isEnd: Bool = false, readAt: MonotonicTime, offset: Int64? = nil,
        bytes: [UInt8]
    ) {
        self.number = number
        self.feedClass = feedClass
        self.isEnd = isEnd
        self.readAt = readAt
        self.offset = offset
        self.bytes = bytes
    }
}

/// One record of a feed partition.
package struct FeedRecord: Sendable {
    /// The live.
    package var key: LiveKey
    /// The live's epoch, which distinguishes it from earlier lives with the same id.
    package var epoch: Int64
    /// The item.
    package var item: EncodedFeedItem

    /// Creates a record.
    package init(key: LiveKey, epoch: Int64, item: EncodedFeedItem) {
        self.key = key
        self.epoch = epoch
        self.item = item
    }
}
