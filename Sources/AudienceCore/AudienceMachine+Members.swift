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
        var count: Int?
        if case .done(let entries, _) = result {
            for entry in entries {
                switch entry.change {
                case .full:
                    let error = ReplyError(.roomFull, "the live is full")
                    return self.answer(
                        caller, .failure(error: error), input, step.moment, in: &rows, into: &effects)
                case .joined(let first, let users):
                    (isFirst, isConfirmed, count) = (first, true, users)
                default: break
                }
            }
        }
        if isFirst, caller.userID != row.owner {
            row.totalViewers += 1
            self.tell(.audienceJoined(user: caller.user), input.key, into: &effects)
        }
        row.kickedWhileStale.removeAll { $0 == caller.userID }
        rows[.live(input.key)] = .live(row: row)
        self.counted(input.key, count ?? row.count, at: step.moment.now, in: &rows, into: &effects)
        let outcome = CallResult.joined(ticket: ticket, epoch: row.epoch, confirmed: isConfirmed)
        self.answer(caller, .success(result: outcome), input, step.moment, in: &rows, into: &effects)
    }

    /// A session has left; a caller waits for the answer when it left by itself.
    func left(
        _ caller: Caller?, _ input: AudienceInput, _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        if case .done(let entries, _) = result {
            for case .left(let user, true, let count) in entries.map(\.change) {
                self.gone(user, from: input.key, count: count, at: step.moment, in: &rows, into: &effects)
            }
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
        guard case .done = result else {
            return effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: Self.unavailable))))
        }
        self.answer(caller, .success(result: .done), input, step.moment, in: &rows, into: &effects)
    }

    /// Signs of life. One that comes after its lease ended brings the user back: viewers were told that the user left,
    /// so they are told that it is here again; the client itself need not know that it was away.
    func beaten(
        _ key: LiveKey, _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard case .done(let entries, _) = result else { return }
        for case .back(let user, let count) in entries.map(\.change) {
            guard let row = rows.live(key) else { return }
            // In a new epoch everybody comes back so; nobody was told that they left.
            if !row.isStale, user.userID != row.owner { self.tell(.audienceJoined(user: user), key, into: &effects) }
            self.counted(key, count, at: step.moment.now, in: &rows, into: &effects)
        }
    }

    func kicked(
        _ user: UserID, _ reason: KickReason, by caller: Caller, _ input: AudienceInput, _ step: AudienceStep,
        _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        let isOut = self.putOut(
            user, reason, by: caller.userID, input.key, step.moment, result, in: &rows, into: &effects)
        let error = ReplyError(.notMember, "the user is not in the live")
        let outcome: Outcome = isOut ? .success(result: .done) : .failure(error: error)
        self.answer(caller, outcome, input, step.moment, in: &rows, into: &effects)
    }

    /// The directory has banned a user, here or not: what it holds is void, and it is out.
    func banned(
        _ user: UserID, by caller: Caller?, _ key: LiveKey, _ moment: Moment, _ result: LeaseResult,
        in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard let row = rows.live(key) else { return }
        let reason: KickReason = caller?.role == .user ? .byAdmin : .byServer
        let isOut = self.putOut(
            user, reason, by: caller?.userID ?? row.owner, key, moment, result, in: &rows, into: &effects)
        // One who went silent may come back with its ticket; not when it is banned.
        if !isOut { self.raiseFloor(of: user, to: Ticket(moment.offset), key, in: &rows, into: &effects) }
    }

    /// Puts a user out of a live with all its sessions.
    ///
    /// - Returns: false when the user is not in it; then nothing follows.
    private func putOut(
        _ user: UserID, _ reason: KickReason, by: UserID, _ key: LiveKey, _ moment: Moment, _ result: LeaseResult,
        in rows: inout Rows, into effects: inout [Effect]
    ) -> Bool {
        guard var row = rows.live(key) else { return false }
        var found: (user: UserInfo, count: Int)?
        if case .done(let entries, _) = result {
            for case .kicked(let info, let count) in entries.map(\.change) { found = (info, count) }
        }
        // While stale, the leases do not know everybody who is here: then a kick holds for whoever it names.
        let isUnsure = row.isStale || result == .away
        guard found != nil || isUnsure && !row.kickedWhileStale.contains(user) else { return false }
        if isUnsure {
            row.kickedWhileStale.append(user)
            if row.kickedWhileStale.count > Self.kickedWhileStaleLimit { row.kickedWhileStale.removeFirst() }
            rows[.live(key)] = .live(row: row)
        }
        let floor = Ticket(moment.offset)
        self.raiseFloor(of: user, to: floor, key, in: &rows, into: &effects)
        if user != row.owner {
            self.tell(.audienceLeft(user: found?.user ?? UserInfo(userID: user)), key, into: &effects)
        }
        self.tellGone(user, key, row, into: &effects)
        self.counted(key, found?.count ?? row.count, at: moment.now, in: &rows, into: &effects)
        effects.append(
            .notice(
                Notice(
                    to: UserKey(key.app, user), live: key.live, at: moment.now, floor: floor,
                    content: .kickedOut(reason: reason, by: by))))
        return true
    }

    /// From here on nothing that the user sent before reaches the room, through any machine (I6).
    private func raiseFloor(
        of user: UserID, to ticket: Ticket, _ key: LiveKey, in rows: inout Rows, into effects: inout [Effect]
    ) {
        var floors = rows.floors(key)
        floors.raise(user, to: ticket)
        rows[.floors(key)] = .floors(row: floors)
        effects.append(.directory(DirectoryInput(app: key.app, .floor(live: key.live, user: user, ticket: ticket))))
        effects.append(.barrage(BarrageInput(key, .floor(user: user, ticket: ticket))))
        effects.append(.seat(SeatInput(key, .floor(user: user, ticket: ticket))))
        effects.append(
            .connection(ConnectionInput(app: key.app, .floor(live: key.live, user: user, ticket: ticket))))
    }

    /// The user's last lease is gone, by leaving or by silence.
    func gone(
        _ user: UserInfo, from key: LiveKey, count: Int, at moment: Moment, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard let row = rows.live(key) else { return }
        // While stale, another device of the user may be here that no gateway has told yet: nobody is reported as having
        // left (I5). When it is over, seats and connections ask for their occupants, and the count is the truth.
        if !row.isStale {
            if user.userID != row.owner { self.tell(.audienceLeft(user: user), key, into: &effects) }
            self.tellGone(user.userID, key, row, into: &effects)
        }
        self.counted(key, count, at: moment.now, in: &rows, into: &effects)
    }

    /// Tells the machines that hold something for the user: the seats, and for the owner the connections.
    func tellGone(_ user: UserID, _ key: LiveKey, _ row: LiveRow, into effects: inout [Effect]) {
        effects.append(.seat(SeatInput(key, .userGone(user: user))))
        if user == row.owner {
            effects.append(.connection(ConnectionInput(app: key.app, .userGone(live: key.live, user: user))))
        }
    }

    private func tell(_ content: FeedContent, _ key: LiveKey, into effects: inout [Effect]) {
        effects.append(.barrage(BarrageInput(key, .tell(content: content))))
    }
}
