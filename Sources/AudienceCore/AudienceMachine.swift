// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Decides who is in the rooms of one partition, in two phases around the leases, which Redis holds.
///
/// `plan` looks at the inputs of a batch and at the rows, and names a command for each. The commands are carried out by
/// the caller. `conclude` then takes the result of each step, in order, changes rows and tells the effects. `plan` never
/// depends on what `conclude` has yet to decide, so a batch that is cut differently after a crash gets the same commands.
package struct AudienceMachine: Sendable {
    /// The inbox partition that it serves.
    package let partition: Int
    /// The limits of each app.
    package let policies: Policies
    /// How long a new epoch waits for gateways to tell who is here: below the 15 s of I5 by the time that it takes to find
    /// Redis back and to tell the truth.
    package let settling: Milliseconds
    /// The most leases that expire in one tick; the rest follow in the next.
    package let expiryLimit: Int

    /// A machine for `partition`.
    package init(
        partition: Int, policies: Policies = Policies(), settling: Milliseconds = .seconds(12),
        expiryLimit: Int = 5000
    ) {
        self.partition = partition
        self.policies = policies
        self.settling = settling
        self.expiryLimit = expiryLimit
    }

    /// The rows of a partition.
    package typealias Rows = Journal<AudienceKey, AudienceRow>

    /// The shortest time between two counts of a live.
    package static let countInterval = Milliseconds.seconds(1)
    /// When a client that was refused because the leases are away may try again, in milliseconds.
    static let retryAfter: Int64 = 1000
    /// Users remembered as kicked while their live is stale; the oldest go first.
    static let kickedWhileStaleLimit = 1000
}

// MARK: - First phase

extension AudienceMachine {
    /// Decides what each input of a batch asks of the leases; only openings and endings change rows already here.
    ///
    /// - Parameters:
    ///   - inputs: what was read, in order; nil is a tick.
    ///   - rows: the partition's rows.
    /// - Returns: one step for each input.
    package func plan(_ inputs: [(moment: Moment, input: AudienceInput?)], in rows: inout Rows) -> [AudienceStep] {
        // Calls that the batch has seen, whose outcomes are no rows yet.
        var seen: Set<SeenCall> = []
        return inputs.map { moment, input in
            guard let input else { return self.planTick(at: moment, in: rows) }
            guard input.command.isKept, let caller = input.command.caller else {
                return self.planInput(input, at: moment, in: &rows)
            }
            let call = SeenCall(key: .calls(input.key, caller.userID, caller.request.session), caller.request)
            guard !seen.contains(call) else { return AudienceStep(moment, input, .repeated) }
            switch rows.window(call.key)?.verdict(on: caller.counter) ?? .fresh {
            case .repeated: return AudienceStep(moment, input, .repeated)
            case .forgotten:
                let error = ReplyError(.requestForgotten, "the request is older than the outcomes that are kept")
                return AudienceStep(moment, input, .refused(error))
            case .fresh:
                let step = self.planInput(input, at: moment, in: &rows)
                if step.verdict == .act { seen.insert(call) }
                return step
            }
        }
    }

    private struct SeenCall: Hashable {
        var key: AudienceKey
        var counter: Int64
        init(key: AudienceKey, _ request: RequestID) {
            self.key = key
            self.counter = request.counter
        }
    }

    private func planTick(at moment: Moment, in rows: Rows) -> AudienceStep {
        let partition = rows.partition
        let mayExpire = partition.settlesAt == nil && !partition.isAway
        return AudienceStep(moment, nil, .act, command: .tick(limit: mayExpire ? self.expiryLimit : 0))
    }

    private func planInput(_ input: AudienceInput, at moment: Moment, in rows: inout Rows) -> AudienceStep {
        let key = input.key
        switch input.command {
        case .opened(let epoch, let owner):
            if let row = rows.live(key), row.epoch >= epoch { return AudienceStep(moment, input, .ignored) }
            var row = LiveRow(epoch: epoch, owner: owner.userID, openedAt: moment.offset, toldAt: moment.now)
            row.isStale = rows.partition.isAway
            rows[.live(key)] = .live(row: row)
            rows[.floors(key)] = nil
            rows[.bans(key)] = nil
            return AudienceStep(moment, input, .act, epoch: epoch, command: .clear(live: key))
        case .ended(let epoch, var ending):
            // Also of a live that is not known here: the end goes on to the fan-out (reference 19).
            guard let row = rows.live(key), row.epoch == epoch else { return AudienceStep(moment, input, .act) }
            rows[.live(key)] = nil
            rows[.floors(key)] = nil
            rows[.bans(key)] = nil
            ending.totalViewers = Int64(row.totalViewers)
            let input = AudienceInput(key, .ended(epoch: epoch, ending: ending))
            return AudienceStep(moment, input, .act, epoch: epoch, command: .clear(live: key))
        default: break
        }
        guard let row = rows.live(key) else { return AudienceStep(moment, input, self.verdictWithoutLive(input)) }
        if let caller = input.command.caller, input.command.needsTicket,
            let error = self.refusal(of: caller, in: row, rows.floors(key))
        {
            return AudienceStep(moment, input, .refused(error))
        }
        if let error = self.refusal(of: input.command, at: moment, row, rows.bans(key), rows.floors(key)) {
            return AudienceStep(moment, input, .refused(error))
        }
        if self.takeIn(input.command, key, at: moment.now, in: &rows) {
            return AudienceStep(moment, input, .act, epoch: row.epoch)
        }
        guard let command = self.command(for: input, at: moment, row, rows.floors(key)) else {
            // A server's token is in no room, so it has none to leave, and no name in it; all else here is no call.
            let error = ReplyError(.notInRoom, "join the live before acting in it")
            return AudienceStep(moment, input, input.command.caller == nil ? .ignored : .refused(error))
        }
        return AudienceStep(moment, input, .act, epoch: row.epoch, command: command)
    }

    /// What the leases are asked for an input of a running live; nil when there is nothing to ask.
    private func command(for input: AudienceInput, at moment: Moment, _ row: LiveRow, _ floors: Floors) -> LeaseCommand?
    {
        let key = input.key
        // Of this live, from before now, and from after the user's last kick or ban.
        func isAdmitted(_ user: UserID, _ ticket: Ticket) -> Bool {
            ticket.offset >= row.openedAt && ticket.offset < moment.offset && floors.admit(user, ticket)
        }
        switch input.command {
        case .opened, .ended, .unbanned, .rights: return nil
        case .join(let caller):
            let member = Presence(
                session: caller.request.session, user: caller.user, ticket: Ticket(moment.offset), silentFor: 0)
            return .join(
                live: key, owner: row.owner, member: member, limit: self.mostMembers(key, row), since: caller.ticket,
                isOnly: self.policies[key.app].devices == .one)
        case .leave(let caller):
            guard let ticket = caller.ticket else { return nil }
            return .leave(
                live: key, owner: row.owner, user: caller.userID, session: caller.request.session, ticket: ticket)
        case .heartbeats(let beats):
            let valid = beats.filter { isAdmitted($0.user, $0.ticket) }
            return valid.isEmpty ? nil : .beats(live: key, owner: row.owner, beats: valid)
        case .assert(let members):
            let valid = members.filter { isAdmitted($0.user.userID, $0.ticket) }
            return valid.isEmpty ? nil : .assert(live: key, owner: row.owner, members: valid)
        case .signOff(let session, let user, let ticket):
            guard isAdmitted(user, ticket) else { return nil }
            return .leave(live: key, owner: row.owner, user: user, session: session, ticket: ticket)
        case .kick(let user, _, _): return .kick(live: key, user: user, isUnsure: row.isStale)
        case .banned(let user, _, _): return .kick(live: key, user: user, isUnsure: true)
        case .profile(let caller):
            guard let ticket = caller.ticket else { return nil }
            return .rename(live: key, user: caller.user, session: caller.request.session, ticket: ticket)
        case .list(let cursor, let count, _):
            let after = cursor.isEmpty ? -1 : Int64(cursor) ?? -1
            return .page(live: key, after: after, count: min(max(1, count), Limits.audiencePage))
        case .vouchAdmin(let user, _): return .isMember(live: key, user: user)
        case .vouchGuest(let user, _, _), .announceMute(let user, _, _): return .profile(live: key, user: user)
        case .confirm(let user):
            // Not while stale: the seats and connections are told to ask when that is over.
            return row.isStale ? nil : .isMember(live: key, user: user)
        }
    }

    private func verdictWithoutLive(_ input: AudienceInput) -> AudienceStep.Verdict {
        switch input.command {
        case .join: .refused(ReplyError(.noSuchRoomOnEntry, "there is no such live"))
        case .leave, .kick, .list, .vouchAdmin, .vouchGuest, .profile:
            .refused(ReplyError(.noSuchRoom, "there is no such live"))
        case .opened, .ended, .heartbeats, .assert, .confirm, .signOff, .banned, .unbanned, .announceMute, .rights:
            .ignored
        }
    }

    /// Why a caller may not act in the live, or nil.
    func refusal(of caller: Caller, in row: LiveRow, _ floors: Floors) -> ReplyError? {
        if caller.role == .user, let ticket = caller.ticket, ticket.offset < row.openedAt {
            return Self.earlierLive
        }
        return floors.refusal(of: caller)
    }
}

extension AudienceCommand {
    /// Whether the caller must be in the room; those that come through the directory were checked there.
    var needsTicket: Bool {
        switch self {
        case .leave, .list, .profile: true
        case .opened, .ended, .join, .heartbeats, .assert, .kick, .vouchAdmin, .vouchGuest, .confirm, .banned,
            .unbanned, .announceMute, .rights, .signOff:
            false
        }
    }
}

// MARK: - Rows by kind

extension Journal where Key == AudienceKey, Row == AudienceRow {
    /// The partition's row, or a new one.
    package var partition: PartitionRow {
        guard case .partition(let row)? = self[.partition] else { return PartitionRow() }
        return row
    }
    /// The row of a running live.
    package func live(_ key: LiveKey) -> LiveRow? {
        guard case .live(let row)? = self[.live(key)] else { return nil }
        return row
    }
    /// The floors of a live.
    package func floors(_ key: LiveKey) -> Floors {
        guard case .floors(let row)? = self[.floors(key)] else { return Floors() }
        return row
    }
    /// Who may not enter a live.
    package func bans(_ key: LiveKey) -> Bans {
        guard case .bans(let row)? = self[.bans(key)] else { return Bans() }
        return row
    }
    /// The outcomes of a session's calls.
    package func window(_ key: AudienceKey) -> OutcomeWindow? {
        guard case .calls(let row)? = self[key] else { return nil }
        return row
    }
    /// The running lives, in order.
    package var lives: [LiveKey] {
        self.sortedKeys { if case .live = $0 { true } else { false } }
            .compactMap { if case .live(let key) = $0 { key } else { nil } }
    }
}
