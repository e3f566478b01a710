// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Bans and mutes: decided, kept and listed here; presence keeps the banned out, the fan-out the muted silent.
extension DirectoryMachine {
    /// Bans users, here or not, from now on; what they had before gives way.
    ///
    /// - Throws: `badParameter` for users, duration or reason out of range; `overLimit` when the live has no room for
    ///   so many.
    func ban(
        _ users: [UserID], _ durationSeconds: Int64, _ reason: String, _ caller: Caller, _ key: LiveKey,
        in rows: inout DirectoryRows, at now: Timestamp
    ) throws(ReplyError) -> RoomAnswer {
        try self.check(users)
        guard reason.utf8.count <= SanctionLimits.reasonBytes else {
            throw ReplyError(.badParameter, "reason has at most \(SanctionLimits.reasonBytes) bytes")
        }
        let until = try self.end(of: durationSeconds, at: now)
        var list = rows.sanctions(.bans(key))
        var told: [Effect] = []
        for user in users {
            list.set(Sanction(user: user, until: until, reason: reason, by: caller.userID))
            told.append(.audience(AudienceInput(key, .banned(user: user, until: until, caller: caller))))
        }
        try self.store(list, .bans(key), in: &rows)
        return .done(.done, told: told)
    }

    /// Lifts bans; a user without one is no mistake.
    func unban(
        _ users: [UserID], _ key: LiveKey, in rows: inout DirectoryRows
    ) throws(ReplyError) -> RoomAnswer {
        try self.check(users)
        var list = rows.sanctions(.bans(key))
        var told: [Effect] = []
        for user in users where list.lift(user) {
            told.append(.audience(AudienceInput(key, .unbanned(user: user))))
        }
        try self.store(list, .bans(key), in: &rows)
        return .done(.done, told: told)
    }

    /// Mutes users, here or not, or lets them write again (a duration of 0); told to all viewers (reference 4) by presence,
    /// which knows their names.
    ///
    /// - Throws: as `ban`.
    func mute(
        _ users: [UserID], _ durationSeconds: Int64, _ caller: Caller, _ key: LiveKey, in rows: inout DirectoryRows,
        at now: Timestamp
    ) throws(ReplyError) -> RoomAnswer {
        try self.check(users)
        var list = rows.sanctions(.mutes(key))
        var told: [Effect] = []
        if durationSeconds == 0 {
            for user in users where list.lift(user) { told += Self.unmuted(user, key) }
        } else {
            let until = try self.end(of: durationSeconds, at: now)
            for user in users {
                list.set(Sanction(user: user, until: until, by: caller.userID))
                told.append(.barrage(BarrageInput(key, .muted(user: user, until: until))))
                let word = AudienceCommand.announceMute(user: user, isDisable: true, until: until)
                told.append(.audience(AudienceInput(key, word)))
            }
        }
        try self.store(list, .mutes(key), in: &rows)
        return .done(.done, told: told)
    }

    /// Answers with part of a list; nothing is kept of it, for it may be asked again freely.
    func list(
        _ call: RoomCall, _ listKey: DirectoryKey, offset: Int, count: Int, in rows: DirectoryRows,
        into effects: inout [Effect]
    ) {
        let app = call.key.app
        do throws(ReplyError) {
            guard case .room(let room)? = rows[.room(call.key)] else {
                throw ReplyError(.noSuchRoom, "there is no such live")
            }
            try RoomRights.check(call, room)
            guard offset >= 0, (1...SanctionLimits.page).contains(count) else {
                throw ReplyError(.badParameter, "offset is at least 0, count 1 to \(SanctionLimits.page)")
            }
            let page = rows.sanctions(listKey).page(offset: offset, count: count)
            effects.append(.success(.sanctions(page: page), to: call.caller, app: app))
        } catch {
            effects.append(.reply(Reply(to: call.caller, app: app, .failure(error: error))))
        }
    }

    /// Bans that are over go; of mutes all viewers hear.
    func sanctionsDue(
        _ listKey: DirectoryKey, in rows: inout DirectoryRows, at now: Timestamp, into effects: inout [Effect]
    ) {
        var list = rows.sanctions(listKey)
        let over = list.prune(at: now)
        if case .mutes(let key) = listKey {
            for user in over { effects += Self.unmuted(user, key) }
        }
        rows[listKey] = list.entries.isEmpty ? nil : .sanctions(list: list)
    }

    private static func unmuted(_ user: UserID, _ key: LiveKey) -> [Effect] {
        let word = AudienceCommand.announceMute(user: user, isDisable: false, until: nil)
        return [.barrage(BarrageInput(key, .unmuted(user: user))), .audience(AudienceInput(key, word))]
    }

    private func check(_ users: [UserID]) throws(ReplyError) {
        guard (1...SanctionLimits.usersPerCall).contains(users.count) else {
            throw ReplyError(
                .badParameter, "users names \(users.count); 1 to \(SanctionLimits.usersPerCall) are possible")
        }
    }

    /// When a sanction ends that begins now; nil: never by itself.
    private func end(of durationSeconds: Int64, at now: Timestamp) throws(ReplyError) -> Timestamp? {
        if durationSeconds == -1 { return nil }
        guard SanctionLimits.seconds.contains(durationSeconds) else {
            throw ReplyError(
                .badParameter,
                "duration is \(durationSeconds); 1 to \(SanctionLimits.seconds.upperBound) seconds, or -1 for good")
        }
        return now + .seconds(durationSeconds)
    }

    private func store(
        _ list: SanctionList, _ listKey: DirectoryKey, in rows: inout DirectoryRows
    ) throws(ReplyError) {
        guard list.entries.count <= SanctionLimits.perLive else {
            throw ReplyError(.overLimit, "a live has at most \(SanctionLimits.perLive) bans, and as many mutes")
        }
        rows[listKey] = list.entries.isEmpty ? nil : .sanctions(list: list)
    }
}

extension DirectoryRows {
    /// A live's bans or mutes.
    func sanctions(_ key: DirectoryKey) -> SanctionList {
        if case .sanctions(let list)? = self[key] { list } else { SanctionList() }
    }
}
