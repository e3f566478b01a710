// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import PlazaModel

// MARK: - What the directory lays down

extension AudienceMachine {
    /// Why a call has no place in a running live, or nil.
    func refusal(
        of command: AudienceCommand, at moment: Moment, _ row: LiveRow, _ bans: Bans, _ floors: Floors
    ) -> ReplyError? {
        let now = moment.now
        switch command {
        case .join(let caller):
            guard caller.role == .user else {
                return ReplyError(.noPermission, "an app's server acts in a live without joining it")
            }
            guard let ban = bans.ban(of: caller.userID, at: now) else {
                guard let ticket = caller.ticket else { return nil }
                if let error = Self.refusal(of: ticket, in: row, at: moment) { return error }
                // One who comes back after a kick does not go on where it was: it joins anew, or stays away (I6).
                return floors.admit(caller.userID, ticket) ? nil : Self.putOutMeanwhile
            }
            guard let until = ban.until else {
                return ReplyError(.banned, "you are banned from the live for good")
            }
            return ReplyError(
                .banned, "you are banned from the live until \(until.milliseconds) ms since 1970",
                retryAfter: (until - now).count)
        case .list(let cursor, _, _):
            guard !cursor.isEmpty, Int64(cursor) == nil else { return nil }
            return ReplyError(.invalidParameter, "the cursor is none of this list")
        case .opened, .ended, .leave, .heartbeats, .assert, .kick, .vouchAdmin, .vouchGuest, .confirm, .banned,
            .unbanned, .announceMute, .rights, .profile, .signOff:
            return nil
        }
    }

    /// Why no join of this live can have given a ticket that somebody goes on with, or nil.
    ///
    /// A ticket is the offset of its join: one behind the live's opening, and before the command that names it.
    private static func refusal(of ticket: Ticket, in row: LiveRow, at moment: Moment) -> ReplyError? {
        if ticket.offset < row.openedAt { return Self.earlierLive }
        if ticket.offset > row.openedAt, ticket.offset < moment.offset { return nil }
        return ReplyError(.staleTicket, "no join of the live gave this ticket; join it")
    }

    /// Refuses what a ticket of another live of the same name asks for.
    static var earlierLive: ReplyError {
        ReplyError(.staleTicket, "the ticket is of an earlier live of this name; join again")
    }

    /// How many users a live may have, the owner not counted.
    func mostMembers(_ key: LiveKey, _ row: LiveRow) -> Int {
        let most = self.policies[key.app].maxAudience
        return row.maxMembers > 0 ? min(row.maxMembers, most) : most
    }

    /// Refuses a join that is asked for again after its session left.
    static var leftMeanwhile: ReplyError {
        ReplyError(.staleTicket, "you have left the live since; join it again with a new id")
    }

    /// Refuses to let a session go on where it was.
    static var putOutMeanwhile: ReplyError {
        ReplyError(.staleTicket, "the ticket is no place of yours in the live any more; join it again")
    }

    /// Takes in what the directory says of a live, so that it holds for the next input of the same batch.
    ///
    /// - Returns: whether the command is done with it, and asks nothing of the leases.
    func takeIn(_ command: AudienceCommand, _ key: LiveKey, at now: Timestamp, in rows: inout Rows) -> Bool {
        switch command {
        case .rights(let admins, let maxMembers):
            guard var row = rows.live(key) else { return true }
            (row.admins, row.maxMembers) = (admins, maxMembers)
            rows[.live(key)] = .live(row: row)
            return true
        case .unbanned(let user):
            var bans = rows.bans(key)
            bans.lift(user)
            self.keep(bans, key, at: now, in: &rows)
            return true
        case .banned(let user, let until, _):
            var bans = rows.bans(key)
            bans.set(user, until: until)
            self.keep(bans, key, at: now, in: &rows)
            return false
        case .opened, .ended, .join, .leave, .heartbeats, .assert, .kick, .list, .vouchAdmin, .vouchGuest, .confirm,
            .announceMute, .profile, .signOff:
            return false
        }
    }

    /// Keeps who is banned, without those whose ban is over.
    func keep(_ bans: Bans, _ key: LiveKey, at now: Timestamp, in rows: inout Rows) {
        var bans = bans
        bans.prune(at: now)
        rows[.bans(key)] = bans.bans.isEmpty ? nil : .bans(row: bans)
    }
}
