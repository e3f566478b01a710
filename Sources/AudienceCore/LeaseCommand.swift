// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// One change or question to the leases of a partition: a Redis script as a value.
///
/// All but `page`, `isMember` and `profile` change something, at most once for each offset of the inbox.
package enum LeaseCommand: Hashable, Sendable {
    /// Adds a session, or refreshes it; with `isOnly` the user's other sessions give way.
    ///
    /// Refused as full when the live has `limit` users already and this is one more; and as void when it was in with the
    /// ticket `since`, and was put out or left after that, or when another user is in by that ticket.
    case join(
        live: LiveKey, owner: UserID, member: Presence, limit: Int, since: Ticket? = nil, isOnly: Bool = false)
    /// Removes a session, unless it has joined again since `ticket`.
    case leave(live: LiveKey, owner: UserID, user: UserID, session: SessionID, ticket: Ticket)
    /// Extends leases to now − silentFor + lease, never shortens one; brings back who has expired meanwhile.
    case beats(live: LiveKey, owner: UserID, beats: [Beat])
    /// Takes in who a gateway says is here, without a word to anybody.
    case assert(live: LiveKey, owner: UserID, members: [Presence])
    /// Removes all sessions of a user; when `isUnsure`, also those that the leases do not know stay out.
    case kick(live: LiveKey, user: UserID, isUnsure: Bool)
    /// Shows a user under another name or picture, if it has a session, or had one until lately; not by a void ticket.
    case rename(live: LiveKey, user: UserInfo, session: SessionID, ticket: Ticket)
    /// Removes everybody: the live has ended, or one of the same name begins.
    case clear(live: LiveKey)
    /// Lets time pass, and at most `limit` leases expire.
    case tick(limit: Int)
    /// Reads a page of the list in the order of joining, beginning after the ticket `after`.
    case page(live: LiveKey, after: Int64, count: Int)
    /// Reads whether a user has any session in the live.
    case isMember(live: LiveKey, user: UserID)
    /// Reads how a user is shown who has a session in the live.
    case profile(live: LiveKey, user: UserID)
}

/// What a command changed, as it stands in the outbox: told once, in the transaction of its offset.
package struct LeaseEntry: Hashable, Sendable {
    /// Grows by one with each entry of the partition.
    package var id: Int64
    /// The offset of the input that changed it.
    package var offset: Int64
    package var change: LeaseChange

    package init(id: Int64, offset: Int64, _ change: LeaseChange) {
        self.id = id
        self.offset = offset
        self.change = change
    }
}

/// What changed.
///
/// `count` is the users in the live after the change, the owner not counted.
package enum LeaseChange: Hashable, Sendable {
    /// The session is in; `isFirst`: the user was not before; `replaces`: other sessions of the user are out; `isRenamed`:
    /// the user was in, and is shown otherwise now.
    case joined(isFirst: Bool, count: Int, replaces: Bool = false, isRenamed: Bool = false)
    /// The join was refused.
    case full
    /// The join was refused: what it was to go on with is over.
    case void
    /// The session is out; `isLast`: the user with it.
    case left(user: UserInfo, isLast: Bool, count: Int)
    /// The user and all its sessions are out.
    case kicked(user: UserInfo, count: Int)
    /// The user's last lease ended.
    case expired(live: LiveKey, user: UserInfo, count: Int)
    /// A sign of life of a user whose leases had ended: it is in again.
    case back(user: UserInfo, count: Int)
    /// A user who is in is shown otherwise from now on.
    case renamed
    /// An assertion changed the count.
    case asserted(count: Int)
}

/// What a question gave.
package enum LeaseAnswer: Hashable, Sendable {
    /// The command was a change; what it did stands in the outbox.
    case none
    /// `next` is the ticket after which the next page begins, nil at the end.
    case page(members: [AudienceMember], next: Int64?, count: Int)
    case isMember(Bool)
    /// Nil: the user has no session in the live.
    case profile(UserInfo?)
}

/// What became of a step's command.
package enum LeaseResult: Hashable, Sendable {
    /// The leases cannot be reached.
    case away
    /// The command is done: the entries of its offset, and the answer if it was a question.
    case done(entries: [LeaseEntry], answer: LeaseAnswer)

    /// Done, with nothing to tell.
    package static let nothing = LeaseResult.done(entries: [], answer: .none)
}
