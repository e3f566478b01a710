// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// Why a message did not enter; the numbers stand in state rows and never change.
package enum Refusal: Int64, Hashable, Sendable, CaseIterable {
    case none = 0
    case ended = 1
    case notInRoom = 2
    case staleTicket = 3
    case roomMuted = 4
    case empty = 5
    case tooLong = 6
    case budget = 7
    case share = 8

    /// The code that the sender gets.
    package var code: ReplyCode {
        switch self {
        case .none: .failed
        case .ended: .noSuchRoom
        case .notInRoom: .notInRoom
        case .staleTicket: .staleTicket
        case .roomMuted: .roomMuted
        case .empty: .badParameter
        case .tooLong: .messageTooLong
        case .budget, .share: .droppedByBudget
        }
    }

    /// What the sender hears; nil when the message did enter.
    func error(retryAfter: Int64) -> ReplyError? {
        let message: String
        switch self {
        case .none: return nil
        case .ended: message = "the live has ended"
        case .notInRoom: message = "join the live before acting in it"
        case .staleTicket: message = "you were put out of the live; join it again"
        case .roomMuted: message = "the room is muted for all but owner and admins"
        case .empty: message = "the message is empty"
        case .tooLong: message = "a message has at most \(Limits.messageBytes) bytes"
        case .budget: message = "the live's feed is full for now"
        case .share: message = "the feed is busy, and you have your share of it"
        }
        return ReplyError(self.code, message, retryAfter: retryAfter > 0 ? retryAfter : nil)
    }
}
