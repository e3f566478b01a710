// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

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
        let before = room.info
        room.info.admins.append(user)
        return .done(.done, told: self.told(.adminSet(user: user), before, room.info, key))
    }

    func revokeAdmin(_ user: UserID, _ key: LiveKey, _ room: inout RoomRow) -> RoomAnswer {
        guard room.info.admins.contains(user) else { return .done(.done, told: []) }
        let before = room.info
        room.info.admins.removeAll { $0 == user }
        return .done(.done, told: self.told(.adminRevoked(user: user), before, room.info, key))
    }

    /// Presence carries the kick out, and answers.
    func kick(_ user: UserID, _ caller: Caller, _ key: LiveKey) -> RoomAnswer {
        let reason: KickReason = caller.role == .server ? .byServer : .byAdmin
        return .passedOn(told: [.audience(AudienceInput(key, .kick(user: user, reason: reason, caller: caller)))])
    }

    /// Presence tells that the owner is called otherwise from now on.
    func renamed(
        _ key: LiveKey, _ user: UserInfo, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        guard case .room(var room)? = rows[.room(key)], room.ended == nil,
            room.info.liveOwner.userID == user.userID, room.info.liveOwner != user
        else { return }
        let before = room.info
        room.info.liveOwner = user
        room.revision = moment.offset
        rows[.room(key)] = .room(row: room)
        effects.append(.room(room.record(app: key.app)))
        effects += self.told(.infoChanged(info: room.info), before, room.info, key)
    }

    private func checkAdminCount(_ key: LiveKey, _ room: RoomRow) throws(ReplyError) {
        let limit = self.policies[key.app].maxAdmins
        guard room.info.admins.count < limit else {
            throw ReplyError(.tooManyAdmins, "a live has at most \(limit) admins")
        }
    }
}
