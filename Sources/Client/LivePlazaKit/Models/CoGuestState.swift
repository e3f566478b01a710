// SPDX-License-Identifier: Apache-2.0

/// The state of `CoGuestStore`.
public struct CoGuestState: Sendable, Hashable {
    /// The users on this live's seats.
    public var connected: [SeatUserInfo] = []
    /// The viewers whom this user has invited.
    public var invitees: [LiveUserInfo] = []
    /// The viewers who apply for a seat; empty unless this user is a host of the live.
    public var applicants: [LiveUserInfo] = []
    /// The viewers who can be invited, because they have no seat and are not invited already.
    public var candidates: [LiveUserInfo] = []

    /// Creates the initial state.
    public init() {}
}

/// An event of a request for a seat, for the owner and the admins.
public enum HostEvent: Sendable, Hashable {
    /// A viewer applies for a seat.
    case onGuestApplicationReceived(guestUser: LiveUserInfo)
    /// The viewer has withdrawn the application.
    case onGuestApplicationCancelled(guestUser: LiveUserInfo)
    /// Another host has answered the application.
    case onGuestApplicationProcessedByOtherHost(guestUser: LiveUserInfo, hostUser: LiveUserInfo)
    /// A viewer has answered an invitation.
    case onHostInvitationResponded(isAccept: Bool, guestUser: LiveUserInfo)
    /// A viewer has not answered an invitation.
    case onHostInvitationNoResponse(guestUser: LiveUserInfo, reason: NoResponseReason)
}

/// An event of a request for a seat, for viewers and guests.
public enum GuestEvent: Sendable, Hashable {
    /// A host invites this user.
    case onHostInvitationReceived(hostUser: LiveUserInfo)
    /// The host has withdrawn the invitation, or it has timed out.
    case onHostInvitationCancelled(hostUser: LiveUserInfo)
    /// A host has answered this user's application.
    case onGuestApplicationResponded(isAccept: Bool, hostUser: LiveUserInfo)
    /// No host has answered this user's application.
    case onGuestApplicationNoResponse(reason: NoResponseReason)
    /// A host has removed this user from its seat.
    case onKickedOffSeat(seatIndex: Int, hostUser: LiveUserInfo)
}

/// Why a request got no answer.
public enum NoResponseReason: Int, Sendable, Hashable {
    /// The request has timed out.
    case timeout
    /// The user is on a seat already.
    case alreadySeated
}
