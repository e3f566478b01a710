// SPDX-License-Identifier: Apache-2.0

/// What `LiveAudienceStore` shows.
public struct LiveAudienceState: Sendable, Hashable {
    /// At most 200 viewers.
    public var audienceList: [LiveUserInfo] = []
    /// How many watch; it can be far larger than the list.
    public var audienceCount: UInt = 0
    /// The count may be out of date, because the server cannot reach its store.
    public var isAudienceCountStale = false
    /// The admins.
    public var adminList: [LiveUserInfo] = []
    /// Who may not write.
    public var messageBannedUserList: [LiveUserInfo] = []

    /// The state at the beginning.
    public init() {}
}

/// What happens among the viewers.
public enum LiveAudienceEvent: Sendable, Hashable {
    /// A viewer came. While a live is hot some of these events are left out.
    case onAudienceJoined(audience: LiveUserInfo)
    /// A viewer went. While a live is hot some of these events are left out.
    case onAudienceLeft(audience: LiveUserInfo)
    /// A viewer may not write any more, or may again.
    case onAudienceMessageDisabled(audience: LiveUserInfo, isDisable: Bool)
}
