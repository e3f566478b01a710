// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Idempotency

extension AudienceMachine {
    /// Replies to a call, and records the outcome for retries.
    func answer(
        _ caller: Caller, _ outcome: Outcome, _ input: AudienceInput, _ moment: Moment, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        if input.command.isRecorded {
            let key = AudienceKey.calls(input.key, caller.userID, caller.request.session)
            var window = rows.window(key) ?? CallWindow(at: moment)
            window.record(.answered(outcome: outcome, seen: nil), of: caller.counter, at: moment)
            rows[key] = .calls(row: window)
        }
        effects.append(.reply(Reply(to: caller, app: input.key.app, outcome)))
    }

    func answerAgain(_ input: AudienceInput, in rows: Rows, into effects: inout [Effect]) {
        guard let caller = input.command.caller else { return }
        let window = rows.window(.calls(input.key, caller.userID, caller.request.session))
        switch window?.lookup(caller.counter) {
        case .repeated(.answered(let outcome, let seen)):
            let lost = self.membershipLoss(since: outcome, of: caller, input.key, in: rows)
            let answer = lost.map { Outcome.failure(error: $0) } ?? outcome
            effects.append(.reply(Reply(to: caller, app: input.key.app, answer, seen: seen)))
        case .repeated(.passedOn), .fresh, .forgotten, nil:
            // The first copy was rejected in this batch without recording an outcome.
            effects.append(.requestForgotten(caller, input.key.app))
        }
    }

    /// The error for a repeated join that is no longer valid; nil when the join still holds.
    ///
    /// Without this check, the gateway would let the client in with the recorded outcome. `revokeJoins` has already
    /// replaced the outcomes of a session that left.
    private func membershipLoss(
        since outcome: Outcome, of caller: Caller, _ key: LiveKey, in rows: Rows
    ) -> ReplyError? {
        guard case .success(.joined(let ticket, let epoch, _, _)) = outcome else { return nil }
        guard rows.live(key)?.epoch == epoch else { return ReplyError(.noSuchRoomOnEntry, "the live has ended") }
        return rows.fence(key).admit(caller.userID, ticket) ? nil : Self.ticketRevoked
    }

    /// Makes retries of a session's joins up to `ticket` fail, because the session has left.
    func revokeJoins(of session: SessionID, _ user: UserID, upTo ticket: Ticket, _ key: LiveKey, in rows: inout Rows) {
        let calls = AudienceKey.calls(key, user, session)
        guard var window = rows.window(calls) else { return }
        window.replaceOutcomes { known in
            guard case .answered(.success(.joined(let given, _, _, _)), let seen) = known, given <= ticket else {
                return nil
            }
            return .answered(outcome: .failure(error: Self.sessionLeft), seen: seen)
        }
        rows[calls] = .calls(row: window)
    }
}
