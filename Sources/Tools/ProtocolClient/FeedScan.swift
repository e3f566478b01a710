// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The epoch and the item numbers of a feed frame, found without a parse of the whole JSON.
///
/// A client must detect gaps and repeats in every frame, even when the app does not read the items.
package struct FeedScan: Equatable, Sendable {
    /// The epoch of the feed.
    package var epoch: Int64
    /// The number of the first item.
    ///
    /// In a frame without items, or with history (messages from before the join), it is the number of the next item.
    package var firstNumber: Int64
    /// The number of the last item.
    ///
    /// In a frame without items or with history, it is the number of the feed's newest item.
    package var lastNumber: Int64
    /// The number of items.
    package var count: Int
    /// Whether the items are messages from before the client joined; their numbers need not be consecutive.
    package var isHistory: Bool
    /// The offset of the last item's record in its topic, from the frame's token; nil if the token has none.
    ///
    /// If the client resumes after this frame, the server begins to read the missed items at this offset.
    package var offset: Int64?

    /// Scans a frame; returns nil if it is no feed frame of the expected form, or if its numbers are inconsistent.
    package init?(_ text: Span<UInt8>) {
        guard Self.isFeed(text), let token = FeedScanner.token(in: text) else { return nil }
        let isHistory = FeedScanner.isHistory(text)
        guard let items = FeedScanner.itemNumbers(in: text, mustBeConsecutive: !isHistory) else { return nil }
        let current = token.position.number
        if isHistory {
            guard items.count > 0, items.last <= current else { return nil }
            self.firstNumber = current + 1
        } else if items.count == 0 {
            guard FeedScanner.hasNoItems(text) else { return nil }
            self.firstNumber = current + 1
        } else {
            guard items.last == current else { return nil }
            self.firstNumber = items.first
        }
        self.epoch = token.position.epoch
        self.lastNumber = current
        self.count = items.count
        self.isHistory = isHistory
        self.offset = token.offset
    }

    /// The frame's token.
    package var token: FeedToken {
        FeedToken(FeedPosition(epoch: self.epoch, number: self.lastNumber), offset: self.offset)
    }

    /// The frame without its items, which still gives the position of the feed.
    var withoutItems: FeedScan {
        var scan = self
        scan.isHistory = false
        scan.count = 0
        scan.firstNumber = self.lastNumber + 1
        return scan
    }

    /// Whether a text has the beginning of a feed frame.
    package static func isFeed(_ text: Span<UInt8>) -> Bool { FeedScanner.hasOpening(text) }
}
