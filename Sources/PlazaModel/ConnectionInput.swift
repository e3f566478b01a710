// SPDX-License-Identifier: Apache-2.0

/// What the connection machine's inbox carries, keyed by app.
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

/// How a score update counts (reference 13.3).
package enum ScoreOperation: Int, Hashable, Sendable, Codable {
    case accumulate = 1
    case overwrite = 2
}

/// The connection machine's commands; what is large stands apart, so that frequent ones move as little as they need.
package enum ConnectionCommand: Hashable, Sendable, Codable {
    case opened(live: LiveID, owner: UserInfo, isVoice: Bool)
    indirect case ended(live: LiveID, ending: Ending)
    /// Presence: the user's last session in the live is gone; matters when it is the owner.
    case userGone(live: LiveID, user: UserID)
    /// Presence: the user's first session entered the live; matters when it is the owner.
    case userBack(live: LiveID, user: UserInfo)
    /// Presence: the live's owner has another name or picture.
    case profile(live: LiveID, user: UserInfo)
    /// Presence: a new presence epoch has settled in these lives' partition; confirm the owners on stage.
    case confirmOwner(live: LiveID)
    case floor(live: LiveID, user: UserID, ticket: Ticket)
    /// The directory: who the live's admins are now.
    case rights(live: LiveID, admins: [UserID])
    /// The live's seat machine: its seats, whole.
    ///
    /// Sent when the live's connection begins or becomes another, and at each change of the seats while it is
    /// connected. A voice live that is in no connection sends it when the number of its occupied seats comes above, or
    /// back to, `Limits.voiceCoHostSeats`.
    case seatsChanged(live: LiveID, seats: [Seat])
    /// `layoutTemplate` is for a connection that begins with this request; 0: the one for the lives' kind.
    case request(
        from: LiveID, to: [LiveID], layoutTemplate: Int, timeoutSeconds: Int64, extensionInfo: String, caller: Caller)
    case cancelRequest(from: LiveID, to: [LiveID], caller: Caller)
    /// `inviter` is the live that asked; the caller owns `live`.
    case accept(live: LiveID, inviter: LiveID, caller: Caller)
    case reject(live: LiveID, inviter: LiveID, caller: Caller)
    case exit(live: LiveID, caller: Caller)
    /// Leaves the sound of `other`'s host out of the mix of `live` alone; by owner or admin.
    case muteRemote(live: LiveID, other: LiveID, isMuted: Bool, caller: Caller)
    case requestBattle(
        from: LiveID, to: [LiveID], durationSeconds: Int64, needResponse: Bool, timeoutSeconds: Int64,
        extensionInfo: String, caller: Caller)
    case cancelBattle(battle: BattleID, live: LiveID, to: [LiveID], caller: Caller)
    case acceptBattle(battle: BattleID, live: LiveID, caller: Caller)
    case rejectBattle(battle: BattleID, live: LiveID, caller: Caller)
    case exitBattle(battle: BattleID, live: LiveID, caller: Caller)
    /// By an app's server alone; each request id counts once (I14).
    case updateScores(battle: BattleID, operation: ScoreOperation, scores: [ScoreUpdate], caller: Caller)
    /// Asks for a battle by its id, or for the one of a live; by an app's server alone.
    case battleInfo(battle: BattleID?, live: LiveID?, caller: Caller)
}
