// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import PlazaModel

// MARK: - Who comes and goes

extension AudienceMachine {
    func joined(
        _ caller: Caller, _ input: AudienceInput, _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard var row = rows.live(input.key) else { return }
        let ticket = Ticket(step.moment.offset)
        var isFirst = true
        var isConfirmed = false
        var (replaces, isRenamed) = (false, false)
        var count: Int?
        if case .done(let entries, _) = result {
            for entry in entries {
                switch entry.change {
                case .full:
                    let most = self.mostMembers(input.key, row)
                    let error = ReplyError(.roomFull, "the live is full: it takes \(most) users")
                    return self.answer(
                        caller, .failure(error: error), input, step.moment, in: &rows, into: &effects)
                case .void:
                    return self.answer(
                        caller, .failure(error: Self.putOutMeanwhile), input, step.moment, in: &rows, into: &effects)
                case .joined(let first, let users, let others, let otherwise):
                    (isFirst, isConfirmed, count, replaces, isRenamed) = (first, true, users, others, otherwise)
                default: break
                }
            }
        }
        if !isConfirmed, let since = caller.ticket, !rows.floors(input.key).admit(caller.userID, since) {
            // A kick earlier in the same batch, of which no lease could know.
            return self.answer(
                caller, .failure(error: Self.putOutMeanwhile), input, step.moment, in: &rows, into: &effects)
        }
        let isUnsure = row.isStale || !isConfirmed
        if isFirst, !(isUnsure && Self.wasHere(caller, row, rows.floors(input.key))) {
            if caller.userID != row.owner {
                row.totalViewers += 1
                self.tell(.audienceJoined(user: caller.user), input.key, into: &effects)
            }
            self.tellBack(caller.user, input.key, row, into: &effects)
            self.tellBackend(input.key, .enter, [caller.user], at: step.moment.now, into: &effects)
        } else if isRenamed {
            // It has changed its name while its connection was away, or on another device.
            self.tellName(caller.user, input.key, row, into: &effects)
        }
        row.kickedWhileStale.removeAll { $0 == caller.userID }
        if caller.userID == row.owner { row.ownerPresence = .present }
        if !isConfirmed { row.hasUnwritten = true }
        rows[.live(input.key)] = .live(row: row)
        if self.policies[input.key.app].devices == .one, replaces || isUnsure && caller.ticket == nil {
            self.replaceOthers(of: caller.userID, ticket, input.key, step.moment, in: &rows, into: &effects)
        }
        self.counted(input.key, count ?? row.count, at: step.moment.now, in: &rows, into: &effects)
        let outcome = CallResult.joined(ticket: ticket, epoch: row.epoch, confirmed: isConfirmed)
        self.answer(caller, .success(result: outcome), input, step.moment, in: &rows, into: &effects)
    }

    /// While nobody knows who is here: whether a user who joins was here all the time, by the ticket that it has; the
    /// owner, by what is known of it.
    private static func wasHere(_ caller: Caller, _ row: LiveRow, _ floors: Floors) -> Bool {
        if caller.userID == row.owner { return row.ownerPresence == .present }
        guard let ticket = caller.ticket else { return false }
        return ticket.offset >= row.openedAt && floors.admit(caller.userID, ticket)
            && !row.kickedWhileStale.contains(caller.userID)
    }

    /// The user has joined with another device where one is allowed: what its older ones hold is void.
    ///
    /// They hear of it; the user itself has neither come nor gone.
    private func replaceOthers(
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

    /// A session has left; a caller waits for the answer when it left by itself.
    func left(
        _ caller: Caller?, _ input: AudienceInput, _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        if case .done(let entries, _) = result {
            for case .left(let user, true, let count) in entries.map(\.change) {
                if self.gone(user, .left, from: input.key, count: count, at: step.moment, in: &rows, into: &effects) {
                    self.tellBackend(input.key, .leave, [user], at: step.moment.now, into: &effects)
                }
            }
        }
        if case .leave(_, _, let user, let session, let ticket)? = step.command {
            self.forgetJoins(of: session, user, upTo: ticket, input.key, in: &rows)
        }
        // Leaving twice is no mistake. While the leases are away nobody can say whether it was the user's last device,
        // so no leave is told (I5); seats and connections ask when the leases are back.
        guard let caller else { return }
        self.answer(caller, .success(result: .done), input, step.moment, in: &rows, into: &effects)
    }

    /// A user has another name or picture.
    func renamed(
        _ caller: Caller, _ input: AudienceInput, _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard case .done(let entries, _) = result, let row = rows.live(input.key) else {
            return effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: Self.unavailable))))
        }
        // One who is silent for too long is told by its new name when it comes back.
        if row.isStale || entries.contains(where: { $0.change == .renamed }) {
            self.tellName(caller.user, input.key, row, into: &effects)
        }
        self.answer(caller, .success(result: .done), input, step.moment, in: &rows, into: &effects)
    }

    /// Signs of life, of which one that comes after its lease ended brings the user back.
    ///
    /// Viewers were told that the user left, so they are told that it is here again; the client itself need not know
    /// that it was away.
    func beaten(
        _ key: LiveKey, _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard case .done(let entries, _) = result else { return }
        for case .back(let user, let count) in entries.map(\.change) {
            guard var row = rows.live(key) else { return }
            // In a new epoch everybody comes back so; nobody was told that they left.
            if !row.isStale {
                if user.userID != row.owner { self.tell(.audienceJoined(user: user), key, into: &effects) }
                self.tellBack(user, key, row, into: &effects)
                self.tellBackend(key, .heartbeatRecover, [user], at: step.moment.now, into: &effects)
            }
            if user.userID == row.owner {
                row.ownerPresence = .present
                rows[.live(key)] = .live(row: row)
            }
            self.counted(key, count, at: step.moment.now, in: &rows, into: &effects)
        }
    }

    /// Who was asked for is here, or is not.
    func confirmed(
        _ user: UserID, _ key: LiveKey, _ moment: Moment, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        // While stale or away nobody knows; those who asked are told to ask again when it is over.
        guard case .done(_, .isMember(let isMember)) = result, var row = rows.live(key), !row.isStale else { return }
        if !isMember { self.tellGone(user, key, row, into: &effects) }
        guard user == row.owner else { return }
        row.awaitsOwner = false
        if isMember {
            row.ownerPresence = .present
        } else if row.ownerPresence == .present {
            row.ownerPresence = .offline
        }
        rows[.live(key)] = .live(row: row)
        self.tellOccupancy(key, at: moment.now, in: &rows, into: &effects)
    }

    /// The user's last lease is gone, by leaving or by silence.
    ///
    /// - Returns: whether it was told, and the backend is to be told too.
    func gone(
        _ user: UserInfo, _ owner: OwnerPresence, from key: LiveKey, count: Int, at moment: Moment,
        in rows: inout Rows, into effects: inout [Effect]
    ) -> Bool {
        guard var row = rows.live(key) else { return false }
        // While stale, another device of the user may be here that no gateway has told yet: nobody is reported as having
        // left (I5). When it is over, seats and connections ask for their occupants, and the count is the truth.
        if !row.isStale {
            if user.userID == row.owner {
                row.ownerPresence = owner
                rows[.live(key)] = .live(row: row)
            } else {
                self.tell(.audienceLeft(user: user), key, into: &effects)
            }
            self.tellGone(user.userID, key, row, into: &effects)
        }
        self.counted(key, count, at: moment.now, in: &rows, into: &effects)
        return !row.isStale
    }

    /// Tells the machines that hold something for the user: the seats, and for the owner the connections.
    func tellGone(_ user: UserID, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .userGone(user: user))))
        if user == row.owner {
            effects.append(.connection(ConnectionInput(app: key.app, .userGone(live: key.live, user: user))))
        }
    }

    /// Tells the same machines that the user is here, with its first session.
    private func tellBack(_ user: UserInfo, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .userBack(user: user))))
        if user.userID == row.owner {
            effects.append(.connection(ConnectionInput(app: key.app, .userBack(live: key.live, user: user))))
            // The live may have been made in the owner's place, or the owner be called otherwise since; one without a name
            // keeps the one that the live has for it.
            if !user.userName.isEmpty { self.tellOwnersName(user, key, into: &effects) }
        }
    }

    /// Tells everybody who shows the user how it is called now.
    private func tellName(_ user: UserInfo, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .profile(user: user))))
        if user.userID == row.owner {
            self.tellOwnersName(user, key, into: &effects)
            effects.append(.connection(ConnectionInput(app: key.app, .profile(live: key.live, user: user))))
        }
        self.tell(.userChanged(user: user), key, into: &effects)
    }

    /// Tells the directory how the owner is called, for the list and all who look the live up.
    private func tellOwnersName(_ owner: UserInfo, _ key: LiveKey, into effects: inout [Effect]) {
        effects.append(.directory(DirectoryInput(app: key.app, .profile(live: key.live, user: owner))))
    }

    func tell(_ content: FeedContent, _ key: LiveKey, into effects: inout [Effect]) {
        effects.append(.barrage(BarrageInput(key, .tell(content: content))))
    }
}
