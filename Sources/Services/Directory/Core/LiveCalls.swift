// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// A call about one live.
struct LiveCall {
    var key: LiveKey
    var command: DirectoryCommand
    var caller: Caller

    /// Whether presence (the machine that knows who is in a live) has sent the call back after a membership check.
    var isReturnedByPresence: Bool {
        if case .adminMembershipVerified = self.command { true } else { false }
    }

    /// Whether the call ends the live.
    var isEnd: Bool {
        if case .end = self.command { true } else { false }
    }
}

/// How an allowed call was decided, and the effects of the decision; the live's row is already changed.
enum CallDecision {
    /// The directory executed the call and replies with the result.
    case executed(CallResult, effects: [Effect])
    /// The directory passes the call on to another machine, which executes it and replies.
    case passedOn(effects: [Effect])
}

extension DirectoryMachine {
    /// Decides a call: sends its recorded reply again, executes it, passes it on to another machine, or rejects it.
    ///
    /// A rejected call changes nothing in the live.
    func decide(_ call: LiveCall, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]) {
        let key = call.key
        let caller = call.caller
        // The outcome is not recorded, so that calls about unknown lives store no rows.
        guard case .live(var row)? = rows[.live(key)] else {
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        // The key of the row with the session's idempotency window.
        let callsKey = DirectoryKey.liveCalls(key, caller.request.session)
        switch rows.lookup(callsKey, caller) {
        case .repeated(.answered(let outcome, let required)):
            effects.append(
                .reply(Reply(to: caller, app: key.app, rows.outcomeWithMetadata(outcome, of: key), required: required)))
            return
        case .repeated(.passedOn) where call.isEnd:
            // The call is not executed again, because it must not end a newer live with the same id.
            self.repeatEnd(call, row, into: &effects)
            return
        case .repeated(.passedOn):
            // The other machine replies, so the call is passed on again. The permission is checked again first, because
            // the caller may have lost it in the meantime.
            break
        case .fresh where !call.isReturnedByPresence:
            break
        // A forgotten call is rejected, because nobody can tell whether it was applied: the window has dropped its
        // outcome. The same holds for a call that presence returns and that looks new: it was recorded as passed on
        // before presence got it, so the window has dropped that record.
        case .forgotten, .fresh:
            effects.append(.requestForgotten(caller, key.app))
            return
        }
        let oldRow = row
        do throws(ReplyError) {
            try LivePermissions.check(call, row)
            let decision = try self.execute(call, &row, in: &rows, at: moment)
            if row != oldRow {
                row.revision = moment.offset
                rows[.live(key)] = .live(row: row)
                effects.append(.live(row.record(app: key.app)))
                self.sendChangeEvent(call, from: oldRow.info, to: row.info, at: moment.now, into: &effects)
            }
            // The gateway sends the reply only after it has read this revision, so that the client reads its own
            // change.
            let required = RequiredRevision(.rooms, key.live, revision: row.revision)
            let outcome = self.appendEffects(of: decision, call, required, into: &effects)
            rows.record(callsKey, caller, outcome, at: moment)
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), required: nil), at: moment)
            effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: error))))
        }
    }

    /// Appends the effects of a decision, and the reply if the directory executed the call.
    ///
    /// - Returns: the outcome to record.
    private func appendEffects(
        of decision: CallDecision, _ call: LiveCall, _ required: RequiredRevision, into effects: inout [Effect]
    ) -> CallOutcome {
        switch decision {
        case .executed(let result, let newEffects):
            effects += newEffects
            effects.append(.success(result, to: call.caller, app: call.key.app, required: required))
            return .answered(outcome: .success(result: result), required: required)
        case .passedOn(let newEffects):
            effects += newEffects
            return .passedOn
        }
    }

    /// Executes an allowed call and changes the live's row, or passes the call on to another machine.
    private func execute(
        _ call: LiveCall, _ row: inout LiveRow, in rows: inout DirectoryRows, at moment: Moment
    ) throws(ReplyError) -> CallDecision {
        let revision = moment.offset
        return switch call.command {
        case .updateInfo(_, let changes, _): try self.updateInfo(changes, call.key, &row, revision: revision)
        case .setMetadata(_, let values, _): try self.setMetadata(values, call.key, &row, revision: revision)
        case .deleteMetadata(_, let keys, _): try self.deleteMetadata(keys, call.key, &row, revision: revision)
        case .setAdmin(_, let user, let caller): try self.setAdmin(user, caller, call.key, row)
        case .adminMembershipVerified(_, let user, _):
            try self.addVerifiedAdmin(user, call.key, &row, revision: revision)
        case .revokeAdmin(_, let user, _): self.revokeAdmin(user, call.key, &row, revision: revision)
        case .kick(_, let user, let caller): self.kick(user, caller, call.key)
        case .ban(_, let users, let duration, let reason, let caller):
            try self.ban(users, duration, reason, caller, call.key, in: &rows, at: moment.now)
        case .unban(_, let users, _): try self.unban(users, call.key, in: &rows)
        case .mute(_, let users, let duration, let caller):
            try self.mute(users, duration, caller, call.key, in: &rows, at: moment.now)
        case .end(_, let caller):
            // The fan-out replies, after all machines have handled the end.
            .passedOn(effects: self.endLive(call.key, &row, for: caller, in: &rows, at: moment.now))
        case .create, .open, .enter, .repeatOpen, .release, .closed, .occupancy, .profile, .bans, .mutes, .floor,
            .appSettings:
            // `handle` passes none of these commands to `decide`.
            throw ReplyError(.internalError, "not a call about a live")
        }
    }
}
