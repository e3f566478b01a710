// SPDX-License-Identifier: Apache-2.0

/// The state of `CoHostStore`.
public struct CoHostState: Sendable, Hashable {
    /// Whether this live is connected with others.
    public var coHostStatus = CoHostStatus.disconnected
    /// The hosts of all connected lives, including the host of this live.
    public var connected: [SeatUserInfo] = []
    /// The hosts who were asked to connect.
    public var invitees: [SeatUserInfo] = []
    /// The host whose request to connect with this live came last; nil if no such request is open.
    public var applicant: SeatUserInfo?
    /// The hosts who could be asked to connect.
    public var candidates: [SeatUserInfo] = []
    /// The cursor of the next page of candidates; empty at the end.
    public var candidatesCursor = ""
    /// The lives whose sound is left out of this live's mix.
    public var mutedLives: [String] = []

    /// Creates the initial state.
    public init() {}
}

/// An event between hosts of different lives.
public enum CoHostEvent: Sendable, Hashable {
    /// The host of another live asks this host to connect.
    case onCoHostRequestReceived(inviter: SeatUserInfo, extensionInfo: String)
    /// A host has withdrawn its request.
    case onCoHostRequestCancelled(inviter: SeatUserInfo, invitee: SeatUserInfo?)
    /// Another host has accepted this host's request.
    case onCoHostRequestAccepted(invitee: SeatUserInfo)
    /// Another host has declined this host's request.
    case onCoHostRequestRejected(invitee: SeatUserInfo)
    /// A request has timed out.
    case onCoHostRequestTimeout(inviter: SeatUserInfo, invitee: SeatUserInfo)
    /// A host has joined the connection.
    case onCoHostUserJoined(userInfo: SeatUserInfo)
    /// A host has left the connection.
    case onCoHostUserLeft(userInfo: SeatUserInfo)
}

/// Whether a live is connected with others.
public enum CoHostStatus: Int, Sendable, Hashable {
    /// The live is connected.
    case connected
    /// The live is not connected.
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
