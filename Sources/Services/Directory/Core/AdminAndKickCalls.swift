// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Calls that appoint admins, revoke their rights, or kick users.
extension DirectoryMachine {
    /// First step of appointing an admin: asks presence (the machine that knows who is in a live) to verify that the
    /// user is in the live.
    ///
    /// If the user is in the live, presence sends the call back as `adminMembershipVerified`. A user who is an admin
    /// already needs no second step.
    func setAdmin(_ user: UserID, _ caller: Caller, _ key: LiveKey, _ row: LiveRow) throws(ReplyError) -> CallDecision {
        if row.info.admins.contains(user) { return .executed(.done, effects: []) }
        try self.checkAdminCount(key, row)
        return .passedOn(effects: [.audience(AudienceInput(key, .verifyAdminMembership(user: user, caller: caller)))])
    }

    /// Second step of appointing an admin: adds the user, whom presence has verified to be in the live.
    ///
    /// The checks of the first step are repeated, because the admins may have changed in the meantime.
    func addVerifiedAdmin(
        _ user: UserID, _ key: LiveKey, _ row: inout LiveRow, revision: Int64
    ) throws(ReplyError) -> CallDecision {
        if row.info.admins.contains(user) { return .executed(.done, effects: []) }
        try self.checkAdminCount(key, row)
        let oldInfo = row.info
        row.info.admins.append(user)
        let content = FeedContent.adminSet(user: user, revision: revision)
        return .executed(.done, effects: self.effectsOfInfoChange(content, from: oldInfo, to: row.info, key))
    }

    /// Removes the user from the admins; does nothing if the user is not an admin.
    func revokeAdmin(_ user: UserID, _ key: LiveKey, _ row: inout LiveRow, revision: Int64) -> CallDecision {
        guard row.info.admins.contains(user) else { return .executed(.done, effects: []) }
        let oldInfo = row.info
        row.info.admins.removeAll { $0 == user }
        let content = FeedContent.adminRevoked(user: user, revision: revision)
        return .executed(.done, effects: self.effectsOfInfoChange(content, from: oldInfo, to: row.info, key))
    }

    /// Passes a kick, whose permission has been checked, on to presence, which executes it and replies to the caller.
    func kick(_ user: UserID, _ caller: Caller, _ key: LiveKey) -> CallDecision {
        // A kick by the owner counts as a kick by an admin.
        let reason: KickReason = caller.role == .server ? .byServer : .byAdmin
        return .passedOn(effects: [.audience(AudienceInput(key, .kick(user: user, reason: reason, caller: caller)))])
    }

    /// Rejects a further admin if the live has the maximum number of admins.
    private func checkAdminCount(_ key: LiveKey, _ row: LiveRow) throws(ReplyError) {
        let limit = self.policies[key.app].maxAdmins
        guard row.info.admins.count < limit else {
            throw ReplyError(.tooManyAdmins, "a live has at most \(limit) admins")
        }
    }
}
