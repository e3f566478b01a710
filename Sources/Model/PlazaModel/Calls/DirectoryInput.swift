// SPDX-License-Identifier: Apache-2.0

/// An input of the directory, the machine that decides who owns a live, its info, and who may do what in it.
///
/// Most inputs are keyed by the live. Claims, which limit each user to one live, are keyed by the owner. Settings are
/// keyed by the app.
package struct DirectoryInput: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var app: AppID
    package var command: DirectoryCommand

    package init(app: AppID, _ command: DirectoryCommand) {
        self.app = app
        self.command = command
    }
}

/// The directory's commands.
///
/// A command with a caller is a call, or the second step of a call. A command without a caller reports an event.
package enum DirectoryCommand: Hashable, Sendable, Codable {
    /// First step of a create, keyed by the owner.
    case create(live: LiveID, changes: LiveChanges, owner: UserInfo, caller: Caller)
    /// Second step of a create, keyed by the live, after the owner's claim is stored.
    case open(live: LiveID, changes: LiveChanges, owner: UserInfo, caller: Caller)
    /// Second step of a create by an owner whose live exists already: the owner enters the live (R3.4).
    case enter(live: LiveID, owner: UserID, caller: Caller)
    /// Second step of a repeated create: repeats the reply of `open`.
    case repeatOpen(live: LiveID, caller: Caller)
    /// Removes the owner's claim, because the live ended or `open` was rejected, and then sends `thenReply`; keyed by
    /// the owner.
    case release(owner: UserID, live: LiveID, thenReply: Reply?)
    case updateInfo(live: LiveID, changes: LiveChanges, caller: Caller)
    case setMetadata(live: LiveID, values: [String: String], caller: Caller)
    case deleteMetadata(live: LiveID, keys: [String], caller: Caller)
    case setAdmin(live: LiveID, user: UserID, caller: Caller)
    /// Presence has verified that the user is in the live.
    case adminMembershipVerified(live: LiveID, user: UserID, caller: Caller)
    case revokeAdmin(live: LiveID, user: UserID, caller: Caller)
    case kick(live: LiveID, user: UserID, caller: Caller)
    /// Bans users, whether or not they are in the live, for `durationSeconds`; -1 means permanently.
    case ban(live: LiveID, users: [UserID], durationSeconds: Int64, reason: String, caller: Caller)
    case unban(live: LiveID, users: [UserID], caller: Caller)
    /// Answers with a page of the bans.
    case bans(live: LiveID, offset: Int, count: Int, caller: Caller)
    /// Mutes users for `durationSeconds`; -1 means permanently, and 0 lifts the mute.
    case mute(live: LiveID, users: [UserID], durationSeconds: Int64, caller: Caller)
    /// Answers with a page of the mutes.
    case mutes(live: LiveID, offset: Int, count: Int, caller: Caller)
    case end(live: LiveID, caller: Caller)
    /// The fan-out reports that all machines have handled the end of the live, so the live's id is free again.
    case closed(live: LiveID, epoch: Int64)
    /// Presence reports whether the owner is in the live, and whether the live has no users at all.
    case occupancy(live: LiveID, owner: OwnerPresence, isEmpty: Bool)
    /// Presence reports the new name or avatar of the live's owner, or the profile of a banned or muted user.
    case profile(live: LiveID, user: UserInfo)
    /// Presence raises the user's revocation floor to `ticket`, so that calls with an older ticket are rejected.
    case floor(live: LiveID, user: UserID, ticket: Ticket)
    /// An app's server changes the app's settings; keyed by the app.
    case appSettings(change: AppSettingsChange, caller: Caller)

    /// The names on the wire.
    private enum CodingKeys: String, CodingKey {
        case create, open, enter, repeatOpen, release, updateInfo, setMetadata, deleteMetadata, setAdmin, revokeAdmin,
            kick, ban, unban, bans, mute, mutes, end, closed, occupancy, profile, floor, appSettings
        case adminMembershipVerified = "setAdminVouched"
    }
}

/// The presence of a live's owner.
package enum OwnerPresence: String, Hashable, Sendable, Codable {
    case present
    /// The owner has left.
    case left
    /// The owner's heartbeats have stopped.
    case offline
}
