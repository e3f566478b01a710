// SPDX-License-Identifier: Apache-2.0
package import CoreKit

// What messages and gifts must be, for the fan-out, which decides, and for gateways, which ask an app's backend about
// nothing that would be refused anyway.

extension FeedContent {
    /// Why no feed takes the message, whoever sends it: it says nothing, or too much.
    package var fault: Refusal? {
        let bytes: Int
        switch self {
        case .text(_, let text, let extensionInfo):
            if text.isEmpty { return .empty }
            bytes = text.utf8.count + (extensionInfo.map(Self.bytes) ?? 0)
        case .custom(_, let businessID, let data):
            if businessID.isEmpty { return .noBusinessID }
            bytes = businessID.utf8.count + data.utf8.count
        default: return nil
        }
        return bytes <= Limits.messageBytes ? nil : .tooLong
    }

    private static func bytes(of info: [String: String]) -> Int {
        info.reduce(0) { $0 + $1.key.utf8.count + $1.value.utf8.count }
    }

    /// Whether what a message's sender wrote for others to read contains a word: text, values, data, but no names of
    /// keys and features.
    package func contains(_ filter: WordFilter) -> Bool {
        if filter.isEmpty { return false }
        switch self {
        case .text(_, let text, let extensionInfo):
            return filter.matches(text) || (extensionInfo?.values.contains { filter.matches($0) } ?? false)
        case .custom(_, _, let data): return filter.matches(data)
        default: return false
        }
    }
}

extension LiveInfo {
    /// Whether the room's mute holds `user` back: it spares owner and admins.
    package func isMuted(for user: UserID) -> Bool {
        self.isMessageDisable && user != self.liveOwner.userID && !self.admins.contains(user)
    }
}

/// What a gift call asks for.
package struct GiftOrder: Hashable, Sendable {
    package var gift: GiftID
    package var count: Int
    /// Empty: the live's owner.
    package var receivers: [UserID]

    package init(gift: GiftID, count: Int, receivers: [UserID]) {
        self.gift = gift
        self.count = count
        self.receivers = receivers
    }

    /// How many are given in all: each receiver gets `count` of them.
    package var number: Int64 { Int64(self.count).times(Int64(max(1, self.receivers.count))) }

    /// What all of them cost, at most the highest number there is.
    package func coins(at price: Int64) -> Int64 { price.times(self.number) }

    /// Why the order is refused, whoever orders.
    ///
    /// - Parameters:
    ///   - isKnown: whether the app's catalogue has the gift.
    ///   - hasGifts: whether the app has any.
    ///   - isOn: whether gifts are on in the live.
    /// - Returns: the first reason; nil when it may be sent.
    package func refusal(isKnown: Bool, hasGifts: Bool, isOn: Bool) -> Refusal? {
        if !Limits.giftCount.contains(self.count) { return .giftCount }
        guard self.receivers.count <= Limits.giftReceivers, Set(self.receivers).count == self.receivers.count else {
            return .giftReceivers
        }
        if !hasGifts { return .giftsNotEnabled }
        if !isOn { return .giftsOff }
        return isKnown ? nil : .noSuchGift
    }
}

extension Int64 {
    /// The product, or the highest number there is.
    fileprivate func times(_ factor: Int64) -> Int64 {
        let (product, isTooHigh) = self.multipliedReportingOverflow(by: factor)
        return isTooHigh ? .max : product
    }
}
