// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Why a call was refused; the numbers stand in state rows and never change.
package enum Refusal: Int64, Error, Hashable, Sendable, CaseIterable {
    case none = 0
    case ended = 1
    case notInRoom = 2
    case staleTicket = 3
    case roomMuted = 4
    case empty = 5
    case tooLong = 6
    case budget = 7
    case share = 8
    case userMuted = 9
    case tooOften = 10
    case sensitive = 11
    case giftsNotEnabled = 12
    case noSuchGift = 13
    case giftsOff = 14
    case giftCount = 15
    case giftReceivers = 16
    case likeCount = 17
    case notOnSeat = 18
    case speakingLevel = 19

    /// The code that the sender gets.
    package var code: ReplyCode {
        switch self {
        case .none: .failed
        case .ended: .noSuchRoom
        case .notInRoom: .notInRoom
        case .staleTicket: .staleTicket
        case .roomMuted: .roomMuted
        case .empty, .giftCount, .giftReceivers, .likeCount, .speakingLevel: .badParameter
        case .tooLong: .messageTooLong
        case .budget, .share: .droppedByBudget
        case .userMuted: .userMuted
        case .tooOften: .tooFrequent
        case .sensitive: .sensitiveWords
        case .giftsNotEnabled: .giftsNotEnabled
        case .noSuchGift: .noSuchGift
        case .giftsOff: .giftsOffInLive
        case .notOnSeat: .notOnSeat
        }
    }

    /// What the sender hears; nil when there was nothing to refuse.
    func error(retryAfter: Int64, under rules: AppRules) -> ReplyError? {
        if self == .none { return nil }
        return ReplyError(self.code, self.message(under: rules), retryAfter: retryAfter > 0 ? retryAfter : nil)
    }

    private func message(under rules: AppRules) -> String {
        switch self {
        case .none: ""
        case .ended: "the live has ended"
        case .notInRoom: "join the live before acting in it"
        case .staleTicket: "you were put out of the live; join it again"
        case .roomMuted: "the room is muted for all but owner and admins"
        case .empty: "the message is empty"
        case .tooLong: "a message has at most \(Limits.messageBytes) bytes"
        case .budget: "the live's feed is full for now"
        case .share: "the feed is busy, and you have your share of it"
        case .userMuted: "you are muted in this live"
        case .tooOften: "a user sends at most \(rules.messagesPerUser) messages a second"
        case .sensitive: "the message contains words that the app does not allow"
        case .giftsNotEnabled: "the app has no gifts"
        case .noSuchGift: "the app has no such gift"
        case .giftsOff: "gifts are off in this live"
        case .giftCount: "count is \(Limits.giftCount.lowerBound) to \(Limits.giftCount.upperBound)"
        case .giftReceivers: "a gift has at most \(Limits.giftReceivers) receivers, each named once"
        case .likeCount: "count is \(Limits.likesPerCall.lowerBound) to \(Limits.likesPerCall.upperBound)"
        case .notOnSeat: "only who sits on a seat of this live speaks"
        case .speakingLevel:
            "level is \(Limits.speakingLevel.lowerBound) to \(Limits.speakingLevel.upperBound)"
        }
    }
}
