// SPDX-License-Identifier: Apache-2.0

/// An input of the connection machine, keyed by app.
package struct ConnectionInput: Hashable, Sendable, Codable {
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

/// How a score update counts (R10.16).
package enum ScoreOperation: Int, Hashable, Sendable, Codable {
    case accumulate = 1
    case overwrite = 2
}

/// The connection machine's commands.
///
/// Large payloads are indirect, so that frequent commands are cheap to move.
package enum ConnectionCommand: Hashable, Sendable, Codable {
    case opened(live: LiveID, owner: UserInfo, isVoice: Bool)
    indirect case ended(live: LiveID, ending: Ending)
    /// Presence: the user's last session in the live ended; relevant for the live's owner only.
    case userGone(live: LiveID, user: UserID)
    /// Presence: the user's first session joined the live; relevant for the live's owner only.
    case userBack(live: LiveID, user: UserInfo)
    /// Presence: the live's owner changed its name or avatar.
    case profile(live: LiveID, user: UserInfo)
    /// Presence: a new presence epoch is complete in this live's partition; the connection machine confirms the owner
    /// on stage.
    case confirmOwner(live: LiveID)
    case floor(live: LiveID, user: UserID, ticket: Ticket)
    /// The directory: who the live's admins are now.
    case rights(live: LiveID, admins: [UserID])
    /// The live's seat machine: all seats of the live.
    ///
    /// Sent when the live's connection begins or changes, and at each change of the seats while it is connected. A
    /// voice live without a connection sends it when the number of its occupied seats rises above
    /// `Limits.voiceCoHostSeats` or falls back to it.
    case seatsChanged(live: LiveID, seats: [Seat])
    /// `layoutTemplate` applies if this request begins a connection; 0: the default template of the lives' kind.
    case request(
        from: LiveID, to: [LiveID], layoutTemplate: Int, timeoutSeconds: Int64, extensionInfo: String, caller: Caller)
    case cancelRequest(from: LiveID, to: [LiveID], caller: Caller)
    /// `inviter` is the live that asked; the caller owns `live`.
    case accept(live: LiveID, inviter: LiveID, caller: Caller)
    case reject(live: LiveID, inviter: LiveID, caller: Caller)
    case exit(live: LiveID, caller: Caller)
    /// Mutes the host of `other` for the viewers of `live` only; by its owner or an admin.
    case muteRemote(live: LiveID, other: LiveID, isMuted: Bool, caller: Caller)
    case requestBattle(
        from: LiveID, to: [LiveID], durationSeconds: Int64, needResponse: Bool, timeoutSeconds: Int64,
        extensionInfo: String, caller: Caller)
    case cancelBattle(battle: BattleID, live: LiveID, to: [LiveID], caller: Caller)
    case acceptBattle(battle: BattleID, live: LiveID, caller: Caller)
    case rejectBattle(battle: BattleID, live: LiveID, caller: Caller)
    case exitBattle(battle: BattleID, live: LiveID, caller: Caller)
    /// Updates scores; only by an app's server.
    ///
    /// Each request id is applied once (I14).
    case updateScores(battle: BattleID, operation: ScoreOperation, scores: [ScoreUpdate], caller: Caller)
    /// Answers with a battle, found by its id or by a live; only for an app's server.
    case battleInfo(battle: BattleID?, live: LiveID?, caller: Caller)
}
