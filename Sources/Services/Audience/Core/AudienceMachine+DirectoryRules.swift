// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Rules that the directory decides and presence enforces

extension AudienceMachine {
    /// Applies a rule of the directory (admins, limit of users, bans) in the first phase of a batch, which plans the
    /// lease requests.
    ///
    /// So the rule holds for the next input of the batch. Other commands change nothing here.
    ///
    /// - Returns: true when the command is done; false when it still needs a lease request.
    func applyDirectoryRule(_ command: AudienceCommand, _ key: LiveKey, at now: Timestamp, in rows: inout Rows) -> Bool
    {
        switch command {
        case .rights(let admins, let maxMembers):
            guard var row = rows.live(key) else { return true }
            (row.admins, row.maxMembers) = (admins, maxMembers)
            rows[.live(key)] = .live(row: row)
            return true
        case .unbanned(let user):
            var bans = rows.bans(key)
            bans.lift(user)
            self.storeBans(bans, key, at: now, in: &rows)
            return true
        case .banned(let user, let until, _):
            var bans = rows.bans(key)
            bans.set(user, until: until)
            self.storeBans(bans, key, at: now, in: &rows)
            return false
        case .opened, .ended, .join, .leave, .heartbeats, .assert, .kick, .list, .verifyAdminMembership,
            .verifyGuestMembership, .confirm, .announceMute, .profile, .signOff:
            return false
        }
    }

    /// Stores the bans that have not ended at `now`.
    func storeBans(_ bans: Bans, _ key: LiveKey, at now: Timestamp, in rows: inout Rows) {
        var activeBans = bans
        activeBans.prune(at: now)
        rows[.bans(key)] = activeBans.bans.isEmpty ? nil : .bans(row: activeBans)
    }
}
