// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Idempotency

extension AudienceMachine {
    /// Replies to a call, and records the outcome for retries if this kind of call changes something.
    func replyAndRecord(
        _ caller: Caller, _ outcome: Outcome, _ input: AudienceInput, _ moment: Moment, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        if input.command.isRecorded {
            let key = AudienceKey.calls(input.key, caller.userID, caller.request.session)
            var window = rows.window(key) ?? CallWindow(at: moment)
            window.record(.answered(outcome: outcome, required: nil), of: caller.counter, at: moment)
            rows[key] = .calls(row: window)
        }
        effects.append(.reply(Reply(to: caller, app: input.key.app, outcome)))
    }

    /// Sends the recorded reply to a repeated call, unless the repeated call is a join that is not valid any more.
    func repeatReply(_ input: AudienceInput, in rows: Rows, into effects: inout [Effect]) {
        guard let caller = input.command.caller else { return }
        let window = rows.window(.calls(input.key, caller.userID, caller.request.session))
        switch window?.lookup(caller.counter) {
        case .repeated(.answered(let outcome, let required)):
            let rejection = self.rejection(ofRepeatedJoin: outcome, caller, input.key, in: rows)
            let reply = rejection.map { Outcome.failure(error: $0) } ?? outcome
            effects.append(.reply(Reply(to: caller, app: input.key.app, reply, required: required)))
        case .repeated(.passedOn), .fresh, .forgotten, nil:
            // The first copy is in the same batch, and was rejected without recording an outcome.
            effects.append(.requestForgotten(caller, input.key.app))
        }
    }

    /// The error for a repeated join whose live has ended or whose user was kicked; nil for valid joins and other
    /// calls.
    ///
    /// Without this check, the gateway would admit the client with the recorded outcome. `revokeRecordedJoins` has
    /// already replaced the outcomes of a session that left.
    private func rejection(
        ofRepeatedJoin outcome: Outcome, _ caller: Caller, _ key: LiveKey, in rows: Rows
    ) -> ReplyError? {
        guard case .success(.joined(let ticket, let epoch, _, _)) = outcome else { return nil }
        guard rows.live(key)?.epoch == epoch else { return ReplyError(.noSuchRoomOnEntry, "the live has ended") }
        let fence = rows.fence(key)
        return fence.isValid(ticket, of: caller.userID)
            ? nil : Self.ticketRevokedError(ticket, of: caller.userID, fence)
    }

    /// Replaces the recorded outcomes of a session's joins by an error, because the session has left.
    ///
    /// A ticket is the inbox offset of a join. Later joins, whose tickets are above `ticket`, keep their outcomes.
    func revokeRecordedJoins(
        of session: SessionID, _ user: UserID, upTo ticket: Ticket, _ key: LiveKey, in rows: inout Rows
    ) {
        let windowKey = AudienceKey.calls(key, user, session)
        guard var window = rows.window(windowKey) else { return }
        window.replaceOutcomes { recorded in
            guard case .answered(.success(.joined(let joinTicket, _, _, _)), let required) = recorded,
                joinTicket <= ticket
            else {
                return nil
            }
            return .answered(outcome: .failure(error: Self.sessionLeftError), required: required)
        }
        rows[windowKey] = .calls(row: window)
    }
}
