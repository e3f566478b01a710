// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Admins, kicks, and the profile of the owner.
extension DirectoryMachine {
    /// First step of naming an admin: asks presence to verify that the user is in the live.
    ///
    /// Presence then sends the call back.
    func setAdmin(_ user: UserID, _ caller: Caller, _ key: LiveKey, _ row: LiveRow) throws(ReplyError) -> CallDecision {
        if row.info.admins.contains(user) { return .done(.done, facts: []) }
        try self.checkAdminCount(key, row)
        return .passedOn(facts: [.audience(AudienceInput(key, .verifyAdminMembership(user: user, caller: caller)))])
    }

    /// Second step of naming an admin, after presence has verified that the user is in the live.
    func addVerifiedAdmin(_ user: UserID, _ key: LiveKey, _ row: inout LiveRow) throws(ReplyError)
        -> CallDecision
    {
        if row.info.admins.contains(user) { return .done(.done, facts: []) }
        try self.checkAdminCount(key, row)
        let before = row.info
        row.info.admins.append(user)
        return .done(.done, facts: self.infoChangeEffects(.adminSet(user: user), before, row.info, key))
    }

    /// Makes the user an ordinary user; does nothing if the user is no admin.
    func revokeAdmin(_ user: UserID, _ key: LiveKey, _ row: inout LiveRow) -> CallDecision {
        guard row.info.admins.contains(user) else { return .done(.done, facts: []) }
        let before = row.info
        row.info.admins.removeAll { $0 == user }
        return .done(.done, facts: self.infoChangeEffects(.adminRevoked(user: user), before, row.info, key))
    }

    /// Authorises a kick, which presence executes and replies to.
    func kick(_ user: UserID, _ caller: Caller, _ key: LiveKey) -> CallDecision {
        let reason: KickReason = caller.role == .server ? .byServer : .byAdmin
        return .passedOn(facts: [.audience(AudienceInput(key, .kick(user: user, reason: reason, caller: caller)))])
    }

    /// Applies the owner's new profile, which presence reports.
    func updateOwnerProfile(
        _ key: LiveKey, _ user: UserInfo, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        guard case .live(var row)? = rows[.live(key)], row.ended == nil,
            row.info.liveOwner.userID == user.userID, row.info.liveOwner != user
        else { return }
        let before = row.info
        row.info.liveOwner = user
        row.revision = moment.offset
        rows[.live(key)] = .live(row: row)
        effects.append(.live(row.record(app: key.app)))
        effects += self.infoChangeEffects(.infoChanged(info: row.info), before, row.info, key)
    }

    private func checkAdminCount(_ key: LiveKey, _ row: LiveRow) throws(ReplyError) {
        let limit = self.policies[key.app].maxAdmins
        guard row.info.admins.count < limit else {
            throw ReplyError(.tooManyAdmins, "a live has at most \(limit) admins")
        }
    }
}
