// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Joins, leaves, heartbeats, profiles

extension AudienceMachine {
    func joined(
        _ caller: Caller, _ input: AudienceInput, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard var row = rows.live(input.key) else { return }
        let ticket = Ticket(planned.moment.offset)
        var isFirst = true
        var isConfirmed = false
        var (replaces, isRenamed) = (false, false)
        var count: Int?
        for change in result.changes {
            switch change {
            case .full:
                let limit = self.maxMembers(input.key, row)
                let error = ReplyError(.roomFull, "the live is full: it takes \(limit) users")
                return self.answer(caller, .failure(error: error), input, planned.moment, in: &rows, into: &effects)
            case .ticketVoid:
                return self.answer(
                    caller, .failure(error: Self.ticketRevoked), input, planned.moment, in: &rows, into: &effects)
            case .joined(let first, let users, let others, let otherwise):
                (isFirst, isConfirmed, count, replaces, isRenamed) = (first, true, users, others, otherwise)
            default: break
            }
        }
        if !isConfirmed, let since = caller.ticket, !rows.fence(input.key).admit(caller.userID, since) {
            // The user was kicked earlier in the same batch, while Redis could not be reached.
            return self.answer(
                caller, .failure(error: Self.ticketRevoked), input, planned.moment, in: &rows, into: &effects)
        }
        let isUnsure = row.isStale || !isConfirmed
        if isFirst, !(isUnsure && Self.wasPresent(caller, row, rows.fence(input.key))) {
            if caller.userID != row.owner {
                row.totalViewers = row.totalViewers.saturatingAdd(1)
                self.publish(.audienceJoined(user: caller.user), to: input.key, into: &effects)
            }
            self.notifyUserPresent(caller.user, input.key, row, into: &effects)
            self.notifyBackend(input.key, .enter, [caller.user], at: planned.moment.now, into: &effects)
        } else if isRenamed {
            // The user changed its name while it was disconnected or on another device.
            self.publishProfile(caller.user, input.key, row, into: &effects)
        }
        row.kickedWhileStale.removeAll { $0 == caller.userID }
        if caller.userID == row.owner { row.ownerPresence = .present }
        if !isConfirmed { row.hasUnrecordedJoins = true }
        rows[.live(input.key)] = .live(row: row)
        if self.policies[input.key.app].devices == .one, replaces || isUnsure && caller.ticket == nil {
            self.replaceOlderDevices(of: caller.userID, ticket, input.key, planned.moment, in: &rows, into: &effects)
        }
        self.countReceived(input.key, count ?? row.count, at: planned.moment.now, in: &rows, into: &effects)
        let outcome = CallResult.joined(ticket: ticket, epoch: row.epoch, confirmed: isConfirmed)
        self.answer(caller, .success(result: outcome), input, planned.moment, in: &rows, into: &effects)
    }

    /// Whether a user who joins while the leases are uncertain was already in the live.
    ///
    /// For a viewer its ticket decides, for the owner its recorded presence.
    private static func wasPresent(_ caller: Caller, _ row: LiveRow, _ fence: RevocationFence) -> Bool {
        if caller.userID == row.owner { return row.ownerPresence == .present }
        guard let ticket = caller.ticket else { return false }
        return ticket.offset >= row.openedAt && fence.admit(caller.userID, ticket)
            && !row.kickedWhileStale.contains(caller.userID)
    }

    /// Revokes the tickets of a user's older devices, because it joined with another one where only one is allowed.
    ///
    /// The older devices get a notice. Viewers see neither a leave nor a join.
    private func replaceOlderDevices(
        of user: UserID, _ ticket: Ticket, _ key: LiveKey, _ moment: Moment, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        self.raiseFloor(of: user, to: ticket, key, in: &rows, into: &effects)
        effects.append(
            .notice(
                Notice(
                    to: UserKey(key.app, user), live: key.live, at: moment.now, floor: ticket,
                    content: .kickedOut(reason: .byLoggedOnOtherDevice, by: user))))
    }

    /// Handles the leave of a session.
    ///
    /// `caller` gets the reply; it is nil when the gateway signed the session off.
    func left(
        _ caller: Caller?, _ input: AudienceInput, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        for case .left(let user, true, let count) in result.changes {
            if self.userLeft(user, .left, from: input.key, count: count, at: planned.moment, in: &rows, into: &effects)
            {
                self.notifyBackend(input.key, .leave, [user], at: planned.moment.now, into: &effects)
            }
        }
        if case .leave(_, _, let user, let session, let ticket)? = planned.request {
            self.revokeJoins(of: session, user, upTo: ticket, input.key, in: &rows)
        }
        // // A second leave is not an error. While Redis cannot be reached, it is unknown whether this was the user's
        // last device. So no leave is published (I5); seats and connections confirm the user once Redis is back.
        guard let caller else { return }
        self.answer(caller, .success(result: .done), input, planned.moment, in: &rows, into: &effects)
    }

    /// Handles the change of a user's name or picture.
    func profileChanged(
        _ caller: Caller, _ input: AudienceInput, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard case .changed(let changes) = result, let row = rows.live(input.key) else {
            return effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: Self.unavailable))))
        }
        // For a user whose leases have expired, the new name is published when it returns.
        if row.isStale || changes.contains(.renamed) {
            self.publishProfile(caller.user, input.key, row, into: &effects)
        }
        self.answer(caller, .success(result: .done), input, planned.moment, in: &rows, into: &effects)
    }

    /// Handles heartbeats: one that arrives after the user's leases expired adds the user again.
    ///
    /// Viewers saw the user leave, so they see it join again. The client itself does not notice that its lease
    /// expired.
    func heartbeatsReceived(
        _ key: LiveKey, _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        for case .returned(let user, let count) in result.changes {
            guard var row = rows.live(key) else { return }
            // In a new epoch every user returns this way. None was reported as having left, so none is reported as
            // joined.
            if !row.isStale {
                if user.userID != row.owner { self.publish(.audienceJoined(user: user), to: key, into: &effects) }
                self.notifyUserPresent(user, key, row, into: &effects)
                self.notifyBackend(key, .heartbeatRecover, [user], at: planned.moment.now, into: &effects)
            }
            if user.userID == row.owner {
                row.ownerPresence = .present
                rows[.live(key)] = .live(row: row)
            }
            self.countReceived(key, count, at: planned.moment.now, in: &rows, into: &effects)
        }
    }

    /// Handles the answer to the question whether `user` is still in the live.
    func presenceConfirmed(
        _ user: UserID, _ key: LiveKey, _ moment: Moment, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        // While the leases are stale or unreachable, there is no answer. Once they are certain again, seats and
        // connections are notified to ask again.
        guard case .membership(let isMember) = result, var row = rows.live(key), !row.isStale else { return }
        if !isMember { self.notifyUserGone(user, key, row, into: &effects) }
        guard user == row.owner else { return }
        row.awaitsOwner = false
        if isMember {
            row.ownerPresence = .present
        } else if row.ownerPresence == .present {
            row.ownerPresence = .offline
        }
        rows[.live(key)] = .live(row: row)
        self.reportOccupancy(key, at: moment.now, in: &rows, into: &effects)
    }

    /// Handles the leave of a user whose last session left or whose last lease expired.
    ///
    /// - Returns: whether the leave was published; if so, the caller notifies the backend too.
    func userLeft(
        _ user: UserInfo, _ owner: OwnerPresence, from key: LiveKey, count: Int, at moment: Moment,
        in rows: inout Rows, into effects: inout [Effect]
    ) -> Bool {
        guard var row = rows.live(key) else { return false }
        // While the leases are stale, the user may have another device that no gateway has asserted yet. So nobody is
        // reported as having left (I5). Once the epoch has settled, seats and connections confirm their users, and
        // the count is correct.
        if !row.isStale {
            if user.userID == row.owner {
                row.ownerPresence = owner
                rows[.live(key)] = .live(row: row)
            } else {
                self.publish(.audienceLeft(user: user), to: key, into: &effects)
            }
            self.notifyUserGone(user.userID, key, row, into: &effects)
        }
        self.countReceived(key, count, at: moment.now, in: &rows, into: &effects)
        return !row.isStale
    }
}
