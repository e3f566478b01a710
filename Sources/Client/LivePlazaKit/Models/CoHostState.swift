// SPDX-License-Identifier: Apache-2.0

/// What `CoHostStore` shows.
public struct CoHostState: Sendable, Hashable {
    /// Whether this live is connected with others.
    public var coHostStatus = CoHostStatus.disconnected
    /// The hosts of all connected lives, this one's among them.
    public var connected: [SeatUserInfo] = []
    /// The hosts who were asked.
    public var invitees: [SeatUserInfo] = []
    /// The host who asked last.
    public var applicant: SeatUserInfo?
    /// Hosts who could be asked.
    public var candidates: [SeatUserInfo] = []
    /// The cursor of the next page of candidates; empty at the end.
    public var candidatesCursor = ""
    /// Lives whose sound is left out of this live's mix.
    public var mutedLives: [String] = []

    /// The state at the beginning.
    public init() {}
}

/// What happens between hosts.
public enum CoHostEvent: Sendable, Hashable {
    /// A host asks this one.
    case onCoHostRequestReceived(inviter: SeatUserInfo, extensionInfo: String)
    /// A host took its request back.
    case onCoHostRequestCancelled(inviter: SeatUserInfo, invitee: SeatUserInfo?)
    /// A host accepted this one's request.
    case onCoHostRequestAccepted(invitee: SeatUserInfo)
    /// A host declined this one's request.
    case onCoHostRequestRejected(invitee: SeatUserInfo)
    /// A request's time is over.
    case onCoHostRequestTimeout(inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A host has joined the connection.
    case onCoHostUserJoined(userInfo: SeatUserInfo)
    /// A host has left the connection.
    case onCoHostUserLeft(userInfo: SeatUserInfo)
}

/// Whether a live is connected with others.
public enum CoHostStatus: Int, Sendable, Hashable {
    /// It is.
    case connected
    /// It is not.
    case disconnected
}

/// How connected hosts are arranged.
public enum CoHostLayoutTemplate: Int, Sendable, Hashable {
    /// Two groups of voices.
    case hostVoiceConnection = 2
    /// A grid of pictures.
    case hostDynamicGrid = 600
    /// One large picture and up to six small ones.
    case hostDynamic1v6 = 601
}
