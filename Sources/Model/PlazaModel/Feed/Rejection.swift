// SPDX-License-Identifier: Apache-2.0

/// Why the fan-out rejects a call.
///
/// The numbers are stored in state rows and inboxes and never change.
package enum Rejection: Int64, Error, Hashable, Sendable, Codable, CaseIterable {
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
    case noBusinessID = 20
    case messageForbidden = 21
    case giftForbidden = 22

    /// The code that the sender gets.
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
