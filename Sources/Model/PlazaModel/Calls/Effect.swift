// SPDX-License-Identifier: Apache-2.0

/// The effect of an input: a record to write, or a reply.
///
/// One transaction commits the records, the input's offset and the changed rows. Replies are sent after the commit.
/// Large payloads are indirect, so that the most frequent effects, feed items and replies, are cheap to move.
package enum Effect: Hashable, Sendable {
    // Inputs for other machines, or for the same machine under another key.
    indirect case directory(DirectoryInput, key: String)
    indirect case audience(AudienceInput)
    indirect case barrage(BarrageInput)
    indirect case seat(SeatInput)
    indirect case connection(ConnectionInput)
    // Records of public topics, for all readers.
    indirect case live(LiveRecord)
    case liveRemoved(LiveKey)
    indirect case stage(StageRecord)
    case stageRemoved(LiveKey)
    indirect case count(CountRecord)
    case countRemoved(LiveKey)
    indirect case presenceEpoch(PresenceEpochRecord)
    indirect case app(AppRecord)
    case feed(FeedItem)
    indirect case notice(Notice)
    /// An event for the app's backend; only when `policies[app].hasWebhooks`.
    indirect case webhook(WebhookEvent)
    // The answer to a call, sent after the commit.
    case reply(Reply)
}

extension Effect {
    /// A command to the directory, with its own key.
    package static func directory(_ input: DirectoryInput) -> Effect { .directory(input, key: input.keyText) }
    /// A successful reply to `caller`.
    package static func success(_ result: CallResult, to caller: Caller, app: AppID, required: RequiredRevision? = nil)
        -> Effect
    {
        .reply(Reply(to: caller, app: app, .success(result: result), required: required))
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
    /// The record's key: the live's; for claims, the owner's; for settings, the app's.
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
