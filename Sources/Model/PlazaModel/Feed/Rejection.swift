// SPDX-License-Identifier: Apache-2.0

/// Why the fan-out, which writes the lives' feeds, rejects a call; `none` if it accepts the call.
///
/// State rows and inboxes store the numbers, which therefore never change.
package enum Rejection: Int64, Error, Hashable, Sendable, Codable, CaseIterable {
    case none = 0
    case ended = 1
    case notInRoom = 2
    /// The ticket, which proves the join, is older than a kick or a leave.
    case staleTicket = 3
    case roomMuted = 4
    /// The message is empty.
    case empty = 5
    case tooLong = 6
    /// The feed budget is used up.
    case budget = 7
    /// The sender's fair share of the feed budget is used up.
    case share = 8
    case userMuted = 9
    /// The sender exceeded its rate of messages.
    case tooOften = 10
    /// The message contains a filtered word.
    case sensitive = 11
    /// The app's catalogue is empty.
    case giftsNotEnabled = 12
    case noSuchGift = 13
    /// Gifts are disabled in the live.
    case giftsOff = 14
    /// The number of gifts in the call is out of range.
    case giftCount = 15
    /// The gift has too many receivers, or one receiver twice.
    case giftReceivers = 16
    /// The number of likes in the call is out of range.
    case likeCount = 17
    /// The sender of a speaking level is not on a seat.
    case notOnSeat = 18
    /// The speaking level is out of range.
    case speakingLevel = 19
    /// A custom message has an empty business id.
    case noBusinessID = 20
    /// The app's backend refused the message or did not answer.
    case messageForbidden = 21
    /// The app's backend refused the gift or did not answer.
    case giftForbidden = 22

    /// The reply code that the sender receives; `failed` stands for `none`, for which no error is sent.
    package var code: ReplyCode {
        switch self {
        case .none: .failed
        case .ended: .noSuchRoom
        case .notInRoom: .notInRoom
        case .staleTicket: .staleTicket
        case .roomMuted: .roomMuted
        case .empty, .noBusinessID, .giftCount, .giftReceivers, .likeCount, .speakingLevel: .badParameter
        case .tooLong: .messageTooLong
        case .budget, .share: .droppedByBudget
        case .userMuted: .userMuted
        case .tooOften: .tooFrequent
        case .sensitive, .messageForbidden: .sensitiveWords
        case .giftsNotEnabled: .giftsNotEnabled
        case .noSuchGift: .noSuchGift
        case .giftsOff: .giftsOffInLive
        case .notOnSeat: .notOnSeat
        case .giftForbidden: .giftCheckFailed
        }
    }
}
