// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Second phase of a batch: results of the lease requests

extension AudienceMachine {
    /// Handles one input of the batch with the result of its lease request.
    ///
    /// - Parameters:
    ///   - planned: the decision of `plan`; inputs are handled in their order.
    ///   - result: the result of its request; `.nothing` when it had none.
    ///   - rows: the partition's rows.
    ///   - effects: the effects are appended here, in order.
    func handleResult(
        of planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard let input = planned.input else { return self.leasesExpired(planned, result, in: &rows, into: &effects) }
        switch planned.decision {
        case .ignored: return
        case .rejected(let error):
            if let caller = input.command.caller {
                effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            }
        case .repeated: self.answerAgain(input, in: rows, into: &effects)
        case .proceed:
            switch input.command {
            case .opened:
                // The count is published at once, so that gateways know it before the first viewer joins.
                guard let row = rows.live(input.key), row.epoch == planned.epoch else { return }
                effects.append(.count(row.record(input.key, at: planned.moment.now)))
            case .ended(_, let ending):
                // If a new live with the same name was opened in this batch, its count is not removed.
                if planned.epoch != nil, rows.live(input.key) == nil { effects.append(.countGone(input.key)) }
                effects.append(.barrage(BarrageInput(input.key, .ended(ending: ending))))
            default: self.handleResultInLive(planned, input, result, in: &rows, into: &effects)
            }
        }
    }

    /// Reports the users whose last lease has expired as having left.
    private func leasesExpired(
        _ planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        var expired: [(key: LiveKey, users: [UserInfo])] = []
        for case .expired(let key, let user, let count) in result.changes
        where self.userLeft(user, .offline, from: key, count: count, at: planned.moment, in: &rows, into: &effects) {
            // Expired leases are listed live by live.
            if expired.last?.key != key { expired.append((key, [])) }
            expired[expired.count - 1].users.append(user)
        }
        for (key, users) in expired {
            self.notifyBackend(key, .heartbeatInterrupt, users, at: planned.moment.now, into: &effects)
        }
    }

    private func handleResultInLive(
        _ planned: PlannedInput, _ input: AudienceInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard let row = rows.live(input.key), row.epoch == planned.epoch else {
            // The live ended later in the same batch.
            if let caller = input.command.caller {
                let error = self.liveEndedError(for: input.command)
                self.answer(caller, .failure(error: error), input, planned.moment, in: &rows, into: &effects)
            }
            return
        }
        if let caller = input.command.caller, input.command.needsTicket,
            let error = self.rejection(of: caller, in: row, rows.fence(input.key))
        {
            // The caller was kicked earlier in the same batch; its lease is already removed.
            effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            return
        }
        switch input.command {
        case .opened, .ended, .rights, .unbanned: return
        case .join(let caller): self.joined(caller, input, planned, result, in: &rows, into: &effects)
        case .leave(let caller): self.left(caller, input, planned, result, in: &rows, into: &effects)
        case .signOff: self.left(nil, input, planned, result, in: &rows, into: &effects)
        case .heartbeats: self.heartbeatsReceived(input.key, planned, result, in: &rows, into: &effects)
        case .assert:
            for case .asserted(let count) in result.changes {
                self.countReceived(input.key, count, at: planned.moment.now, in: &rows, into: &effects)
            }
        case .kick(let user, let reason, let caller):
            self.kicked(user, reason, by: caller, input, planned, result, in: &rows, into: &effects)
        case .banned(let user, _, let caller):
            self.banned(user, by: caller, input.key, planned.moment, result, in: &rows, into: &effects)
        case .announceMute(let user, let isDisable, let until):
            var shown = UserInfo(userID: user)
            if case .profile(let known?) = result { shown = known }
            self.publish(
                .messageDisabled(user: shown, isDisable: isDisable, until: until), to: input.key, into: &effects)
        case .profile(let caller):
            self.profileChanged(caller, input, planned, result, in: &rows, into: &effects)
        case .list(_, _, let caller):
            self.pageRead(caller, input.key, row, result, into: &effects)
        case .verifyAdminMembership(let user, let caller):
            self.adminMembershipChecked(user, caller, input.key, result, in: rows, into: &effects)
        case .verifyGuestMembership(_, let offer, let caller):
            self.guestMembershipChecked(offer, caller, input.key, result, in: rows, into: &effects)
        case .confirm(let user):
            self.presenceConfirmed(user, input.key, planned.moment, result, in: &rows, into: &effects)
        }
    }

    private func pageRead(
        _ caller: Caller, _ key: LiveKey, _ row: LiveRow, _ result: LeaseResult, into effects: inout [Effect]
    ) {
        guard case .page(let members, let next, let count) = result else {
            return effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.unavailable))))
        }
        let shown = members.map { member in
            AudienceMember(user: member.user, role: row.role(of: member.user.userID), joinedAt: member.joinedAt)
        }
        let page = AudiencePage(members: shown, cursor: next.map(String.init) ?? "", count: count)
        effects.append(.success(.audience(page: page), to: caller, app: key.app))
    }

    private func adminMembershipChecked(
        _ user: UserID, _ caller: Caller, _ key: LiveKey, _ result: LeaseResult, in rows: Rows,
        into effects: inout [Effect]
    ) {
        if case .membership(let isMember) = result {
            if isMember {
                effects.append(
                    .directory(
                        DirectoryInput(
                            app: key.app, .adminMembershipVerified(live: key.live, user: user, caller: caller))))
                return
            }
            if rows.live(key)?.isStale == false {
                effects.append(.failure(.notMember, "the user is not in the live", to: caller, app: key.app))
                return
            }
        }
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.unavailable))))
    }

    /// Returns a host's offer to the seats with the guest's current profile, if the guest is in the live.
    private func guestMembershipChecked(
        _ offer: SeatOffer, _ caller: Caller, _ key: LiveKey, _ result: LeaseResult, in rows: Rows,
        into effects: inout [Effect]
    ) {
        if case .profile(let guest) = result {
            if let guest {
                effects.append(
                    .seat(SeatInput(key, .guestMembershipVerified(user: guest, offer: offer, caller: caller))))
                return
            }
            if rows.live(key)?.isStale == false {
                effects.append(.failure(.notMember, "the user is not in the live", to: caller, app: key.app))
                return
            }
        }
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.unavailable))))
    }

    private func liveEndedError(for command: AudienceCommand) -> ReplyError {
        if case .join = command { return ReplyError(.noSuchRoomOnEntry, "the live has ended") }
        return ReplyError(.noSuchRoom, "the live has ended")
    }

    /// The error for calls that only the leases could answer, while Redis cannot be reached.
    static var unavailable: ReplyError {
        ReplyError(.unavailable, "the audience of the live is not known at the moment", retryAfter: Self.retryAfter)
    }
}
