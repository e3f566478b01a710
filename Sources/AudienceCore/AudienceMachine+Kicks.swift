// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import PlazaModel

// MARK: - Who is put out

extension AudienceMachine {
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
        if user == row.owner {
            row.ownerPresence = .left
            rows[.live(key)] = .live(row: row)
        } else {
            self.tell(.audienceLeft(user: found?.user ?? UserInfo(userID: user)), key, into: &effects)
        }
        self.tellGone(user, key, row, into: &effects)
        self.tellBackend(
            key, .leave, [found?.user ?? UserInfo(userID: user)], at: moment.now, into: &effects)
        self.counted(key, found?.count ?? row.count, at: moment.now, in: &rows, into: &effects)
        effects.append(
            .notice(
                Notice(
                    to: UserKey(key.app, user), live: key.live, at: moment.now, floor: floor,
                    content: .kickedOut(reason: reason, by: by))))
        return true
    }

    /// From here on nothing that the user sent before reaches the room, through any machine (I6).
    func raiseFloor(
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
}
