// SPDX-License-Identifier: Apache-2.0

/// The effect of an input.
///
/// All but replies commit in one transaction with the input's offset and the changed rows;
/// replies are sent after that commit.
///
/// Large payloads are `indirect`, so that feed items and replies, the most frequent effects by far, are cheap to move.
package enum Effect: Hashable, Sendable {
    // Inputs for other machines, or for the same machine under another key.
    indirect case directory(DirectoryInput, key: String)
    indirect case audience(AudienceInput)
    indirect case barrage(BarrageInput)
    indirect case seat(SeatInput)
    indirect case connection(ConnectionInput)
    // Records of public topics, for all readers.
    indirect case live(LiveRecord)
    case liveGone(LiveKey)
    indirect case stage(StageRecord)
    case stageGone(LiveKey)
    indirect case count(CountRecord)
    case countGone(LiveKey)
    indirect case presenceEpoch(PresenceEpochRecord)
    indirect case app(AppRecord)
    case feed(FeedItem)
    indirect case notice(Notice)
    /// An event for the app's backend; only when `policies[app].hasWebhooks`.
    indirect case webhook(WebhookEvent)
    // Sent after the commit.
    case reply(Reply)
}

extension Effect {
    /// A command to the directory about a live, or about an owner's claim, under the key that orders it.
    package static func directory(_ input: DirectoryInput) -> Effect { .directory(input, key: input.keyText) }
    /// A successful reply to `caller`.
    package static func success(_ result: CallResult, to caller: Caller, app: AppID, seen: RequiredRevision? = nil)
        -> Effect
    {
        .reply(Reply(to: caller, app: app, .success(result: result), seen: seen))
    }
    /// A reply that rejects a request older than the outcomes in its idempotency window.
    package static func requestForgotten(_ caller: Caller, _ app: AppID) -> Effect {
        .reply(Reply(to: caller, app: app, .failure(error: .requestForgotten)))
    }
    /// A reply that rejects the call of `caller`.
    package static func failure(_ code: ReplyCode, _ message: String, to caller: Caller, app: AppID) -> Effect {
        .reply(Reply(to: caller, app: app, .failure(error: ReplyError(code, message))))
    }
}

extension DirectoryInput {
    /// The record's key: the live's, the owner's for claims, the app's alone for its settings.
    package var keyText: String {
        switch self.command {
        case .create(_, _, let owner, _): UserKey(self.app, owner.userID).text
        case .release(let owner, _, _): UserKey(self.app, owner).text
        case .open(let live, _, _, _), .enter(let live, _, _), .repeatOpen(let live, _), .updateInfo(let live, _, _),
            .setMetadata(let live, _, _), .deleteMetadata(let live, _, _), .setAdmin(let live, _, _),
            .adminMembershipVerified(let live, _, _), .revokeAdmin(let live, _, _), .kick(let live, _, _),
            .ban(let live, _, _, _, _), .unban(let live, _, _), .bans(let live, _, _, _), .mute(let live, _, _, _),
            .mutes(let live, _, _, _), .profile(let live, _), .end(let live, _),
            .closed(let live, _), .occupancy(let live, _, _), .floor(let live, _, _):
            LiveKey(self.app, live).text
        case .appSettings: self.app.text
        }
    }
}
