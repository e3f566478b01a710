// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A message or gift that an app's backend allows or refuses before it is accepted (R14.7).
package enum BeforeContent: Hashable, Sendable, Codable {
    case beforeText(sender: UserInfo, text: String, extensionInfo: [String: String]?)
    case beforeCustom(sender: UserInfo, businessID: String, data: String)
    /// `coins` is the total cost of all gifts. If the call names no receiver, `receivers` contains the owner.
    case beforeGift(sender: UserInfo, giftID: GiftID, count: Int, coins: Int64, receivers: [UserID])

    /// The event name in the request's header.
    package var name: String {
        switch self {
        case .beforeText: "beforeText"
        case .beforeCustom: "beforeCustom"
        case .beforeGift: "beforeGift"
        }
    }

    /// The user who sends the message or gift.
    package var sender: UserID {
        switch self {
        case .beforeText(let sender, _, _), .beforeCustom(let sender, _, _), .beforeGift(let sender, _, _, _, _):
            sender.userID
        }
    }

    /// Whether the content is a gift; otherwise it is a message.
    package var isGift: Bool {
        if case .beforeGift = self { return true }
        return false
    }
}

/// A request for a decision by an app's backend.
package struct WebhookRequest: Hashable, Sendable, Codable {
    /// The version of the request's format.
    package var v = 1
    /// Identifies the call; a repeated call has the same id.
    package var id: String
    package var app: AppID
    package var live: LiveID
    /// The time of the request, by the gateway's clock.
    package var at: Timestamp
    package var content: BeforeContent

    package init(id: String, key: LiveKey, at: Timestamp, content: BeforeContent) {
        self.id = id
        self.app = key.app
        self.live = key.live
        self.at = at
        self.content = content
    }
}
