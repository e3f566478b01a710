// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import MachineKit
internal import PlazaModel

/// The requests of presence that change the leases of one live.
extension LiveLeases {
    /// What a join asks for.
    struct Join {
        let memberSession: MemberSession
        /// The owner of the live, who is not counted.
        let owner: UserID
        /// The maximum number of users in the live.
        let limit: Int
        /// The ticket of the session's earlier join; nil if the session joins for the first time.
        let earlierTicket: Ticket?
        /// Whether the app allows one device, so that the join removes the user's other sessions.
        let removesOtherSessions: Bool
    }

    /// Adds a session to the live, unless its earlier ticket is void or the live is full.
    mutating func join(_ join: Join, at clock: LeaseClock) -> [LeaseChange] {
        let user = join.memberSession.user.userID
        if let ticket = join.earlierTicket, self.isVoid(ticket, for: join.memberSession, at: clock.now) {
            return [.ticketVoid]
        }
        // A user who is in the live already, and the owner, may join a full live.
        if user != join.owner, self.members[user] == nil, self.count >= join.limit { return [.full] }
        let previousProfile = self.members[user]?.user
        let isFirst = self.add(join.memberSession, owner: join.owner, end: clock.leaseEnd(), at: clock.now)
        let replacesOthers = join.removesOtherSessions ? self.removeOtherSessions(join.memberSession, at: clock) : false
        let isRenamed = !isFirst && self.members[user]?.user != previousProfile
        return [.joined(isFirst: isFirst, count: self.count, replacesOthers: replacesOthers, isRenamed: isRenamed)]
    }

    /// Whether an earlier ticket belongs to another user or is revoked.
    private func isVoid(_ ticket: Ticket, for memberSession: MemberSession, at now: Timestamp) -> Bool {
        let user = memberSession.user.userID
        if let holder = self.members.first(where: { $0.value.listTicket == ticket })?.key, holder != user {
            return true
        }
        return self.isRevoked(user, memberSession.session, ticket, at: now)
    }

    /// Removes all sessions of a user except the one that joins, `memberSession`, and revokes their tickets.
    ///
    /// - Returns: Whether there was another session.
    private mutating func removeOtherSessions(_ memberSession: MemberSession, at clock: LeaseClock) -> Bool {
        let user = memberSession.user.userID
        let otherSessions = self.members[user]?.sessions.filter { $0.id != memberSession.session } ?? []
        for session in otherSessions { self.revoke(user, session: session.id, upTo: memberSession.ticket, at: clock) }
        self.members[user]?.sessions.removeAll { $0.id != memberSession.session }
        return !otherSessions.isEmpty
    }

    /// Removes a session, and revokes its tickets up to `ticket`, even if the session has no lease any more.
    ///
    /// A session that has joined again has a later ticket than `ticket`, and stays.
    mutating func leave(
        _ user: UserID, _ session: SessionID, _ ticket: Ticket, at clock: LeaseClock
    ) -> [LeaseChange] {
        self.revoke(user, session: session, upTo: ticket, at: clock)
        guard let member = self.members[user],
            let index = member.sessions.firstIndex(where: { $0.id == session && $0.ticket <= ticket })
        else { return [] }
        self.members[user]?.sessions.remove(at: index)
        let isLast = member.sessions.count == 1
        if isLast { self.members[user] = nil }
        return [.left(user: member.user, isLast: isLast, count: self.count)]
    }

    /// Removes a user, and revokes all tickets of the user up to `ticket`.
    ///
    /// `includesAbsent`: whether the tickets are also revoked if the user is not in the live.
    mutating func kick(
        _ user: UserID, upTo ticket: Ticket, includesAbsent: Bool, at clock: LeaseClock
    ) -> [LeaseChange] {
        let member = self.members.removeValue(forKey: user)
        if member != nil || includesAbsent { self.revoke(user, session: nil, upTo: ticket, at: clock) }
        guard let member else { return [] }
        return [.kicked(user: member.user, count: self.count)]
    }

    /// Changes the profile of a user, unless the ticket of the session that asks for the change is revoked.
    mutating func rename(
        _ user: UserInfo, _ session: SessionID, _ ticket: Ticket, at clock: LeaseClock
    ) -> [LeaseChange] {
        guard !self.isRevoked(user.userID, session, ticket, at: clock.now) else { return [] }
        return self.setProfile(user) ? [.renamed] : []
    }

    /// Extends the lease of a session; adds the session if its lease has expired.
    ///
    /// - Returns: A change only if the user was not in the live and has returned.
    mutating func renew(_ heartbeat: Heartbeat, owner: UserID, at clock: LeaseClock) -> [LeaseChange] {
        let silence = Milliseconds(max(0, heartbeat.silentFor))
        let end = clock.leaseEnd(silentFor: silence)
        if self.extend(heartbeat.session, of: heartbeat.user, to: end) { return [] }
        // If the client has been silent for the duration of a lease, the new lease would have ended already.
        guard silence < clock.leaseDuration,
            !self.isRevoked(heartbeat.user, heartbeat.session, heartbeat.ticket, at: clock.now)
        else { return [] }
        let user = self.profile(of: heartbeat.user) ?? UserInfo(userID: heartbeat.user)
        let memberSession = MemberSession(
            session: heartbeat.session, user: user, ticket: heartbeat.ticket, silentFor: heartbeat.silentFor)
        let isFirst = self.add(memberSession, owner: owner, end: end, at: clock.now)
        return isFirst ? [.returned(user: user, count: self.count)] : []
    }

    /// Adds the members that a gateway asserts to be connected.
    ///
    /// - Returns: The new count of users, if it has changed; the result does not name the users who were added.
    mutating func assert(_ members: [MemberSession], owner: UserID, at clock: LeaseClock) -> [LeaseChange] {
        let previousCount = self.count
        for var memberSession in members {
            let silence = Milliseconds(max(0, memberSession.silentFor))
            let user = memberSession.user.userID
            guard silence < clock.leaseDuration,
                !self.isRevoked(user, memberSession.session, memberSession.ticket, at: clock.now)
            else { continue }
            // The session may have joined again after the gateway sent its assertion; the later ticket counts.
            if let existing = self.members[user]?.sessions.first(where: { $0.id == memberSession.session }) {
                memberSession.ticket = max(memberSession.ticket, existing.ticket)
            }
            self.add(memberSession, owner: owner, end: clock.leaseEnd(silentFor: silence), at: clock.now)
        }
        return self.count == previousCount ? [] : [.asserted(count: self.count)]
    }

    /// Removes at least `remaining` of the leases that have ended, or all, in the order of the users' ids.
    ///
    /// `remaining` is lowered by the number of removed leases. It may become negative, because all ended leases of one
    /// user are removed together.
    mutating func expire(in key: LiveKey, remaining: inout Int, at clock: LeaseClock) -> [LeaseChange] {
        self.dropOutdated(at: clock.now)
        var changes: [LeaseChange] = []
        for user in self.members.keys.sorted() where remaining > 0 {
            let (removedCount, expiredUser) = self.expireSessions(of: user, at: clock)
            remaining -= removedCount
            if let expiredUser { changes.append(.expired(live: key, user: expiredUser, count: self.count)) }
        }
        return changes
    }

    /// The members whose first join has a higher offset than `after`, in the order of these joins.
    func page(after: Int64, count: Int) -> LeaseResult {
        let listed = self.members.values.compactMap { member in
            member.listTicket.map { ListedMember(ticket: $0, member: member) }
        }.sorted { $0.ticket < $1.ticket }
        let following = listed.filter { $0.ticket.offset > after }
        let page = following.prefix(count)
        return .page(
            members: page.map { AudienceMember(user: $0.member.user, joinedAt: $0.member.joinedAt) },
            next: following.count > count ? page.last?.ticket.offset : nil, count: listed.count)
    }

    /// A member of the audience list, and the ticket by which the list is sorted.
    private struct ListedMember {
        let ticket: Ticket
        let member: Member
    }
}
