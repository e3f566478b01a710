// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// An input of the fan-out, the machine that writes the lives' feeds; keyed by live.
package struct BarrageInput: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var key: LiveKey
    package var command: BarrageCommand

    package init(_ key: LiveKey, _ command: BarrageCommand) {
        self.key = key
        self.command = command
    }
}

/// The fan-out's commands.
///
/// Large payloads are indirect, so that messages are cheap to move.
package enum BarrageCommand: Hashable, Sendable, Codable {
    /// The directory opened the live; the feed begins.
    case opened(epoch: Int64, owner: UserID)
    /// The live ended, and its members have left: appends `liveEnded` as the feed's last item (I1) and answers the
    /// caller.
    indirect case ended(ending: Ending)
    case sendText(text: String, extensionInfo: [String: String]?, caller: Caller)
    case sendCustom(businessID: String, data: String, caller: Caller)
    /// Sends a gift of the app's catalogue; if `receivers` is empty, the live's owner is the receiver.
    case sendGift(giftID: GiftID, count: Int, receivers: [UserID], caller: Caller)
    case sendLikes(count: Int, caller: Caller)
    /// Rejects a message or gift that the gateway found invalid before it asked the app's backend
    /// (WEBHOOKS.md, section 5).
    case refused(why: Rejection, caller: Caller)
    /// Rejects a message or gift because the app's backend refused it or did not answer; the sender gets `error`.
    indirect case forbidden(error: ReplyError, isGift: Bool, caller: Caller)
    /// The caller's speaking level, 0 to 100; 0 means silent.
    case speaking(level: Int, caller: Caller)
    /// Answers with the live's statistics.
    case summary(caller: Caller)
    /// Answers a repeated call to end the live with the live's statistics.
    case repeatEnding(caller: Caller)
    /// Another machine publishes a control item or a tip to the feed.
    case publish(content: FeedContent)
    /// Whether all viewers of the live are muted except `admins`, and whether gifts are enabled.
    case rights(isMessageDisable: Bool, admins: [UserID], isGiftEnabled: Bool)
    /// Mutes the user until the given time; nil means permanently.
    ///
    /// Authorised by the directory.
    case muted(user: UserID, until: Timestamp?)
    case unmuted(user: UserID)
    /// Presence raises the user's revocation floor, its lowest valid ticket, to `ticket`.
    case floor(user: UserID, ticket: Ticket)

    /// The names on the wire.
    private enum CodingKeys: String, CodingKey {
        case opened, ended, sendText, sendCustom, sendGift, sendLikes, refused, forbidden, speaking, summary,
            repeatEnding, rights, muted, unmuted, floor
        case publish = "tell"
    }
}
