// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// One request about the leases of a partition: a call of a Redis script, as a value.
///
/// A lease is the entry in Redis of a session in a live.
///
/// `page`, `isMember` and `profile` only read. All other requests change the leases, and take effect at most once for
/// each inbox offset. A ticket is the inbox offset of a join.
///
/// `owner` is always the user who owns the live, whatever user the request is about. The scripts need it, because the
/// owner has leases, but is not listed, not counted, and may join a full live.
package enum LeaseRequest: Hashable, Sendable {
    /// Adds the session of `member`, or extends its lease; if `removesOtherSessions`, also removes the user's other
    /// sessions.
    ///
    /// `earlierTicket` is the ticket of the session's earlier join; nil if the session joins for the first time.
    ///
    /// The join is rejected as `full` when the live has `limit` users and this user is not among them. The join is
    /// rejected as `ticketVoid` when the session left or was removed after its earlier join, or when the earlier ticket
    /// belongs to another user.
    case join(
        live: LiveKey, owner: UserID, member: MemberSession, limit: Int, earlierTicket: Ticket? = nil,
        removesOtherSessions: Bool = false)
    /// Removes a session, unless the session has joined again after the join of `ticket`.
    case leave(live: LiveKey, owner: UserID, user: UserID, session: SessionID, ticket: Ticket)
    /// Extends each lease, but never shortens one.
    ///
    /// The new end of a lease is the time of the heartbeat (now - `silentFor`) plus the duration of a lease. A user
    /// whose leases have expired gets a new lease.
    case heartbeats(live: LiveKey, owner: UserID, heartbeats: [Heartbeat])
    /// Adds the members that a gateway asserts: its sessions in the live, which it sends after the leases were lost.
    ///
    /// Unlike joins, the added users are not reported one by one: the result has only the live's new number of users.
    case assert(live: LiveKey, owner: UserID, members: [MemberSession])
    /// Removes all sessions of a user, and revokes the user's tickets.
    ///
    /// The tickets of a user without a session are revoked only if `includesAbsent`.
    case kick(live: LiveKey, user: UserID, includesAbsent: Bool)
    /// Changes the name or picture of a user who has a session, or whose session has expired recently.
    ///
    /// A request with a revoked ticket changes nothing.
    case rename(live: LiveKey, user: UserInfo, session: SessionID, ticket: Ticket)
    /// Removes all sessions of a live, because the live has ended or a live with the same id begins.
    case clear(live: LiveKey)
    /// Advances the time of the leases, so that leases expire, but at most `limit` of them in this request.
    case tick(limit: Int)
    /// Reads a page of the audience list, in the order in which users joined, starting after the ticket `after`; -1
    /// stands for the beginning of the list.
    case page(live: LiveKey, after: Int64, count: Int)
    /// Reads whether a user has any session in the live.
    case isMember(live: LiveKey, user: UserID)
    /// Reads the profile of a user with a session in the live.
    case profile(live: LiveKey, user: UserID)
}
