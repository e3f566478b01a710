// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// A call about one live.
struct RoomCall {
    var key: LiveKey
    var command: DirectoryCommand
    var caller: Caller

    /// Whether it comes back from presence, which vouched for what the first step asked.
    var isSecondStep: Bool {
        if case .setAdminVouched = self.command { true } else { false }
    }

    /// Whether it ends the live.
    var isEnd: Bool {
        if case .end = self.command { true } else { false }
    }
}

/// What a call comes to, beside the change of the room's row.
enum RoomAnswer {
    /// Decided here.
    case done(CallResult, told: [Effect])
    /// Authorised here; another machine carries it out and answers.
    case passedOn(told: [Effect])
}

extension DirectoryMachine {
    /// Decides a call: answered before, or allowed and done, or refused; a refused call changes nothing.
    func decide(_ call: RoomCall, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]) {
        let key = call.key
        let caller = call.caller
        // Without a row there is no window either: names that never were a live leave nothing behind.
        guard case .room(var room)? = rows[.room(key)] else {
            effects.append(.failure(.noSuchRoom, "there is no such live", to: caller, app: key.app))
            return
        }
        let callsKey = DirectoryKey.roomCalls(key, caller.request.session)
        switch rows.verdict(callsKey, caller) {
        case .repeated(.answered(let outcome, let seen)):
            effects.append(.reply(Reply(to: caller, app: key.app, outcome, seen: seen)))
            return
        case .repeated(.passedOn) where call.isEnd:
            // Never carried out anew: a live of the same name that began since goes on.
            self.repeatEnd(call, room, into: &effects)
            return
        case .repeated(.passedOn):
            // Checked anew and passed on anew: a request id gives no right that the caller has no more.
            break
        case .fresh where !call.isSecondStep:
            break
        case .forgotten, .fresh:
            effects.append(.forgotten(caller, key.app))
            return
        }
        let before = room
        do throws(ReplyError) {
            try RoomRights.check(call, room)
            let answer = try self.answer(call, &room, in: &rows, at: moment)
            if room != before {
                room.revision = moment.offset
                rows[.room(key)] = .room(row: room)
                effects.append(.room(room.record(app: key.app)))
                self.tellBackend(call, before.info, room.info, at: moment.now, into: &effects)
            }
            let seen = Seen(.rooms, key.live, revision: room.revision)
            let entry = self.carryOut(answer, call, room, seen, into: &effects)
            rows.record(callsKey, caller, entry, at: moment.now)
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), seen: nil), at: moment.now)
            effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: error))))
        }
    }

    private func carryOut(
        _ answer: RoomAnswer, _ call: RoomCall, _ room: RoomRow, _ seen: Seen, into effects: inout [Effect]
    ) -> OutcomeWindow.Entry {
        switch answer {
        case .done(let result, let told):
            effects += told
            effects.append(.success(result, to: call.caller, app: call.key.app, seen: seen))
            return .answered(outcome: .success(result: result), seen: seen)
        case .passedOn(let told):
            effects += told
            return .passedOn
        }
    }

    private func answer(
        _ call: RoomCall, _ room: inout RoomRow, in rows: inout DirectoryRows, at moment: Moment
    ) throws(ReplyError) -> RoomAnswer {
        switch call.command {
        case .updateInfo(_, let changes, _): try self.updateInfo(changes, call.key, &room)
        case .setMetadata(_, let values, _): try self.setMetadata(values, call.key, &room)
        case .deleteMetadata(_, let keys, _): try self.deleteMetadata(keys, call.key, &room)
        case .setAdmin(_, let user, let caller): try self.setAdmin(user, caller, call.key, room)
        case .setAdminVouched(_, let user, _): try self.setAdminVouched(user, call.key, &room)
        case .revokeAdmin(_, let user, _): self.revokeAdmin(user, call.key, &room)
        case .kick(_, let user, let caller): self.kick(user, caller, call.key)
        case .ban(_, let users, let duration, let reason, let caller):
            try self.ban(users, duration, reason, caller, call.key, in: &rows, at: moment.now)
        case .unban(_, let users, _): try self.unban(users, call.key, in: &rows)
        case .mute(_, let users, let duration, let caller):
            try self.mute(users, duration, caller, call.key, in: &rows, at: moment.now)
        case .end(_, let caller):
            .passedOn(told: self.end(call.key, &room, for: caller, in: &rows, at: moment.now))
        case .create, .open, .enter, .repeatOpen, .release, .closed, .occupancy, .profile, .bans, .mutes, .floor,
            .appSettings:
            throw ReplyError(.internalError, "not a call about a live")
        }
    }
}
