// SPDX-License-Identifier: Apache-2.0

/// The state of `LiveAudienceStore`.
public struct LiveAudienceState: Sendable, Hashable {
    /// The viewers; at most 200 of them.
    public var audienceList: [LiveUserInfo] = []
    /// The number of viewers, which can be far larger than the list.
    public var audienceCount: UInt = 0
    /// Whether the count may be out of date, because the server has lost its data on who is in the live.
    public var isAudienceCountStale = false
    /// The admins.
    public var adminList: [LiveUserInfo] = []
    /// The muted users, this user among them: the owner and admins read at most 1,000, viewers at most 100.
    public var messageBannedUserList: [LiveUserInfo] = []

    /// Creates the initial state.
    public init() {}
}

/// An event of the audience.
public enum LiveAudienceEvent: Sendable, Hashable {
    /// A viewer has joined. In a very busy live some of these events are left out.
    case onAudienceJoined(audience: LiveUserInfo)
    /// A viewer has left. In a very busy live some of these events are left out.
    case onAudienceLeft(audience: LiveUserInfo)
    /// A viewer was muted or unmuted.
    case onAudienceMessageDisabled(audience: LiveUserInfo, isDisable: Bool)
}
