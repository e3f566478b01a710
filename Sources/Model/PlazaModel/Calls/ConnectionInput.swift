// SPDX-License-Identifier: Apache-2.0

/// An input of the connection machine, which decides the co-host connections and battles of lives; keyed by app.
package struct ConnectionInput: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var app: AppID
    package var command: ConnectionCommand

    package init(app: AppID, _ command: ConnectionCommand) {
        self.app = app
        self.command = command
    }
}

/// One live's score in an update.
package struct ScoreUpdate: Hashable, Sendable, Codable {
    package var live: LiveID
    package var score: Int64

    package init(live: LiveID, score: Int64) {
        self.live = live
        self.score = score
    }
}

/// Whether a score update adds to a score or replaces it (R10.16).
package enum ScoreOperation: Int, Hashable, Sendable, Codable {
    case accumulate = 1
    case overwrite = 2
}

/// The connection machine's commands.
///
/// Large payloads are indirect, so that frequent commands are cheap to move.
package enum ConnectionCommand: Hashable, Sendable, Codable {
    /// The live was opened.
    case opened(live: LiveID, owner: UserInfo, isVoice: Bool)
    indirect case ended(live: LiveID, ending: Ending)
    /// Presence reports that the user is no longer in the live; ignored unless the user owns the live.
    case userGone(live: LiveID, user: UserID)
    /// Presence reports that the user is in the live; ignored unless the user owns the live.
    case userBack(live: LiveID, user: UserInfo)
    /// Presence reports the new name or avatar of the live's owner.
    case profile(live: LiveID, user: UserInfo)
    /// Presence had lost its leases, and reports that a new presence epoch (docs/GLOSSARY.md) has settled in this
    /// live's partition; the connection machine then asks whether the live's owner is still present.
    case confirmOwner(live: LiveID)
    /// Presence raises the user's revocation floor, its lowest valid ticket, to `ticket`.
    case floor(live: LiveID, user: UserID, ticket: Ticket)
    /// The directory reports the live's current admins.
    case rights(live: LiveID, admins: [UserID])
    /// The seat machine reports all seats of the live.
    ///
    /// The seats are reported when the live's connection begins or changes, and at each change of the seats while the
    /// live is connected. The seats of a voice live without a connection are reported when the number of occupied seats
    /// rises above `Limits.voiceCoHostSeats` or falls to that limit again.
    case seatsChanged(live: LiveID, seats: [Seat])
    /// Invites lives; `layoutTemplate` applies if this request begins a connection, and 0 means the default template of
    /// voice or video lives.
    case request(
        from: LiveID, to: [LiveID], layoutTemplate: Int, timeoutSeconds: Int64, extensionInfo: String, caller: Caller)
    case cancelRequest(from: LiveID, to: [LiveID], caller: Caller)
    /// The caller, who owns `live`, accepts the request of the live `inviter`.
    case accept(live: LiveID, inviter: LiveID, caller: Caller)
    case reject(live: LiveID, inviter: LiveID, caller: Caller)
    /// The live leaves its connection.
    case exit(live: LiveID, caller: Caller)
    /// The owner or an admin of `live` mutes the host of `other` for the viewers of `live` only.
    case muteRemote(live: LiveID, other: LiveID, isMuted: Bool, caller: Caller)
    /// Invites connected lives to a battle; a duration of 0 means the app's maximum.
    case requestBattle(
        from: LiveID, to: [LiveID], durationSeconds: Int64, needResponse: Bool, timeoutSeconds: Int64,
        extensionInfo: String, caller: Caller)
    case cancelBattle(battle: BattleID, live: LiveID, to: [LiveID], caller: Caller)
    case acceptBattle(battle: BattleID, live: LiveID, caller: Caller)
    case rejectBattle(battle: BattleID, live: LiveID, caller: Caller)
    case exitBattle(battle: BattleID, live: LiveID, caller: Caller)
    /// An app's server updates scores; each request id is applied once (I14).
    case updateScores(battle: BattleID, operation: ScoreOperation, scores: [ScoreUpdate], caller: Caller)
    /// The owner of `live` reads the open co-host requests that the live has sent and received.
    case openRequests(live: LiveID, caller: Caller)
    /// The owner of `live` reads the open requests of the battle that the live has requested or is invited to.
    case openBattleRequests(live: LiveID, caller: Caller)
    /// Answers an app's server with a battle, found by its id or by a live.
    case battleInfo(battle: BattleID?, live: LiveID?, caller: Caller)
}
