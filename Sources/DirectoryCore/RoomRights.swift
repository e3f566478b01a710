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
        let isServer = call.caller.role == .server
        let isOwner = isServer || call.caller.userID == owner
        let isAdmin = room.info.admins.contains(call.caller.userID)
        switch call.command {
        case .setAdmin(_, let user, _), .setAdminVouched(_, let user, _):
            guard isOwner else { throw ReplyError(.needsOwner, "only the owner names admins") }
            guard user != owner else { throw ReplyError(.noPermission, "the owner is no admin") }
        case .revokeAdmin:
            guard isOwner else { throw ReplyError(.needsOwner, "only the owner revokes admins") }
        case .end:
            guard isOwner else { throw ReplyError(.needsOwner, "only the owner ends the live") }
        case .kick(_, let user, _):
            guard isOwner || isAdmin else { throw ReplyError(.needsOwnerOrAdmin, "only owner and admins kick") }
            guard user != owner else { throw ReplyError(.noPermission, "the owner cannot be kicked") }
            guard isOwner || !room.info.admins.contains(user) else {
                throw ReplyError(.noPermission, "an admin cannot kick an admin")
            }
        case .updateInfo, .setMetadata, .deleteMetadata:
            guard isOwner || isAdmin else {
                throw ReplyError(.needsOwnerOrAdmin, "only owner and admins change the live")
            }
        case .create, .open, .repeatOpen, .release, .closed, .occupancy, .floor, .appSettings:
            break
        }
    }
}

/// Calls about the people of a live.
extension DirectoryMachine {
    /// First step: presence vouches that the user is in the room, and sends it back.
    func setAdmin(_ user: UserID, _ caller: Caller, _ key: LiveKey, _ room: RoomRow) throws(ReplyError) -> RoomAnswer {
        if room.info.admins.contains(user) { return .done(.done, told: []) }
        try self.checkAdminCount(key, room)
        return .passedOn(told: [.audience(AudienceInput(key, .vouchAdmin(user: user, caller: caller)))])
    }

    /// Second step: the user is in the room, and the caller's right still stands.
    func setAdminVouched(_ user: UserID, _ key: LiveKey, _ room: inout RoomRow) throws(ReplyError) -> RoomAnswer {
        if room.info.admins.contains(user) { return .done(.done, told: []) }
        try self.checkAdminCount(key, room)
        room.info.admins.append(user)
        return .done(.done, told: self.adminsTold(.adminSet(user: user), key, room.info))
    }

    func revokeAdmin(_ user: UserID, _ key: LiveKey, _ room: inout RoomRow) -> RoomAnswer {
        guard room.info.admins.contains(user) else { return .done(.done, told: []) }
        room.info.admins.removeAll { $0 == user }
        return .done(.done, told: self.adminsTold(.adminRevoked(user: user), key, room.info))
    }

    /// Presence carries the kick out, and answers.
    func kick(_ user: UserID, _ caller: Caller, _ key: LiveKey) -> RoomAnswer {
        let reason: KickReason = caller.role == .server ? .byServer : .byAdmin
        return .passedOn(told: [.audience(AudienceInput(key, .kick(user: user, reason: reason, caller: caller)))])
    }

    private func checkAdminCount(_ key: LiveKey, _ room: RoomRow) throws(ReplyError) {
        let limit = self.policies[key.app].maxAdmins
        guard room.info.admins.count < limit else {
            throw ReplyError(.tooManyAdmins, "a live has at most \(limit) admins")
        }
    }

    private func adminsTold(_ content: FeedContent, _ key: LiveKey, _ info: LiveInfo) -> [Effect] {
        [
            .barrage(BarrageInput(key, .tell(content: content))),
            .rights(key, info),
            .seat(SeatInput(key, .infoChanged(info: info))),
        ]
    }
}
