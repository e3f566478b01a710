// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Joins

extension AudienceMachine {
    /// Handles a join that `plan` has admitted.
    ///
    /// If Redis has rejected the join, replies with an error. Otherwise publishes the user, and replies with the
    /// ticket: the offset of the join, which proves the join in later calls.
    func handleJoin(
        _ caller: Caller, _ input: AudienceInput, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard var row = rows.live(input.key) else { return }
        let ticket = Ticket(planned.moment.offset)
        // Nil when Redis cannot be reached.
        var confirmedJoin: (isFirst: Bool, count: Int, replacesOthers: Bool, isRenamed: Bool)?
        for change in result.changes {
            switch change {
            case .full:
                let limit = self.viewerLimit(input.key, row)
                let error = ReplyError(.roomFull, "the live is full: it takes \(limit) users")
                return self.replyAndRecord(
                    caller, .failure(error: error), input, planned.moment, in: &rows, into: &effects)
            case .ticketVoid:
                return self.rejectTicket(of: caller, input, planned.moment, in: &rows, into: &effects)
            case .joined(let isFirst, let count, let replacesOthers, let isRenamed):
                confirmedJoin = (isFirst, count, replacesOthers, isRenamed)
            // A join makes no other changes.
            default: break
            }
        }
        let isConfirmed = confirmedJoin != nil
        if !isConfirmed, let oldTicket = caller.ticket, !rows.fence(input.key).isValid(oldTicket, of: caller.userID) {
            // Redis cannot be reached, and an earlier input of the same batch has kicked the user.
            return self.rejectTicket(of: caller, input, planned.moment, in: &rows, into: &effects)
        }
        let areLeasesUncertain = row.isStale || !isConfirmed
        // The join of a user's first session is published. But uncertain leases may lack a session that the user has.
        // So while they are uncertain, the join of a user who was already in the live is not published.
        let isFirstSession = confirmedJoin?.isFirst ?? true
        let isEntry =
            isFirstSession && !(areLeasesUncertain && Self.wasInLive(caller, row, rows.fence(input.key)))
        if isEntry {
            // The owner is neither counted nor announced to the viewers.
            if caller.userID != row.owner {
                let continuesVisit = row.recentLeaves?.contains(caller.userID, at: planned.moment.now) ?? false
                if !continuesVisit { row.totalViewers = row.totalViewers.saturatingAdd(1) }
                // Nil instead of false: the JSON of a new visit has no such field.
                let content = FeedContent.audienceJoined(
                    user: caller.user, continuesVisit: continuesVisit ? true : nil)
                self.publish(content, to: input.key, into: &effects)
            }
            self.notifyOfJoin(caller.user, input.key, row, into: &effects)
            self.sendMemberEvent(input.key, .enter, [caller.user], at: planned.moment.now, into: &effects)
        } else if confirmedJoin?.isRenamed == true {
            // The user changed its name or picture while it was disconnected, or on another device.
            self.publishProfile(caller.user, input.key, row, into: &effects)
        }
        row.kickedWhileStale.removeAll { $0 == caller.userID }
        if caller.userID == row.owner { row.ownerPresence = .present }
        if !isConfirmed { row.hasUnrecordedJoins = true }
        rows[.live(input.key)] = .live(row: row)
        // Uncertain leases do not say whether the user has other devices. So while they are uncertain, a join without a
        // ticket, which resumes no earlier join, counts as a join that replaces other devices.
        let mayReplaceOthers =
            confirmedJoin?.replacesOthers == true || (areLeasesUncertain && caller.ticket == nil)
        if mayReplaceOthers, self.policies[input.key.app].devices == .one {
            self.replaceOlderDevices(of: caller.userID, ticket, input.key, planned.moment, in: &rows, into: &effects)
        }
        self.updateCount(
            input.key, confirmedJoin?.count ?? row.count, at: planned.moment.now, in: &rows, into: &effects)
        let callResult = CallResult.joined(ticket: ticket, epoch: row.epoch, confirmed: isConfirmed)
        self.replyAndRecord(caller, .success(result: callResult), input, planned.moment, in: &rows, into: &effects)
    }

    /// Rejects a join that resumes with a ticket that is no longer valid: the user was kicked or left after it.
    private func rejectTicket(
        of caller: Caller, _ input: AudienceInput, _ moment: Moment, in rows: inout Rows, into effects: inout [Effect]
    ) {
        // Redis rejects a ticket only if the join has one, so the fallback is never used. It is above the lowest valid
        // ticket of every user, so the error would not name a kick as its reason.
        let ticket = caller.ticket ?? Ticket(.max)
        let error = Self.ticketRevokedError(ticket, of: caller.userID, rows.fence(input.key))
        self.replyAndRecord(caller, .failure(error: error), input, moment, in: &rows, into: &effects)
    }

    /// Whether a user who joins while the leases are uncertain was already in the live.
    ///
    /// A viewer was in the live if its ticket is valid. The owner was in the live if the live's row says so.
    private static func wasInLive(_ caller: Caller, _ row: LiveRow, _ fence: RevocationFence) -> Bool {
        if caller.userID == row.owner { return row.ownerPresence == .present }
        guard let ticket = caller.ticket else { return false }
        return ticket.offset >= row.openingOffset && fence.isValid(ticket, of: caller.userID)
            && !row.kickedWhileStale.contains(caller.userID)
    }

    /// Revokes the tickets of a user's older devices after a join, for an app that allows each user one device.
    ///
    /// `ticket` is the ticket of the new join, so all older tickets are revoked. The older devices get a notice.
    /// Viewers see neither a leave nor a join.
    private func replaceOlderDevices(
        of user: UserID, _ ticket: Ticket, _ key: LiveKey, _ moment: Moment, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        self.revokeTickets(of: user, before: ticket, .byLoggedOnOtherDevice, key, in: &rows, into: &effects)
        effects.append(
            .notice(
                Notice(
                    to: UserKey(key.app, user), live: key.live, at: moment.now, floor: ticket,
                    content: .kickedOut(reason: .byLoggedOnOtherDevice, by: user))))
    }
}
