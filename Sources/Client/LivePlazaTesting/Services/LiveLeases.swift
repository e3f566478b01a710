// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The leases of one live: its members with their sessions, the revoked tickets, and the profiles of expired users.
struct LiveLeases: Sendable {
    struct Session: Sendable {
        let id: SessionID
        /// The ticket of the session's last join.
        var ticket: Ticket
        /// When the lease ends, in `LeaseClock.leaseTime`.
        var end: Timestamp
    }

    struct Member: Sendable {
        var user: UserInfo
        let joinedAt: Timestamp
        /// The ticket of the first join, by which the audience list is sorted; nil for the owner, whom the list does
        /// not contain.
        let listTicket: Ticket?
        var sessions: [Session]
    }

    /// The user and the session whose tickets (the proofs of their joins) a revocation makes void.
    private struct RevokedKey: Hashable, Sendable {
        let user: UserID
        /// The revoked session; nil for all sessions of the user.
        let session: SessionID?
    }

    /// All tickets up to `ticket` are void, until the revocation is dropped.
    private struct Revocation: Sendable {
        let ticket: Ticket
        /// The time of day from which the revocation may be dropped.
        let droppedAt: Timestamp
    }

    /// The profile of a user whose leases have expired.
    private struct ExpiredProfile: Sendable {
        var user: UserInfo
        /// The time of day from which the profile may be dropped.
        let droppedAt: Timestamp
    }

    /// The maximum number of sessions of one user; a further session removes the one that was added first.
    private static let maxSessions = 20
    /// How long the profile of a user whose lease has expired is stored.
    private static let profileLifetime = Milliseconds.seconds(600)
    /// A revocation is stored for the duration of a lease and this margin.
    private static let revocationMargin = Milliseconds.seconds(30)

    var members: [UserID: Member] = [:]
    private var revocations: [RevokedKey: Revocation] = [:]
    private var expiredProfiles: [UserID: ExpiredProfile] = [:]

    /// The number of members, not counting the owner.
    var count: Int { self.members.values.count { $0.listTicket != nil } }

    // MARK: Sessions

    /// Adds a session, or renews its ticket and extends its lease.
    ///
    /// `owner`: the owner of the live.
    /// `end`: when the lease ends, in `LeaseClock.leaseTime`.
    /// `now`: the time of day at which a new member joins.
    /// - Returns: Whether the user had no session before.
    @discardableResult mutating func add(
        _ memberSession: MemberSession, owner: UserID, end: Timestamp, at now: Timestamp
    ) -> Bool {
        let user = memberSession.user.userID
        let session = Session(id: memberSession.session, ticket: memberSession.ticket, end: end)
        guard var member = self.members[user] else {
            self.members[user] = Member(
                user: memberSession.user, joinedAt: now, listTicket: user == owner ? nil : memberSession.ticket,
                sessions: [session])
            return true
        }
        // A device that sends neither a name nor a picture does not change the user's profile.
        if !memberSession.user.userName.isEmpty || !memberSession.user.avatarURL.isEmpty {
            member.user = memberSession.user
        }
        if let index = member.sessions.firstIndex(where: { $0.id == memberSession.session }) {
            member.sessions[index].ticket = memberSession.ticket
            member.sessions[index].end = max(member.sessions[index].end, end)
        } else {
            member.sessions.append(session)
            if member.sessions.count > Self.maxSessions { member.sessions.removeFirst() }
        }
        self.members[user] = member
        return false
    }

    /// Extends the lease of a session to `end`; does nothing if the lease ends later already.
    ///
    /// - Returns: False if there is no such session.
    mutating func extend(_ session: SessionID, of user: UserID, to end: Timestamp) -> Bool {
        guard var member = self.members[user],
            let index = member.sessions.firstIndex(where: { $0.id == session })
        else { return false }
        member.sessions[index].end = max(member.sessions[index].end, end)
        self.members[user] = member
        return true
    }

    // MARK: Revocations

    /// Makes all tickets up to `ticket` void; a nil session stands for all sessions of the user.
    mutating func revoke(_ user: UserID, session: SessionID?, upTo ticket: Ticket, at clock: LeaseClock) {
        self.revocations[RevokedKey(user: user, session: session)] = Revocation(
            ticket: ticket, droppedAt: clock.now + clock.leaseDuration + Self.revocationMargin)
    }

    /// Whether a ticket of a session is void.
    func isRevoked(_ user: UserID, _ session: SessionID, _ ticket: Ticket, at now: Timestamp) -> Bool {
        // First the revocation of this session, then the revocation of all sessions of the user.
        [session, nil].contains { revokedSession in
            guard let revocation = self.revocations[RevokedKey(user: user, session: revokedSession)]
            else { return false }
            return revocation.droppedAt > now && ticket <= revocation.ticket
        }
    }

    // MARK: Profiles

    /// The profile of a member, or of a user whose leases have expired recently.
    func profile(of user: UserID) -> UserInfo? { self.members[user]?.user ?? self.expiredProfiles[user]?.user }

    /// Changes the profile of a user, as a member and as a user whose leases have expired.
    ///
    /// - Returns: Whether the user is a member.
    mutating func setProfile(_ user: UserInfo) -> Bool {
        self.expiredProfiles[user.userID]?.user = user
        guard self.members[user.userID] != nil else { return false }
        self.members[user.userID]?.user = user
        return true
    }

    // MARK: Expiry

    /// Drops the revocations and the profiles whose time is over.
    mutating func dropOutdated(at now: Timestamp) {
        self.revocations = self.revocations.filter { $0.value.droppedAt > now }
        self.expiredProfiles = self.expiredProfiles.filter { $0.value.droppedAt > now }
    }

    /// Removes those sessions of a user whose leases have ended.
    ///
    /// - Returns: how many sessions were removed, and the user's profile if the user has no session left.
    mutating func expireSessions(of user: UserID, at clock: LeaseClock) -> (removedCount: Int, expiredUser: UserInfo?) {
        guard var member = self.members[user] else { return (0, nil) }
        let previousCount = member.sessions.count
        member.sessions.removeAll { $0.end <= clock.leaseTime }
        let removedCount = previousCount - member.sessions.count
        guard member.sessions.isEmpty else {
            self.members[user] = member
            return (removedCount, nil)
        }
        self.members[user] = nil
        self.expiredProfiles[user] = ExpiredProfile(
            user: member.user, droppedAt: clock.now + Self.profileLifetime)
        return (removedCount, member.user)
    }
}
