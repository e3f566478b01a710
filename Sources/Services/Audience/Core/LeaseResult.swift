// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// The result of a lease request.
package enum LeaseResult: Hashable, Sendable {
    /// The request has no result, because Redis could not be reached or a script failed.
    case unavailable
    /// The changes that the request made, or the reason why a join was rejected; empty when the request changed
    /// nothing.
    case changed([LeaseChange])
    /// One page of the audience list, and the number of users in the live.
    ///
    /// `next` is the ticket after which the next page begins; nil for the last page.
    case page(members: [AudienceMember], next: Int64?, count: Int)
    /// Whether the user has a session in the live.
    case membership(isMember: Bool)
    /// The user's profile; nil when the user has no session in the live.
    case profile(UserInfo?)

    /// The result of a request that changed nothing, or of an input without a request.
    package static let nothing = LeaseResult.changed([])

    /// The changes that the request made; empty if the request only reads, and when Redis could not be reached.
    package var changes: [LeaseChange] { if case .changed(let changes) = self { changes } else { [] } }
}

/// One change to the leases, or the rejection of a join.
///
/// `count` is the number of users in the live after the change, without the owner.
package enum LeaseChange: Hashable, Sendable {
    /// The session joined.
    ///
    /// - `isFirst`: the user had no session before.
    /// - `replacesOthers`: the user's other sessions were removed.
    /// - `isRenamed`: the name or picture of a user who had a session has changed.
    case joined(isFirst: Bool, count: Int, replacesOthers: Bool = false, isRenamed: Bool = false)
    /// The join was rejected: the live is full.
    case full
    /// The join was rejected: its earlier ticket is no longer valid.
    case ticketVoid
    /// The session left. `isLast`: the user has no other session.
    case left(user: UserInfo, isLast: Bool, count: Int)
    /// The user was removed with all sessions.
    case kicked(user: UserInfo, count: Int)
    /// The user's last lease expired.
    case expired(live: LiveKey, user: UserInfo, count: Int)
    /// A heartbeat arrived for a user whose leases had expired, so the user is in the live again.
    case returned(user: UserInfo, count: Int)
    /// A user in the live has changed its name or picture.
    case renamed
    /// An assertion (a gateway's list of its sessions) changed the count.
    case asserted(count: Int)
}
