// SPDX-License-Identifier: Apache-2.0

/// The state of `LikeStore`.
public struct LikeState: Sendable, Hashable {
    /// All likes, as the server counts them.
    public var totalLikeCount: UInt = 0

    /// Creates the initial state.
    public init() {}
}

/// An event of the likes of a live.
public enum LikeEvent: Sendable, Hashable {
    /// A user, perhaps this user, sent likes; `totalLikesReceived` is the live's total, which includes these likes.
    case onReceiveLikesMessage(liveID: String, totalLikesReceived: UInt, sender: LiveUserInfo)
}
