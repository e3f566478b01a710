// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The permissions in a live (R15.1, R15.2, R15.3).
///
/// An app's server may make every call.
enum LivePermissions {
    /// Checks that the caller may make the call now.
    ///
    /// - Throws: `noSuchRoom` when the live has ended; `notInRoom` or `staleTicket` when the caller is not in the live
    ///   or was kicked (I6, docs/RULES.md); `needsOwner` or `needsOwnerOrAdmin` when the caller lacks the role;
    ///   `noPermission` when the caller may not act on the named user.
    static func check(_ call: LiveCall, _ row: LiveRow) throws(ReplyError) {
        guard row.ended == nil else { throw ReplyError(.noSuchRoom, "the live has ended") }
        if let rejection = row.floors.rejection(of: call.caller) { throw rejection }
        let owner = row.info.liveOwner.userID
        let hasOwnerRights = call.caller.role == .server || call.caller.userID == owner
        let hasHostRights = hasOwnerRights || row.info.admins.contains(call.caller.userID)
        switch call.command {
        case .setAdmin(_, let user, _), .adminMembershipVerified(_, let user, _):
            guard hasOwnerRights else { throw ReplyError(.needsOwner, "only the owner may name admins") }
            guard user != owner else { throw ReplyError(.noPermission, "the owner cannot be an admin") }
        case .revokeAdmin:
            guard hasOwnerRights else { throw ReplyError(.needsOwner, "only the owner may revoke admins") }
        case .end:
            guard hasOwnerRights else { throw ReplyError(.needsOwner, "only the owner may end the live") }
        case .kick(_, let user, _):
            guard hasHostRights else { throw ReplyError(.needsOwnerOrAdmin, "only the owner and admins may kick") }
            try self.checkTargets([user], row, hasOwnerRights: hasOwnerRights, "kicked")
        case .ban(_, let users, _, _, _):
            guard hasHostRights else { throw ReplyError(.needsOwnerOrAdmin, "only the owner and admins may ban") }
            try self.checkTargets(users, row, hasOwnerRights: hasOwnerRights, "banned")
        case .mute(_, let users, _, _):
            guard hasHostRights else { throw ReplyError(.needsOwnerOrAdmin, "only the owner and admins may mute") }
            try self.checkTargets(users, row, hasOwnerRights: hasOwnerRights, "muted")
        case .unban, .bans:
            guard hasHostRights else {
                throw ReplyError(.needsOwnerOrAdmin, "only the owner and admins may list or lift bans")
            }
        case .updateInfo, .setMetadata, .deleteMetadata:
            guard hasHostRights else {
                throw ReplyError(.needsOwnerOrAdmin, "only the owner and admins may change the live")
            }
        case .mutes:
            // Everybody in the live may list the mutes (R4.19).
            break
        case .create, .open, .enter, .repeatOpen, .release, .closed, .occupancy, .profile, .floor, .appSettings:
            // These commands are not calls about an existing live, so they need no permission in a live.
            break
        }
    }

    /// Rejects a kick, ban or mute of the owner by any caller, and of an admin by an admin.
    ///
    /// `participle` is the action in error messages, such as "kicked".
    private static func checkTargets(
        _ users: [UserID], _ row: LiveRow, hasOwnerRights: Bool, _ participle: String
    ) throws(ReplyError) {
        for user in users {
            guard user != row.info.liveOwner.userID else {
                throw ReplyError(.noPermission, "the owner cannot be \(participle)")
            }
            guard hasOwnerRights || !row.info.admins.contains(user) else {
                throw ReplyError(
                    .noPermission, "\(user) is an admin, and an admin cannot be \(participle) by another admin")
            }
        }
    }
}
