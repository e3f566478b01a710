// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import PlazaModel

/// The last items of one live's feed, from which the gateway replays.
struct FeedLog: Sendable {
    /// The minimum number of items that a long feed retains.
    ///
    /// When the log exceeds this number by a quarter, its oldest items are removed.
    static let minRetainedItems = 2000

    /// The epoch of the items, which distinguishes lives with the same id; 0 before the first item.
    private(set) var epoch: Int64 = 0
    private var items: [FeedItem] = []

    /// The number of the last item; 0 before the first.
    var lastNumber: Int64 { self.items.last?.position.number ?? 0 }

    /// Adds an item.
    ///
    /// - Returns: False if the item was not added, because it is not newer than the last one.
    mutating func append(_ item: FeedItem) -> Bool {
        if item.position.epoch > self.epoch {
            self.epoch = item.position.epoch
            self.items = []
        }
        guard item.position.epoch == self.epoch, item.position.number > self.lastNumber else { return false }
        self.items.append(item)
        let maxExcess = Self.minRetainedItems / 4
        if self.items.count > Self.minRetainedItems + maxExcess { self.items.removeFirst(maxExcess) }
        return true
    }

    /// The items after the item `number`; nil if some of them were removed.
    func items(after number: Int64) -> ArraySlice<FeedItem>? {
        // Numbers have no gaps, so no item is missing if the log begins with the item `number + 1` or an earlier one.
        let firstNumber = self.items.first?.position.number ?? 1
        guard number >= firstNumber - 1 else { return nil }
        return self.items.drop { $0.position.number <= number }
    }

    /// The last messages of users, at most `count`, for a new viewer.
    func lastMessages(_ count: Int) -> [FeedItem] {
        Array(self.items.reversed().lazy.filter { $0.content.feedClass == .barrage }.prefix(count).reversed())
    }

    /// The item `liveEnded`, which is the last of a feed.
    ///
    /// Nil if the live has not ended, or if a client at `position` has the item already. Also nil if `position` belongs
    /// to another epoch of the live; epoch 0 means that the client has received nothing yet.
    func endItem(missedAt position: FeedPosition) -> FeedItem? {
        guard let endItem = self.items.last, endItem.content.isEnd else { return nil }
        let hasReceivedNothing = position.epoch == 0
        if hasReceivedNothing { return endItem }
        return position.epoch == self.epoch && position.number < endItem.position.number ? endItem : nil
    }

    /// The number of the last item in an epoch; 0 if the log has the items of another epoch.
    func lastNumber(inEpoch epoch: Int64) -> Int64 { self.epoch == epoch ? self.lastNumber : 0 }

    /// The items of an epoch that a client has missed.
    ///
    /// - Parameters:
    ///   - position: The client's position; `.start` if it has received neither an item nor a token.
    ///   - epoch: The epoch of the live.
    /// - Returns: The items; nil if they cannot be replayed.
    func missedItems(after position: FeedPosition, epoch: Int64) -> ArraySlice<FeedItem>? {
        guard position == .start || position.epoch == epoch else { return nil }
        let lastNumber = self.lastNumber(inEpoch: epoch)
        guard position.number <= lastNumber else { return nil }
        // The log has no item of this epoch yet.
        if lastNumber == 0 { return position.number == 0 ? [] : nil }
        return self.items(after: position.number)
    }
}

extension FeedPosition {
    /// The position of a client that has received neither an item nor a token.
    fileprivate static let start = FeedPosition(epoch: 0, number: 0)
}
