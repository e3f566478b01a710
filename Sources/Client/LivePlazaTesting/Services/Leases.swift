// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import MachineKit
internal import PlazaModel

/// The leases of all lives, in memory.
///
/// They follow the rules of the scripts that presence runs in Redis.
struct Leases: Sendable {
    private struct Session: Sendable {
        var id: SessionID
        var ticket: Ticket
        /// When the lease ends, in `leaseTime`.
        var end: Timestamp
    }

    private struct Member: Sendable {
        var user: UserInfo
        var joinedAt: Timestamp
        /// The ticket of the first join, by which the audience list is sorted; nil for the owner, whom the list does not
        /// contain.
        var listTicket: Ticket?
        var sessions: [Session]
    }

    private struct Live: Sendable {
        var members: [UserID: Member] = [:]
        /// The revocations of tickets: all tickets up to `ticket` are void.
        ///
        /// An entry is dropped at `until`.
        var revoked: [RevokedKey: (ticket: Ticket, until: Timestamp)] = [:]
        /// The profiles of users whose leases have expired.
        ///
        /// An entry is dropped at `until`.
        var expired: [UserID: (user: UserInfo, until: Timestamp)] = [:]

        /// The number of users without the owner.
        var count: Int { self.members.values.count { $0.listTicket != nil } }
    }

    /// Whose tickets are revoked.
    private struct RevokedKey: Hashable, Sendable {
        var user: UserID
        /// Nil: all sessions of the user.
        var session: SessionID?
    }

    /// The maximum number of sessions of one user; a further session removes the oldest.
    private static let maxSessions = 20
    /// How long the profile of a user whose lease has expired is stored.
    private static let profileLifetime = Milliseconds.seconds(600)
    /// A revocation is stored for the duration of a lease and this time.
    private static let revokedMargin = Milliseconds.seconds(30)

    private let lease: Milliseconds
    private var lives: [LiveKey: Live] = [:]
    private var clock = Timestamp.distantPast
    /// The sum of the gaps in which no input was received.
    private var standstill = Milliseconds(0)

    init(lease: Milliseconds) { self.lease = lease }

    /// Whether no user has a lease.
    var isEmpty: Bool { self.lives.values.allSatisfy { $0.members.isEmpty } }

    /// Removes all leases.
    mutating func removeAll() { self.lives = [:] }

    /// Executes the request of an input.
    mutating func execute(_ request: LeaseRequest?, at moment: Moment) -> LeaseResult {
        self.standstill = self.standstill + Moment.standstill(from: self.clock, to: moment.now)
        self.clock = max(self.clock, moment.now)
        switch request {
        case nil: return .nothing
        case .join(let live, let owner, let presence, let limit, let earlierTicket, let removesOtherSessions):
            return .changed(
                self.join(
                    live, owner, presence, limit: limit, earlierTicket: earlierTicket,
                    removesOtherSessions: removesOtherSessions))
        case .leave(let live, _, let user, let session, let ticket):
            return .changed(self.leave(live, user, session, ticket))
        case .heartbeats(let live, let owner, let heartbeats):
            return .changed(heartbeats.flatMap { self.renew(live, owner, $0) })
        case .assert(let live, let owner, let members): return .changed(self.assert(live, owner, members))
        case .kick(let live, let user, let includesAbsent):
            return .changed(self.kick(live, user, includesAbsent: includesAbsent, at: moment))
        case .rename(let live, let user, let session, let ticket):
            return .changed(self.rename(live, user, session, ticket))
        case .clear(let live):
            self.lives[live] = nil
            return .nothing
        case .tick(let limit): return .changed(self.expire(limit: limit))
        case .page(let live, let after, let count): return self.page(live, after: after, count: count)
        case .isMember(let live, let user):
            return .membership(isMember: self.lives[live]?.members[user] != nil)
        case .profile(let live, let user): return .profile(self.lives[live]?.members[user]?.user)
        }
    }

    /// The clock of the leases, which stops while no input is received.
    private var leaseTime: Timestamp { self.clock - self.standstill }
}

// MARK: - Joins, leaves and kicks

extension Leases {
    private mutating func join(
        _ key: LiveKey, _ owner: UserID, _ presence: Presence, limit: Int, earlierTicket: Ticket?,
        removesOtherSessions: Bool
    ) -> [LeaseChange] {
        let user = presence.user.userID
        var live = self.lives[key] ?? Live()
        if let earlierTicket {
            let holder = live.members.first { $0.value.listTicket == earlierTicket }?.key
            // The ticket is void if it belongs to another user, or if it is revoked.
            if holder ?? user != user || self.isRevoked(user, presence.session, earlierTicket, in: live) {
                return [.ticketVoid]
            }
        }
        if user != owner, live.members[user] == nil, live.count >= limit { return [.full] }
        let previousProfile = live.members[user]?.user
        let isFirst = self.add(presence, owner, end: self.leaseTime + self.lease, to: &live)
        var replacesOthers = false
        if removesOtherSessions, let others = live.members[user]?.sessions.filter({ $0.id != presence.session }),
            !others.isEmpty
        {
            for other in others { self.revoke(user, other.id, presence.ticket, in: &live) }
            live.members[user]?.sessions.removeAll { $0.id != presence.session }
            replacesOthers = true
        }
        let isRenamed = !isFirst && live.members[user]?.user != previousProfile
        self.lives[key] = live
        return [.joined(isFirst: isFirst, count: live.count, replacesOthers: replacesOthers, isRenamed: isRenamed)]
    }

    private mutating func leave(
        _ key: LiveKey, _ user: UserID, _ session: SessionID, _ ticket: Ticket
    ) -> [LeaseChange] {
        var live = self.lives[key] ?? Live()
        defer { self.lives[key] = live }
        self.revoke(user, session, ticket, in: &live)
        guard let member = live.members[user],
            let index = member.sessions.firstIndex(where: { $0.id == session && $0.ticket <= ticket })
        else { return [] }
        live.members[user]?.sessions.remove(at: index)
        let isLast = member.sessions.count == 1
        if isLast { live.members[user] = nil }
        return [.left(user: member.user, isLast: isLast, count: live.count)]
    }

    private mutating func kick(
        _ key: LiveKey, _ user: UserID, includesAbsent: Bool, at moment: Moment
    ) -> [LeaseChange] {
        var live = self.lives[key] ?? Live()
        defer { self.lives[key] = live }
        let member = live.members.removeValue(forKey: user)
        if member != nil || includesAbsent { self.revoke(user, nil, Ticket(moment.offset), in: &live) }
        return member.map { [.kicked(user: $0.user, count: live.count)] } ?? []
    }

    private mutating func rename(
        _ key: LiveKey, _ user: UserInfo, _ session: SessionID, _ ticket: Ticket
    ) -> [LeaseChange] {
        guard var live = self.lives[key], !self.isRevoked(user.userID, session, ticket, in: live) else { return [] }
        defer { self.lives[key] = live }
        live.expired[user.userID]?.user = user
        guard live.members[user.userID] != nil else { return [] }
        live.members[user.userID]?.user = user
        return [.renamed]
    }

    /// Adds a session, or extends its lease.
    ///
    /// - Returns: Whether the user had no session before.
    private func add(_ presence: Presence, _ owner: UserID, end: Timestamp, to live: inout Live) -> Bool {
        let user = presence.user.userID
        let session = Session(id: presence.session, ticket: presence.ticket, end: end)
        guard var member = live.members[user] else {
            live.members[user] = Member(
                user: presence.user, joinedAt: self.clock, listTicket: user == owner ? nil : presence.ticket,
                sessions: [session])
            return true
        }
        // A device that sends neither a name nor a picture does not change the user's profile.
        if !presence.user.userName.isEmpty || !presence.user.avatarURL.isEmpty { member.user = presence.user }
        if let index = member.sessions.firstIndex(where: { $0.id == presence.session }) {
            member.sessions[index].ticket = presence.ticket
            member.sessions[index].end = max(member.sessions[index].end, end)
        } else {
            member.sessions.append(session)
            if member.sessions.count > Self.maxSessions { member.sessions.removeFirst() }
        }
        live.members[user] = member
        return false
    }

    private func revoke(_ user: UserID, _ session: SessionID?, _ ticket: Ticket, in live: inout Live) {
        live.revoked[RevokedKey(user: user, session: session)] = (
            ticket, self.clock + self.lease + Self.revokedMargin
        )
    }

    private func isRevoked(_ user: UserID, _ session: SessionID, _ ticket: Ticket, in live: Live) -> Bool {
        [session, nil].contains { session in
            guard let revoked = live.revoked[RevokedKey(user: user, session: session)] else { return false }
            return revoked.until > self.clock && ticket <= revoked.ticket
        }
    }
}

// MARK: - Heartbeats, expiry and pages

extension Leases {
    private mutating func renew(_ key: LiveKey, _ owner: UserID, _ heartbeat: Heartbeat) -> [LeaseChange] {
        var live = self.lives[key] ?? Live()
        defer { self.lives[key] = live }
        let silence = Milliseconds(max(0, heartbeat.silentFor))
        let end = self.leaseTime - silence + self.lease
        if let member = live.members[heartbeat.user],
            let index = member.sessions.firstIndex(where: { $0.id == heartbeat.session })
        {
            live.members[heartbeat.user]?.sessions[index].end = max(member.sessions[index].end, end)
            return []
        }
        guard silence < self.lease, !self.isRevoked(heartbeat.user, heartbeat.session, heartbeat.ticket, in: live)
        else { return [] }
        let user =
            live.members[heartbeat.user]?.user ?? live.expired[heartbeat.user]?.user ?? UserInfo(userID: heartbeat.user)
        let presence = Presence(
            session: heartbeat.session, user: user, ticket: heartbeat.ticket, silentFor: heartbeat.silentFor)
        guard self.add(presence, owner, end: end, to: &live) else { return [] }
        return [.returned(user: user, count: live.count)]
    }

    private mutating func assert(_ key: LiveKey, _ owner: UserID, _ members: [Presence]) -> [LeaseChange] {
        var live = self.lives[key] ?? Live()
        defer { self.lives[key] = live }
        let previousCount = live.count
        for presence in members {
            let silence = Milliseconds(max(0, presence.silentFor))
            let user = presence.user.userID
            guard silence < self.lease, !self.isRevoked(user, presence.session, presence.ticket, in: live) else {
                continue
            }
            var presence = presence
            if let existing = live.members[user]?.sessions.first(where: { $0.id == presence.session }) {
                presence.ticket = max(presence.ticket, existing.ticket)
            }
            _ = self.add(presence, owner, end: self.leaseTime - silence + self.lease, to: &live)
        }
        return live.count == previousCount ? [] : [.asserted(count: live.count)]
    }

    /// Removes leases that have ended, in a fixed order of the lives and users, until at least `limit` are removed.
    private mutating func expire(limit: Int) -> [LeaseChange] {
        var remaining = limit
        var changes: [LeaseChange] = []
        for key in self.lives.keys.sorted() {
            guard remaining > 0, var live = self.lives[key] else { break }
            live.revoked = live.revoked.filter { $0.value.until > self.clock }
            live.expired = live.expired.filter { $0.value.until > self.clock }
            for user in live.members.keys.sorted() where remaining > 0 {
                guard var member = live.members[user] else { continue }
                let previousCount = member.sessions.count
                member.sessions.removeAll { $0.end <= self.leaseTime }
                remaining -= previousCount - member.sessions.count
                live.members[user] = member.sessions.isEmpty ? nil : member
                guard member.sessions.isEmpty else { continue }
                live.expired[user] = (member.user, self.clock + Self.profileLifetime)
                changes.append(.expired(live: key, user: member.user, count: live.count))
            }
            self.lives[key] = live
        }
        return changes
    }

    private func page(_ key: LiveKey, after: Int64, count: Int) -> LeaseResult {
        let listedMembers = (self.lives[key]?.members ?? [:]).values.compactMap { member in
            member.listTicket.map { (ticket: $0, member: member) }
        }.sorted { $0.ticket < $1.ticket }
        let following = listedMembers.filter { $0.ticket.offset > after }
        let page = following.prefix(count)
        return .page(
            members: page.map { AudienceMember(user: $0.member.user, joinedAt: $0.member.joinedAt) },
            next: following.count > count ? page.last?.ticket.offset : nil, count: listedMembers.count)
    }
}
