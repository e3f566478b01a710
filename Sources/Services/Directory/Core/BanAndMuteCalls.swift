// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Calls that ban or mute users.
///
/// The directory decides, stores and lists bans and mutes. Presence (the machine that knows who is in a live) enforces
/// the bans. The fan-out (the machine that writes the feed) enforces the mutes.
extension DirectoryMachine {
    /// Bans users, whether or not they are in the live; replaces earlier bans.
    ///
    /// - Throws: `badParameter` for no user, too many users, or an invalid duration or reason; `overLimit` for too many
    ///   bans.
    func ban(
        _ users: [UserID], _ durationSeconds: Int64, _ reason: String, _ caller: Caller, _ key: LiveKey,
        in rows: inout DirectoryRows, at now: Timestamp
    ) throws(ReplyError) -> CallDecision {
        try self.checkUserCount(users)
        guard TextRule.isPlain(reason, maxBytes: SanctionLimits.reasonBytes) else {
            throw .notPlain("reason", maxBytes: SanctionLimits.reasonBytes)
        }
        let until = try self.expirationTime(after: durationSeconds, from: now)
        var list = rows.sanctions(.bans, of: key)
        var effects: [Effect] = []
        for user in users {
            list.set(Sanction(user: user, until: until, reason: reason, by: caller.userID))
            effects.append(.audience(AudienceInput(key, .banned(user: user, until: until, caller: caller))))
        }
        try self.store(list, .bans, of: key, in: &rows)
        return .executed(.done, effects: effects)
    }

    /// Lifts bans; users without a ban are ignored.
    ///
    /// - Throws: `badParameter` for no user or too many users.
    func unban(
        _ users: [UserID], _ key: LiveKey, in rows: inout DirectoryRows
    ) throws(ReplyError) -> CallDecision {
        try self.checkUserCount(users)
        var list = rows.sanctions(.bans, of: key)
        var effects: [Effect] = []
        for user in users where list.lift(user) {
            effects.append(.audience(AudienceInput(key, .unbanned(user: user))))
        }
        try self.store(list, .bans, of: key, in: &rows)
        return .executed(.done, effects: effects)
    }

    /// Mutes users, whether or not they are in the live; lifts their mutes if the duration is 0.
    ///
    /// Presence, which knows the users' names, publishes the change to all viewers (R4.17).
    ///
    /// - Throws: as `ban` does, except for the reason, which a mute does not have.
    func mute(
        _ users: [UserID], _ durationSeconds: Int64, _ caller: Caller, _ key: LiveKey, in rows: inout DirectoryRows,
        at now: Timestamp
    ) throws(ReplyError) -> CallDecision {
        try self.checkUserCount(users)
        var list = rows.sanctions(.mutes, of: key)
        var effects: [Effect] = []
        if durationSeconds == 0 {
            for user in users where list.lift(user) { effects += Self.unmuteEffects(user, key) }
        } else {
            let until = try self.expirationTime(after: durationSeconds, from: now)
            for user in users {
                list.set(Sanction(user: user, until: until, by: caller.userID))
                effects.append(.barrage(BarrageInput(key, .muted(user: user, until: until))))
                let announcement = AudienceCommand.announceMute(user: user, isDisable: true, until: until)
                effects.append(.audience(AudienceInput(key, announcement)))
            }
        }
        try self.store(list, .mutes, of: key, in: &rows)
        return .executed(.done, effects: effects)
    }

    /// Replies with one page of the live's bans or mutes.
    ///
    /// No outcome is recorded: the call changes nothing, so a repeated call is executed again.
    func replyWithSanctions(
        _ call: LiveCall, _ kind: SanctionKind, offset: Int, count: Int, in rows: DirectoryRows, at now: Timestamp,
        into effects: inout [Effect]
    ) {
        let app = call.key.app
        do throws(ReplyError) {
            guard case .live(let row)? = rows[.live(call.key)] else {
                throw ReplyError(.noSuchRoom, "there is no such live")
            }
            try LivePermissions.check(call, row)
            guard offset >= 0, (1...SanctionLimits.entriesPerPage).contains(count) else {
                throw ReplyError(
                    .badParameter, "offset must be at least 0 and count must be 1 to \(SanctionLimits.entriesPerPage)")
            }
            let list = rows.sanctions(kind, of: call.key)
            var page = list.page(offset: offset, count: count)
            page.at = now
            // A user gets its own mute with every page of mutes, even if the mute is on another page.
            if kind == .mutes, call.caller.role == .user { page.own = list.entry(of: call.caller.userID) }
            effects.append(.success(.sanctions(page: page), to: call.caller, app: app))
        } catch {
            effects.append(.reply(Reply(to: call.caller, app: app, .failure(error: error))))
        }
    }

    /// Stores the name and picture of a user in the user's ban and mute, for the lists of bans and mutes (R4.22).
    func updateSanctionProfile(_ key: LiveKey, _ user: UserInfo, in rows: inout DirectoryRows) {
        for kind in [SanctionKind.bans, .mutes] {
            var list = rows.sanctions(kind, of: key)
            if list.setProfile(user) { rows.store(list, kind, of: key) }
        }
    }

    /// Removes expired bans or mutes from a stored page; the end of a mute is published to all viewers.
    ///
    /// A stored page is one row of a live's list, not a page of a reply. The end of a ban has no effect here,
    /// because presence knows when each ban ends.
    func removeExpiredSanctions(
        _ pageKey: DirectoryKey, in rows: inout DirectoryRows, at now: Timestamp, into effects: inout [Effect]
    ) {
        guard case .sanctions(var page)? = rows[pageKey] else { return }
        let users = page.removeExpired(at: now)
        if case .mutes(let key, _) = pageKey {
            for user in users { effects += Self.unmuteEffects(user, key) }
        }
        rows.removeExpired(fromPage: pageKey, keeping: page)
    }

    /// The effects of a mute that is lifted or has expired: an input for the fan-out, and the announcement to the
    /// viewers.
    private static func unmuteEffects(_ user: UserID, _ key: LiveKey) -> [Effect] {
        let announcement = AudienceCommand.announceMute(user: user, isDisable: false, until: nil)
        return [.barrage(BarrageInput(key, .unmuted(user: user))), .audience(AudienceInput(key, announcement))]
    }

    /// Rejects a call that names no user or too many users.
    private func checkUserCount(_ users: [UserID]) throws(ReplyError) {
        guard (1...SanctionLimits.usersPerCall).contains(users.count) else {
            throw SanctionLimits.userCountError(users.count)
        }
    }

    /// When a sanction that begins at `now` expires; nil if it is permanent (a duration of -1).
    private func expirationTime(after durationSeconds: Int64, from now: Timestamp) throws(ReplyError) -> Timestamp? {
        if durationSeconds == -1 { return nil }
        guard SanctionLimits.seconds.contains(durationSeconds) else {
            throw ReplyError(
                .badParameter,
                "duration is \(durationSeconds); 1 to \(SanctionLimits.seconds.upperBound) seconds, or -1 (permanent), "
                    + "are possible")
        }
        return now + .seconds(durationSeconds)
    }

    /// Stores a live's list of bans or mutes; an empty list has no row.
    ///
    /// - Throws: `overLimit` when the list is too long.
    private func store(
        _ list: SanctionList, _ kind: SanctionKind, of key: LiveKey, in rows: inout DirectoryRows
    ) throws(ReplyError) {
        guard list.entries.count <= SanctionLimits.perLive else {
            throw ReplyError(
                .overLimit, "a live has at most \(SanctionLimits.perLive) bans and \(SanctionLimits.perLive) mutes")
        }
        rows.store(list, kind, of: key)
    }
}
