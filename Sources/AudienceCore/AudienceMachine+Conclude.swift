// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
package import PlazaModel

// MARK: - Second phase

extension AudienceMachine {
    /// Carries out what follows from a step, once it is known what its command did.
    ///
    /// - Parameters:
    ///   - step: a step of `plan`; steps are concluded in their order.
    ///   - result: what became of the step's command; `.nothing` when it had none.
    ///   - rows: the partition's rows.
    ///   - effects: what follows is appended here, in order.
    package func conclude(
        _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        self.handleDue(in: &rows, at: step.moment, into: &effects)
        guard let input = step.input else { return self.concludeTick(step, result, in: &rows, into: &effects) }
        switch step.verdict {
        case .ignored: return
        case .refused(let error):
            if let caller = input.command.caller {
                effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            }
        case .repeated: self.answerAgain(input, in: rows, into: &effects)
        case .act:
            switch input.command {
            case .opened:
                // Told at once, so that gateways know the live's count before its first viewer.
                guard let row = rows.live(input.key), row.epoch == step.epoch else { return }
                effects.append(.count(row.record(input.key, at: step.moment.now)))
            case .ended(_, let ending):
                // One of the same name may have begun in this batch; its count stands.
                if step.epoch != nil, rows.live(input.key) == nil { effects.append(.countGone(input.key)) }
                effects.append(.barrage(BarrageInput(input.key, .ended(ending: ending))))
            default: self.concludeInLive(step, input, result, in: &rows, into: &effects)
            }
        }
    }

    private func concludeTick(
        _ step: AudienceStep, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard case .done(let entries, _) = result else { return }
        var silent: [(key: LiveKey, users: [UserInfo])] = []
        for case .expired(let key, let user, let count) in entries.map(\.change)
        where self.gone(user, .offline, from: key, count: count, at: step.moment, in: &rows, into: &effects) {
            // Leases end live by live.
            if silent.last?.key != key { silent.append((key, [])) }
            silent[silent.count - 1].users.append(user)
        }
        for (key, users) in silent {
            self.tellBackend(key, .heartbeatInterrupt, users, at: step.moment.now, into: &effects)
        }
    }

    private func concludeInLive(
        _ step: AudienceStep, _ input: AudienceInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard let row = rows.live(input.key), row.epoch == step.epoch else {
            // The live ended later in the same batch.
            if let caller = input.command.caller, case .refused(let error) = self.endedMeanwhile(input) {
                self.answer(caller, .failure(error: error), input, step.moment, in: &rows, into: &effects)
            }
            return
        }
        if let caller = input.command.caller, input.command.needsTicket,
            let error = self.refusal(of: caller, in: row, rows.floors(input.key))
        {
            // A kick earlier in the same batch; the leases know of it too.
            effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            return
        }
        switch input.command {
        case .opened, .ended, .rights, .unbanned: return
        case .join(let caller): self.joined(caller, input, step, result, in: &rows, into: &effects)
        case .leave(let caller): self.left(caller, input, step, result, in: &rows, into: &effects)
        case .signOff: self.left(nil, input, step, result, in: &rows, into: &effects)
        case .heartbeats: self.beaten(input.key, step, result, in: &rows, into: &effects)
        case .assert:
            guard case .done(let entries, _) = result else { return }
            for case .asserted(let count) in entries.map(\.change) {
                self.counted(input.key, count, at: step.moment.now, in: &rows, into: &effects)
            }
        case .kick(let user, let reason, let caller):
            self.kicked(user, reason, by: caller, input, step, result, in: &rows, into: &effects)
        case .banned(let user, _, let caller):
            self.banned(user, by: caller, input.key, step.moment, result, in: &rows, into: &effects)
        case .announceMute(let user, let isDisable, let until):
            var shown = UserInfo(userID: user)
            if case .done(_, .profile(let known?)) = result { shown = known }
            self.tell(
                .messageDisabled(user: shown, isDisable: isDisable, until: until), input.key, into: &effects)
        case .profile(let caller):
            self.renamed(caller, input, step, result, in: &rows, into: &effects)
        case .list(_, _, let caller):
            self.listed(caller, input.key, row, result, into: &effects)
        case .vouchAdmin(let user, let caller):
            self.vouched(user, caller, input.key, result, in: rows, into: &effects)
        case .vouchGuest(_, let offer, let caller):
            self.vouchedGuest(offer, caller, input.key, result, in: rows, into: &effects)
        case .confirm(let user):
            self.confirmed(user, input.key, step.moment, result, in: &rows, into: &effects)
        }
    }

    private func listed(
        _ caller: Caller, _ key: LiveKey, _ row: LiveRow, _ result: LeaseResult, into effects: inout [Effect]
    ) {
        guard case .done(_, .page(let members, let next, let count)) = result else {
            return effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.unavailable))))
        }
        let shown = members.map { member in
            AudienceMember(user: member.user, role: row.role(of: member.user.userID), joinedAt: member.joinedAt)
        }
        let page = AudiencePage(members: shown, cursor: next.map(String.init) ?? "", count: count)
        effects.append(.success(.audience(page: page), to: caller, app: key.app))
    }

    private func vouched(
        _ user: UserID, _ caller: Caller, _ key: LiveKey, _ result: LeaseResult, in rows: Rows,
        into effects: inout [Effect]
    ) {
        if case .done(_, .isMember(let isMember)) = result {
            if isMember {
                effects.append(
                    .directory(
                        DirectoryInput(
                            app: key.app, .setAdminVouched(live: key.live, user: user, caller: caller))))
                return
            }
            if rows.live(key)?.isStale == false {
                effects.append(.failure(.notMember, "the user is not in the live", to: caller, app: key.app))
                return
            }
        }
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.unavailable))))
    }

    /// A host's offer goes back to the seats with the guest as it is shown, if the guest is in the live.
    private func vouchedGuest(
        _ offer: SeatOffer, _ caller: Caller, _ key: LiveKey, _ result: LeaseResult, in rows: Rows,
        into effects: inout [Effect]
    ) {
        if case .done(_, .profile(let guest)) = result {
            if let guest {
                effects.append(.seat(SeatInput(key, .vouched(user: guest, offer: offer, caller: caller))))
                return
            }
            if rows.live(key)?.isStale == false {
                effects.append(.failure(.notMember, "the user is not in the live", to: caller, app: key.app))
                return
            }
        }
        effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: Self.unavailable))))
    }

    private func endedMeanwhile(_ input: AudienceInput) -> AudienceStep.Verdict {
        if case .join = input.command {
            return .refused(ReplyError(.noSuchRoomOnEntry, "the live has ended"))
        }
        return .refused(ReplyError(.noSuchRoom, "the live has ended"))
    }

    /// Refuses what cannot be known while the leases are away.
    static var unavailable: ReplyError {
        ReplyError(.unavailable, "who is in the live cannot be told just now", retryAfter: Self.retryAfter)
    }
}

// MARK: - Answers

extension AudienceMachine {
    /// Answers a call, and keeps the outcome for its retries.
    func answer(
        _ caller: Caller, _ outcome: Outcome, _ input: AudienceInput, _ moment: Moment, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        if input.command.isKept {
            let key = AudienceKey.calls(input.key, caller.userID, caller.request.session)
            var window = rows.window(key) ?? OutcomeWindow(at: moment.now)
            window.record(caller.counter, .answered(outcome: outcome, seen: nil), at: moment.now)
            rows[key] = .calls(row: window)
        }
        effects.append(.reply(Reply(to: caller, app: input.key.app, outcome)))
    }

    private func answerAgain(_ input: AudienceInput, in rows: Rows, into effects: inout [Effect]) {
        guard let caller = input.command.caller else { return }
        let window = rows.window(.calls(input.key, caller.userID, caller.request.session))
        switch window?.verdict(on: caller.counter) {
        case .repeated(.answered(let outcome, let seen)):
            let lost = self.lostMeanwhile(outcome, of: caller, input.key, in: rows)
            let answer = lost.map { Outcome.failure(error: $0) } ?? outcome
            effects.append(.reply(Reply(to: caller, app: input.key.app, answer, seen: seen)))
        case .repeated(.passedOn), .fresh, .forgotten, nil:
            // Its first copy was refused in this batch without being kept; the sender is told that much.
            effects.append(
                .failure(.requestForgotten, "the request's outcome is not kept", to: caller, app: input.key.app))
        }
    }

    /// Why the place that a join gave is lost by the time it is asked for again.
    ///
    /// The gateway would let the client in with what it gave then. A session that left has no such outcome any more.
    private func lostMeanwhile(_ outcome: Outcome, of caller: Caller, _ key: LiveKey, in rows: Rows) -> ReplyError? {
        guard case .success(.joined(let ticket, let epoch, _)) = outcome else { return nil }
        guard rows.live(key)?.epoch == epoch else { return ReplyError(.noSuchRoomOnEntry, "the live has ended") }
        return rows.floors(key).admit(caller.userID, ticket) ? nil : Self.putOutMeanwhile
    }

    /// A session has left: its joins up to `ticket` are no place in the live any more, should they be asked for again.
    func forgetJoins(of session: SessionID, _ user: UserID, upTo ticket: Ticket, _ key: LiveKey, in rows: inout Rows) {
        let calls = AudienceKey.calls(key, user, session)
        guard var window = rows.window(calls) else { return }
        window.replace { entry in
            guard case .answered(.success(.joined(let given, _, _)), let seen) = entry, given <= ticket else {
                return nil
            }
            return .answered(outcome: .failure(error: Self.leftMeanwhile), seen: seen)
        }
        rows[calls] = .calls(row: window)
    }
}
