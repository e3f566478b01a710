// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// One request to the leases of a partition: a call of a Redis script, as a value.
///
/// `page`, `isMember` and `profile` only read. All others change the leases; each takes effect at most once for each
/// inbox offset.
package enum LeaseRequest: Hashable, Sendable {
    /// Adds a session, or refreshes it. If `isOnly`, the user's other sessions are removed.
    ///
    /// Rejected as `full` when the live has `limit` users and this user is not among them. Rejected as `ticketVoid`
    /// when the session left or was removed after its join with the ticket `since`, or when that ticket belongs to
    /// another user.
    case join(
        live: LiveKey, owner: UserID, member: Presence, limit: Int, since: Ticket? = nil, isOnly: Bool = false)
    /// Removes a session, unless it has joined again since `ticket`.
    case leave(live: LiveKey, owner: UserID, user: UserID, session: SessionID, ticket: Ticket)
    /// Extends each lease to now − `silentFor` + lease; never shortens one. Adds users whose leases have expired
    /// again.
    case heartbeats(live: LiveKey, owner: UserID, heartbeats: [Heartbeat])
    /// Adds the members that a gateway asserts; only the count is reported.
    case assert(live: LiveKey, owner: UserID, members: [Presence])
    /// Removes all sessions of a user. If `isUnsure`, also revokes sessions that have no lease.
    case kick(live: LiveKey, user: UserID, isUnsure: Bool)
    /// Changes the name or picture of a user who has a session, or had one until recently. A void ticket changes
    /// nothing.
    case rename(live: LiveKey, user: UserInfo, session: SessionID, ticket: Ticket)
    /// Removes all sessions of a live, because it has ended or a live of the same name begins.
    case clear(live: LiveKey)
    /// Advances the time of the leases; at most `limit` of them expire.
    case tick(limit: Int)
    /// Reads a page of the viewer list, in the order in which users joined, starting after the ticket `after`.
    case page(live: LiveKey, after: Int64, count: Int)
    /// Reads whether a user has any session in the live.
    case isMember(live: LiveKey, user: UserID)
    /// Reads the profile of a user with a session in the live.
    case profile(live: LiveKey, user: UserID)
}
