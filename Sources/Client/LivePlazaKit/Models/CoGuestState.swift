// SPDX-License-Identifier: Apache-2.0

/// What `CoGuestStore` shows.
public struct CoGuestState: Sendable, Hashable {
    /// The users on this live's seats.
    public var connected: [SeatUserInfo] = []
    /// Who was invited by this user.
    public var invitees: [LiveUserInfo] = []
    /// Who asks for a seat; for hosts.
    public var applicants: [LiveUserInfo] = []
    /// Viewers who neither sit nor are invited.
    public var candidates: [LiveUserInfo] = []

    /// The state at the beginning.
    public init() {}
}

/// What happens to requests for seats, for owner and admins.
public enum HostEvent: Sendable, Hashable {
    /// A viewer asks for a seat.
    case onGuestApplicationReceived(guestUser: LiveUserInfo)
    /// The viewer took it back.
    case onGuestApplicationCancelled(guestUser: LiveUserInfo)
    /// Another host answered.
    case onGuestApplicationProcessedByOtherHost(guestUser: LiveUserInfo, hostUser: LiveUserInfo)
    /// A viewer answered an invitation.
    case onHostInvitationResponded(isAccept: Bool, guestUser: LiveUserInfo)
    /// A viewer did not answer an invitation.
    case onHostInvitationNoResponse(guestUser: LiveUserInfo, reason: NoResponseReason)
}

/// What happens to requests for seats, for viewers and guests.
public enum GuestEvent: Sendable, Hashable {
    /// A host invites this user.
    case onHostInvitationReceived(hostUser: LiveUserInfo)
    /// The host took it back, or its time is over.
    case onHostInvitationCancelled(hostUser: LiveUserInfo)
    /// A host answered this user's application.
    case onGuestApplicationResponded(isAccept: Bool, hostUser: LiveUserInfo)
    /// No host answered it.
    case onGuestApplicationNoResponse(reason: NoResponseReason)
    /// A host put this user off its seat.
    case onKickedOffSeat(seatIndex: Int, hostUser: LiveUserInfo)
}

/// Why a request got no answer.
public enum NoResponseReason: Int, Sendable, Hashable {
    /// Its time is over.
    case timeout
    /// The user sits already.
    case alreadySeated
}
