// SPDX-License-Identifier: Apache-2.0
import PlazaModel

extension Rejection {
    /// The error for the sender, with the retry hint in milliseconds (0: no hint); nil for `none`.
    func error(retryAfter: Int64, under rules: AppRules) -> ReplyError? {
        if self == .none { return nil }
        return ReplyError(self.code, self.message(under: rules), retryAfter: retryAfter > 0 ? retryAfter : nil)
    }

    private func message(under rules: AppRules) -> String {
        switch self {
        case .none: ""
        case .ended: "the live has ended"
        case .notInRoom: "join the live before acting in it"
        case .staleTicket: "you were removed from the live; join it again"
        case .roomMuted: "the live is muted for all users but the owner and the admins"
        case .empty: "text is empty"
        case .noBusinessID: "businessID is empty"
        case .tooLong: "a message has at most \(Limits.messageBytes) bytes"
        case .budget: "the live's feed is full for now"
        case .share: "the feed is busy, and you have used your share of it"
        case .userMuted: "you are muted in this live"
        case .tooOften: "a user may send at most \(rules.messagesPerUser) messages a second"
        case .sensitive: "the message contains words that the app does not allow"
        case .giftsNotEnabled: "the app has no gifts"
        case .noSuchGift: "the app has no such gift"
        case .giftsOff: "gifts are off in this live"
        case .giftCount: "count must be \(Limits.giftCount.lowerBound) to \(Limits.giftCount.upperBound)"
        case .giftReceivers: "a gift has at most \(Limits.giftReceivers) receivers, each named once"
        case .likeCount: "count must be \(Limits.likesPerCall.lowerBound) to \(Limits.likesPerCall.upperBound)"
        case .notOnSeat: "only users on a seat of this live may send speaking levels"
        case .speakingLevel:
            "level must be \(Limits.speakingLevel.lowerBound) to \(Limits.speakingLevel.upperBound)"
        case .messageForbidden: "the app's backend refused the message"
        case .giftForbidden: "the app's backend refused the gift"
        }
    }
}
