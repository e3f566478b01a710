// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The parameters of a gift call.
package struct GiftOrder: Hashable, Sendable {
    package var gift: GiftID
    package var count: Int
    /// The receivers; if empty, the live's owner is the receiver.
    package var receivers: [UserID]

    package init(gift: GiftID, count: Int, receivers: [UserID]) {
        self.gift = gift
        self.count = count
        self.receivers = receivers
    }

    /// The total number of gifts: each receiver gets `count`.
    package var totalCount: Int64 { Int64(self.count).saturatingMultiply(Int64(max(1, self.receivers.count))) }

    /// The price of all gifts; `Int64.max` on overflow.
    package func coins(at price: Int64) -> Int64 { price.saturatingMultiply(self.totalCount) }

    /// Checks the gift and its receivers, but not the sender's rights.
    ///
    /// - Parameters:
    ///   - isInCatalogue: whether the app's catalogue contains the gift.
    ///   - isCatalogueEmpty: whether the app has no gifts at all.
    ///   - isGiftEnabled: whether gifts are enabled in the live.
    /// - Returns: the first reason for a rejection; nil if the gift may be sent.
    package func rejection(isInCatalogue: Bool, isCatalogueEmpty: Bool, isGiftEnabled: Bool) -> Rejection? {
        if !Limits.giftCount.contains(self.count) { return .giftCount }
        guard self.receivers.count <= Limits.giftReceivers, Set(self.receivers).count == self.receivers.count else {
            return .giftReceivers
        }
        if isCatalogueEmpty { return .giftsNotEnabled }
        if !isGiftEnabled { return .giftsOff }
        return isInCatalogue ? nil : .noSuchGift
    }
}
