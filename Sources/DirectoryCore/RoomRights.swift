// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Who may do what in a live (reference 18).
///
/// An app's server may do all of it.
enum RoomRights {
    /// Refuses a call that its caller may not make now.
    ///
    /// - Throws: `noSuchRoom` when the live has ended; `notInRoom` or `staleTicket` (I6); `needsOwner`,
    ///   `needsOwnerOrAdmin`; `noPermission` for a target that the caller has no power over.
    static func check(_ call: RoomCall, _ room: RoomRow) throws(ReplyError) {
        guard room.ended == nil else { throw ReplyError(.noSuchRoom, "the live has ended") }
        if let refusal = room.floors.refusal(of: call.caller) { throw refusal }
        let owner = room.info.liveOwner.userID
        let isOwner = call.caller.role == .server || call.caller.userID == owner
        let isHost = isOwner || room.info.admins.contains(call.caller.userID)
        switch call.command {
        case .setAdmin(_, let user, _), .setAdminVouched(_, let user, _):
            guard isOwner else { throw ReplyError(.needsOwner, "only the owner names admins") }
            guard user != owner else { throw ReplyError(.noPermission, "the owner is no admin") }
        case .revokeAdmin:
            guard isOwner else { throw ReplyError(.needsOwner, "only the owner revokes admins") }
        case .end:
            guard isOwner else { throw ReplyError(.needsOwner, "only the owner ends the live") }
        case .kick(_, let user, _):
            guard isHost else { throw ReplyError(.needsOwnerOrAdmin, "only owner and admins kick") }
            try self.check([user], room, asOwner: isOwner, "kicked")
        case .ban(_, let users, _, _, _):
            guard isHost else { throw ReplyError(.needsOwnerOrAdmin, "only owner and admins ban") }
            try self.check(users, room, asOwner: isOwner, "banned")
        case .mute(_, let users, _, _):
            guard isHost else { throw ReplyError(.needsOwnerOrAdmin, "only owner and admins mute") }
            try self.check(users, room, asOwner: isOwner, "muted")
        case .unban, .bans:
            guard isHost else { throw ReplyError(.needsOwnerOrAdmin, "only owner and admins see and lift bans") }
        case .updateInfo, .setMetadata, .deleteMetadata:
            guard isHost else {
                throw ReplyError(.needsOwnerOrAdmin, "only owner and admins change the live")
            }
        case .mutes:
            // Whoever is in the room may know who is muted in it (reference 4, messageBannedUserList).
            break
        case .create, .open, .enter, .repeatOpen, .release, .closed, .occupancy, .profile, .floor, .appSettings:
            break
        }
    }

    /// Nobody puts out or silences the owner, and no admin an admin.
    private static func check(
        _ users: [UserID], _ room: RoomRow, asOwner isOwner: Bool, _ done: String
    ) throws(ReplyError) {
        for user in users {
            guard user != room.info.liveOwner.userID else {
                throw ReplyError(.noPermission, "the owner cannot be \(done)")
            }
            guard isOwner || !room.info.admins.contains(user) else {
                throw ReplyError(.noPermission, "\(user) is an admin, and cannot be \(done) by one")
            }
        }
    }
}
