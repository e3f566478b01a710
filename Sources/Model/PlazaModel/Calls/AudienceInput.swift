// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// An input of presence, the machine that tracks the audience; keyed by live.
///
/// A presence epoch is one life of the lease data in Redis; a new one begins when Redis has lost the data.
package struct AudienceInput: Hashable, Sendable, Codable {
    /// The version of the record's format.
    package var v = 1
    package var key: LiveKey
    package var command: AudienceCommand

    package init(_ key: LiveKey, _ command: AudienceCommand) {
        self.key = key
        self.command = command
    }
}

/// One session of a member of a live's audience, as its gateway reports it.
package struct MemberSession: Hashable, Sendable, Codable {
    package var session: SessionID
    package var user: UserInfo
    package var ticket: Ticket
    /// The milliseconds between the client's last heartbeat and the gateway's write.
    package var silentFor: Int64

    package init(session: SessionID, user: UserInfo, ticket: Ticket, silentFor: Int64) {
        self.session = session
        self.user = user
        self.ticket = ticket
        self.silentFor = silentFor
    }
}

/// One heartbeat within a batch: only the fields that renew a lease.
package struct Heartbeat: Hashable, Sendable, Codable {
    package var session: SessionID
    package var user: UserID
    package var ticket: Ticket
    /// The milliseconds between the client's last heartbeat and the gateway's write.
    package var silentFor: Int64

    package init(session: SessionID, user: UserID, ticket: Ticket, silentFor: Int64) {
        self.session = session
        self.user = user
        self.ticket = ticket
        self.silentFor = silentFor
    }
}

/// Presence's commands.
///
/// Large payloads are indirect, so that frequent commands are cheap to move.
package enum AudienceCommand: Hashable, Sendable, Codable {
    /// The directory opened the live.
    case opened(epoch: Int64, owner: UserInfo)
    /// The live ended and its seats are empty: removes all members and forwards the end to the fan-out,
    /// the machine that writes the feeds.
    indirect case ended(epoch: Int64, ending: Ending)
    case join(caller: Caller)
    case leave(caller: Caller)
    case heartbeats(beats: [Heartbeat])
    /// A gateway's answer to a new presence epoch: the members that are connected to this gateway (I5).
    case assert(members: [MemberSession])
    /// Removes a user from the live; authorised by the directory.
    case kick(user: UserID, reason: KickReason, caller: Caller)
    /// Removes a user and rejects its joins until the given time; nil means permanently.
    ///
    /// The directory has authorised and answered the call. The user's notice names `caller`, the author of the ban.
    case banned(user: UserID, until: Timestamp?, caller: Caller?)
    /// The directory lifted a ban before its end.
    case unbanned(user: UserID)
    /// The directory muted a user or lifted the mute: publishes the change to the viewers, with the user's name if the
    /// user is in the live.
    case announceMute(user: UserID, isDisable: Bool, until: Timestamp?)
    /// The live's admins and its maximum number of users (0 means the app's limit); the directory sends each change.
    case rights(admins: [UserID], maxMembers: Int)
    /// The caller changed its name or avatar: updates the audience list and the seat, and publishes the change to all
    /// viewers.
    case profile(caller: Caller)
    /// A leave without a reply: a gateway closed the session permanently, because its user signed in elsewhere or its
    /// token expired.
    case signOff(session: SessionID, user: UserID, ticket: Ticket)
    /// Answers with a page of the list; an empty cursor gives the first page.
    case list(cursor: String, count: Int, caller: Caller)
    /// Checks for the directory that the user is a member, before the directory makes the user an admin.
    ///
    /// Presence confirms the membership to the directory, or answers the caller that the user is not a member.
    case verifyAdminMembership(user: UserID, caller: Caller)
    /// Checks for the seat machine that the user is a member, before a host's offer of a seat reaches the user.
    ///
    /// Presence returns the offer with the user's current profile, or answers the caller that the user is not a member.
    case verifyGuestMembership(user: UserID, offer: SeatOffer, caller: Caller)
    /// After a new presence epoch has settled, the seat machine, the connection machine or presence itself asks whether
    /// the user is still in the live; a user without a lease has left.
    case confirm(user: UserID)

    /// The names on the wire.
    private enum CodingKeys: String, CodingKey {
        case opened, ended, join, leave, heartbeats, assert, kick, banned, unbanned, announceMute, rights, profile,
            signOff, list, confirm
        case verifyAdminMembership = "vouchAdmin"
        case verifyGuestMembership = "vouchGuest"
    }
}
