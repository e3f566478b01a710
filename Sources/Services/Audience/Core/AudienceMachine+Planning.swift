// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

// MARK: - First phase of a batch: lease requests

extension AudienceMachine {
    /// Decides which lease request each input of a batch needs.
    ///
    /// A lease is an entry in Redis that expires some time after a session's last sign of life. Only openings, endings
    /// and the directory's rules (admins, limits, bans) change rows in this phase.
    ///
    /// - Parameters:
    ///   - inputs: the inputs, in order; a tick (an empty record that advances time) has a moment, but no input.
    ///   - rows: the partition's rows.
    /// - Returns: one planned input for each input.
    package func plan(_ inputs: [(moment: Moment, input: AudienceInput?)], in rows: inout Rows) -> [PlannedInput] {
        // The calls of this batch that change something; their outcomes are recorded in the second phase.
        var plannedCalls: Set<CallID> = []
        return inputs.map { moment, input in
            guard let input else { return self.planTick(at: moment, in: rows) }
            guard input.command.isRecorded, let caller = input.command.caller else {
                return self.planInput(input, at: moment, in: &rows)
            }
            let call = CallID(key: .calls(input.key, caller.userID, caller.request.session), caller.request)
            // The idempotency window (the recorded outcomes of the session's last calls) does not contain the calls of
            // this batch yet.
            guard !plannedCalls.contains(call) else { return PlannedInput(moment, input, .repeated) }
            let lookup = rows.window(call.key)?.lookup(caller.counter) ?? .fresh
            if case .leave = input.command, caller.ticket == nil, lookup == .fresh {
                // A leave without a ticket is allowed only as a retry of an earlier leave (R15.16 in docs/RULES.md),
                // and this call is new.
                return PlannedInput(moment, input, .rejected(ReplyError(.notInRoom, "you are not in the live")))
            }
            switch lookup.treatingFresh(asForgottenIf: caller.isLateRetry) {
            case .repeated: return PlannedInput(moment, input, .repeated)
            case .forgotten: return PlannedInput(moment, input, .rejected(.requestForgotten))
            case .fresh:
                let plannedInput = self.planInput(input, at: moment, in: &rows)
                if plannedInput.decision == .proceed { plannedCalls.insert(call) }
                return plannedInput
            }
        }
    }

    /// Identifies a call: the key of its session's idempotency window, and the counter of its request.
    private struct CallID: Hashable {
        var key: AudienceKey
        var counter: Int64
        init(key: AudienceKey, _ request: RequestID) {
            self.key = key
            self.counter = request.counter
        }
    }

    /// Plans a tick, at which leases expire.
    ///
    /// While an epoch is settling or Redis cannot be reached, the tick's limit is 0, so that no lease expires.
    private func planTick(at moment: Moment, in rows: Rows) -> PlannedInput {
        let partition = rows.partition
        let canExpire = partition.settlesAt == nil && !partition.isUnavailable
        return PlannedInput(moment, nil, .proceed, request: .tick(limit: canExpire ? self.expiryLimit : 0))
    }

    /// Plans one input that is not a repeated call.
    private func planInput(_ input: AudienceInput, at moment: Moment, in rows: inout Rows) -> PlannedInput {
        let key = input.key
        switch input.command {
        case .opened(let epoch, let owner): return self.planOpening(input, epoch, owner, at: moment, in: &rows)
        case .ended(let epoch, let ending): return self.planEnd(input, epoch, ending, at: moment, in: &rows)
        default: break
        }
        guard let row = rows.live(key) else { return PlannedInput(moment, input, self.decisionWithoutLive(input)) }
        if let caller = input.command.caller, input.command.requiresMembership,
            let error = self.rejection(ofMember: caller, in: row, rows.fence(key))
        {
            return PlannedInput(moment, input, .rejected(error))
        }
        if let error = self.rejection(of: input.command, at: moment, row, rows.bans(key), rows.fence(key)) {
            return PlannedInput(moment, input, .rejected(error))
        }
        // A rule that only changes rows is applied here, and needs no lease request.
        let isDone = self.applyDirectoryRule(input.command, key, at: moment.now, in: &rows)
        if isDone { return PlannedInput(moment, input, .proceed, epoch: row.epoch) }
        guard let request = self.request(for: input, at: moment, row, rows.fence(key)) else {
            // Of all calls, only a leave or a profile change of an app's server has no lease request here, because the
            // server has no ticket.
            let error = ReplyError(.notInRoom, "join the live before acting in it")
            return PlannedInput(moment, input, input.command.caller == nil ? .ignored : .rejected(error))
        }
        return PlannedInput(moment, input, .proceed, epoch: row.epoch, request: request)
    }

    /// The lease request of an input for a running live; nil when the input needs none, or has no valid ticket for it.
    private func request(for input: AudienceInput, at moment: Moment, _ row: LiveRow, _ fence: RevocationFence)
        -> LeaseRequest?
    {
        let key = input.key
        // Whether the ticket was issued in this live, before this input, and after the user's last kick or ban.
        func isValidTicket(of user: UserID, _ ticket: Ticket) -> Bool {
            ticket.offset >= row.openingOffset && ticket.offset < moment.offset && fence.isValid(ticket, of: user)
        }
        switch input.command {
        case .opened, .ended, .unbanned, .rights: return nil
        case .join(let caller):
            let member = MemberSession(
                session: caller.request.session, user: caller.user, ticket: Ticket(moment.offset), silentFor: 0)
            return .join(
                live: key, owner: row.owner, member: member, limit: self.viewerLimit(key, row),
                earlierTicket: caller.ticket, removesOtherSessions: self.policies[key.app].devices == .one)
        case .leave(let caller):
            guard let ticket = caller.ticket else { return nil }
            return .leave(
                live: key, owner: row.owner, user: caller.userID, session: caller.request.session, ticket: ticket)
        case .heartbeats(let heartbeats):
            let validHeartbeats = heartbeats.filter { isValidTicket(of: $0.user, $0.ticket) }
            return validHeartbeats.isEmpty
                ? nil : .heartbeats(live: key, owner: row.owner, heartbeats: validHeartbeats)
        case .assert(let members):
            let validMembers = members.filter { isValidTicket(of: $0.user.userID, $0.ticket) }
            return validMembers.isEmpty ? nil : .assert(live: key, owner: row.owner, members: validMembers)
        case .signOff(let session, let user, let ticket):
            guard isValidTicket(of: user, ticket) else { return nil }
            return .leave(live: key, owner: row.owner, user: user, session: session, ticket: ticket)
        // While the leases are stale, a user without a session in Redis may still be in the live, so a kick also
        // revokes the tickets of such a user. A ban always does so, because it also holds for users who are not in the
        // live.
        case .kick(let user, _, _): return .kick(live: key, user: user, includesAbsent: row.isStale)
        case .banned(let user, _, _): return .kick(live: key, user: user, includesAbsent: true)
        case .profile(let caller):
            guard let ticket = caller.ticket else { return nil }
            return .rename(live: key, user: caller.user, session: caller.request.session, ticket: ticket)
        case .list(let cursor, let count, _):
            // -1 is below every ticket, so without a cursor the page begins with the first user. `rejection(ofCursor:)`
            // has already rejected a malformed cursor.
            let after = cursor.isEmpty ? -1 : Int64(cursor) ?? -1
            return .page(live: key, after: after, count: min(max(1, count), Limits.audiencePage))
        case .verifyAdminMembership(let user, _): return .isMember(live: key, user: user)
        case .verifyGuestMembership(let user, _, _), .announceMute(let user, _, _):
            return .profile(live: key, user: user)
        // Planned while the leases are stale, too: Redis may return with this batch. If it does not return, the request
        // is the reason for a new epoch, after which the question is asked again.
        case .confirm(let user): return .isMember(live: key, user: user)
        }
    }

    /// The decision on an input whose live is not running.
    private func decisionWithoutLive(_ input: AudienceInput) -> PlannedInput.Decision {
        switch input.command {
        case .join: .rejected(ReplyError(.noSuchRoomOnEntry, "there is no such live"))
        case .leave, .kick, .list, .verifyAdminMembership, .verifyGuestMembership, .profile:
            .rejected(ReplyError(.noSuchRoom, "there is no such live"))
        case .opened, .ended, .heartbeats, .assert, .confirm, .signOff, .banned, .unbanned, .announceMute, .rights:
            .ignored
        }
    }

    /// The error for a caller who has not joined the live or was kicked after its join; nil for a member.
    func rejection(ofMember caller: Caller, in row: LiveRow, _ fence: RevocationFence) -> ReplyError? {
        if caller.role == .user, let ticket = caller.ticket, ticket.offset < row.openingOffset {
            return Self.earlierLiveError
        }
        return fence.rejection(of: caller)
    }
}
