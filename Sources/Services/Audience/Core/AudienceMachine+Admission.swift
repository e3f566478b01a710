// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Admission of joins, and the directory's rules

extension AudienceMachine {
    /// The error that rejects a call to a running live; nil when it is admitted.
    func rejection(
        of command: AudienceCommand, at moment: Moment, _ row: LiveRow, _ bans: Bans, _ fence: RevocationFence
    ) -> ReplyError? {
        let now = moment.now
        switch command {
        case .join(let caller):
            guard caller.role == .user else {
                return ReplyError(.noPermission, "an app's server acts in a live without joining it")
            }
            guard let ban = bans.ban(of: caller.userID, at: now) else {
                guard let ticket = caller.ticket else { return nil }
                if let error = Self.rejection(of: ticket, in: row, at: moment) { return error }
                // After a kick a user cannot resume with its old ticket: it has to join without one (I6).
                return fence.admit(caller.userID, ticket) ? nil : Self.ticketRevoked
            }
            guard let until = ban.until else {
                return ReplyError(.banned, "you are banned from the live for good")
            }
            return ReplyError(
                .banned, "you are banned from the live until \(until.milliseconds) ms since 1970",
                retryAfter: (until - now).count)
        case .list(let cursor, _, _):
            guard !cursor.isEmpty, Int64(cursor) == nil else { return nil }
            return ReplyError(.invalidParameter, "the cursor does not belong to this list")
        case .opened, .ended, .leave, .heartbeats, .assert, .kick, .verifyAdminMembership, .verifyGuestMembership,
            .confirm, .banned,
            .unbanned, .announceMute, .rights, .profile, .signOff:
            return nil
        }
    }

    /// The error for a ticket that cannot be from a join of this live; nil when it can.
    ///
    /// A ticket is the offset of its join. So it must lie after the live's opening and before the command that
    /// carries it.
    private static func rejection(of ticket: Ticket, in row: LiveRow, at moment: Moment) -> ReplyError? {
        if ticket.offset < row.openedAt { return Self.earlierLive }
        if ticket.offset > row.openedAt, ticket.offset < moment.offset { return nil }
        return ReplyError(.staleTicket, "the ticket does not belong to a join of this live; join it")
    }

    /// The error for a ticket from an earlier live of the same name.
    static var earlierLive: ReplyError {
        ReplyError(.staleTicket, "the ticket belongs to an earlier live of this name; join again")
    }

    /// The maximum number of users in a live, without the owner.
    func maxMembers(_ key: LiveKey, _ row: LiveRow) -> Int {
        let limit = self.policies[key.app].maxAudience
        return row.maxMembers > 0 ? min(row.maxMembers, limit) : limit
    }

    /// The error for the retry of a join whose session has left since.
    static var sessionLeft: ReplyError {
        ReplyError(.staleTicket, "you have left the live since; join it again with a new id")
    }

    /// The error for resuming a session that was removed from the live.
    static var ticketRevoked: ReplyError {
        ReplyError(.staleTicket, "the ticket is no longer valid in the live; join it again")
    }

    /// Applies a rule of the directory (admins, limit, bans) in the first phase, so that it holds for the next input
    /// of the batch.
    ///
    /// - Returns: whether the command is finished and needs no lease request.
    func applyRule(_ command: AudienceCommand, _ key: LiveKey, at now: Timestamp, in rows: inout Rows) -> Bool {
        switch command {
        case .rights(let admins, let maxMembers):
            guard var row = rows.live(key) else { return true }
            (row.admins, row.maxMembers) = (admins, maxMembers)
            rows[.live(key)] = .live(row: row)
            return true
        case .unbanned(let user):
            var bans = rows.bans(key)
            bans.lift(user)
            self.store(bans, key, at: now, in: &rows)
            return true
        case .banned(let user, let until, _):
            var bans = rows.bans(key)
            bans.set(user, until: until)
            self.store(bans, key, at: now, in: &rows)
            return false
        case .opened, .ended, .join, .leave, .heartbeats, .assert, .kick, .list, .verifyAdminMembership,
            .verifyGuestMembership, .confirm,
            .announceMute, .profile, .signOff:
            return false
        }
    }

    /// Stores the bans, without those that have ended.
    func store(_ bans: Bans, _ key: LiveKey, at now: Timestamp, in rows: inout Rows) {
        var bans = bans
        bans.prune(at: now)
        rows[.bans(key)] = bans.bans.isEmpty ? nil : .bans(row: bans)
    }
}
