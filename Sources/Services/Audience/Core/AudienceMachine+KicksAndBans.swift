// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Kicks and bans

// A kick or a ban revokes the user's tickets: the live's revocation fence stores the lowest ticket (the inbox offset of
// a join) that the user may still use.

extension AudienceMachine {
    /// Handles a kick that the directory has authorised.
    func handleKick(
        _ user: UserID, _ reason: KickReason, by caller: Caller, _ input: AudienceInput, _ planned: PlannedInput,
        _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        let isRemoved = self.remove(
            user, reason, by: caller.userID, input.key, planned.moment, result, in: &rows, into: &effects)
        let error = ReplyError(.notMember, "the user is not in the live")
        let outcome: Outcome = isRemoved ? .success(result: .done) : .failure(error: error)
        self.replyAndRecord(caller, outcome, input, planned.moment, in: &rows, into: &effects)
    }

    /// Handles a ban by the directory: revokes the user's tickets, and removes the user from the live.
    func handleBan(
        _ user: UserID, by caller: Caller?, _ key: LiveKey, _ moment: Moment, _ result: LeaseResult,
        in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard let row = rows.live(key) else { return }
        // A ban without a caller counts as a ban by the app's server, in the name of the owner.
        let reason: KickReason = caller?.role == .user ? .byAdmin : .byServer
        let isRemoved = self.remove(
            user, reason, by: caller?.userID ?? row.owner, key, moment, result, in: &rows, into: &effects)
        for case .kicked(let profile, _) in result.changes {
            self.sendSanctionProfile(profile, key, into: &effects)
        }
        // The tickets of an absent user are revoked too. Otherwise a heartbeat with an earlier ticket would return the
        // user to the live.
        if !isRemoved {
            self.revokeTickets(of: user, before: Ticket(moment.offset), reason, key, in: &rows, into: &effects)
        }
    }

    /// Sends the directory the profile of a banned or muted user, for the lists of bans and mutes (R4.22).
    ///
    /// The command `profile` also updates the owner's profile. It is used here, because earlier versions of the
    /// directory can read it, and ignore it for users who are not the owner.
    func sendSanctionProfile(_ user: UserInfo, _ key: LiveKey, into effects: inout [Effect]) {
        effects.append(.directory(DirectoryInput(app: key.app, .profile(live: key.live, user: user))))
    }

    /// Removes a user from a live with all its sessions.
    ///
    /// - Returns: false when the user is not in the live; then nothing changes.
    private func remove(
        _ user: UserID, _ reason: KickReason, by kicker: UserID, _ key: LiveKey, _ moment: Moment,
        _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) -> Bool {
        guard var row = rows.live(key) else { return false }
        var removal: (user: UserInfo, count: Int)?
        for case .kicked(let profile, let count) in result.changes { removal = (profile, count) }
        // Uncertain leases may lack users who are in the live. So while they are uncertain, a first kick of a user
        // succeeds even without a lease, and a second kick of the same user fails.
        let areLeasesUncertain = row.isStale || result == .unavailable
        guard removal != nil || areLeasesUncertain && !row.kickedWhileStale.contains(user) else { return false }
        if areLeasesUncertain {
            row.kickedWhileStale.append(user)
            if row.kickedWhileStale.count > Self.kickedWhileStaleLimit { row.kickedWhileStale.removeFirst() }
            rows[.live(key)] = .live(row: row)
        }
        let lowestValidTicket = Ticket(moment.offset)
        self.revokeTickets(of: user, before: lowestValidTicket, reason, key, in: &rows, into: &effects)
        if user == row.owner {
            row.ownerPresence = .left
            rows[.live(key)] = .live(row: row)
        } else {
            self.publish(.audienceLeft(user: removal?.user ?? UserInfo(userID: user)), to: key, into: &effects)
            row.rememberLeave(of: user, at: moment.now)
            rows[.live(key)] = .live(row: row)
        }
        self.notifyOfLeave(user, key, row, into: &effects)
        self.sendMemberEvent(
            key, .leave, [removal?.user ?? UserInfo(userID: user)], at: moment.now, into: &effects)
        self.updateCount(key, removal?.count ?? row.count, at: moment.now, in: &rows, into: &effects)
        effects.append(
            .notice(
                Notice(
                    to: UserKey(key.app, user), live: key.live, at: moment.now, floor: lowestValidTicket,
                    content: .kickedOut(reason: reason, by: kicker))))
        return true
    }

    /// Makes all machines reject the user's tickets from before `ticket` (I6 in docs/RULES.md).
    func revokeTickets(
        of user: UserID, before ticket: Ticket, _ reason: KickReason, _ key: LiveKey, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        var fence = rows.fence(key)
        fence.raiseFloor(of: user, to: ticket, reason: reason)
        rows[.fence(key)] = .fence(row: fence)
        effects.append(.directory(DirectoryInput(app: key.app, .floor(live: key.live, user: user, ticket: ticket))))
        effects.append(.barrage(BarrageInput(key, .floor(user: user, ticket: ticket))))
        effects.append(.seat(SeatInput(key, .floor(user: user, ticket: ticket))))
        effects.append(
            .connection(ConnectionInput(app: key.app, .floor(live: key.live, user: user, ticket: ticket))))
    }
}
