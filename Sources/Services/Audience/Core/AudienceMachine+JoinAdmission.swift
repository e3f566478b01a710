// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Admission of joins

// A join returns a ticket, the inbox offset of the join, which proves the join in later calls. A live's revocation
// fence has the lowest tickets that kicked users may still use.

extension AudienceMachine {
    /// The error that rejects a command to a running live before its lease request; nil when the command is admitted.
    func rejection(
        of command: AudienceCommand, at moment: Moment, _ row: LiveRow, _ bans: Bans, _ fence: RevocationFence
    ) -> ReplyError? {
        let now = moment.now
        switch command {
        case .join(let caller):
            guard caller.role == .user else {
                return ReplyError(.noPermission, "an app's server acts in a live without joining it")
            }
            if let ban = bans.ban(of: caller.userID, at: now) {
                guard let until = ban.until else {
                    return ReplyError(.banned, "you are banned from the live without an end")
                }
                return ReplyError(
                    .banned, "you are banned from the live until \(until.milliseconds) ms since 1970",
                    retryAfter: (until - now).count)
            }
            guard let ticket = caller.ticket else { return nil }
            if let error = Self.rejection(ofTicket: ticket, in: row, at: moment) { return error }
            // After a kick a user cannot resume with an old ticket: the user has to join without a ticket (I6 and R1.16
            // in docs/RULES.md).
            return fence.isValid(ticket, of: caller.userID)
                ? nil : Self.ticketRevokedError(ticket, of: caller.userID, fence)
        case .list(let cursor, _, _): return self.rejection(ofCursor: cursor)
        case .opened, .ended, .leave, .heartbeats, .assert, .kick, .verifyAdminMembership, .verifyGuestMembership,
            .confirm, .banned, .unbanned, .announceMute, .rights, .profile, .signOff:
            return nil
        }
    }

    /// The error for a ticket that no join of this live can have returned; nil for a possible ticket.
    ///
    /// A ticket is the offset of a join. So it must be above the offset of the live's opening, and below the offset of
    /// the command that contains the ticket.
    private static func rejection(ofTicket ticket: Ticket, in row: LiveRow, at moment: Moment) -> ReplyError? {
        if ticket.offset < row.openingOffset { return Self.earlierLiveError }
        if ticket.offset > row.openingOffset, ticket.offset < moment.offset { return nil }
        return ReplyError(.staleTicket, "the ticket does not belong to a join of this live; join it")
    }

    /// The error for a ticket from an earlier live with the same id.
    static var earlierLiveError: ReplyError {
        ReplyError(.staleTicket, "the ticket belongs to an earlier live of this name; join again")
    }

    /// The maximum number of users in a live, without the owner.
    func viewerLimit(_ key: LiveKey, _ row: LiveRow) -> Int {
        let appLimit = self.policies[key.app].maxAudience
        return row.maxMembers > 0 ? min(row.maxMembers, appLimit) : appLimit
    }

    /// The error for a repeated join whose session has left the live since the first copy.
    static var sessionLeftError: ReplyError {
        ReplyError(.staleTicket, "you have left the live after this join; join again with a new id")
    }

    /// The error for a join that resumes with a ticket from before a kick or a leave.
    ///
    /// After a kick, the error has the reason of the kick.
    static func ticketRevokedError(_ ticket: Ticket, of user: UserID, _ fence: RevocationFence) -> ReplyError {
        ReplyError(
            .staleTicket, "the ticket is no longer valid in the live; join it again",
            reason: fence.kickReason(rejecting: ticket, of: user)?.rawValue)
    }
}
