// SPDX-License-Identifier: Apache-2.0

/// How a crowd of scripted users behaves in a live.
public struct Crowd: Sendable, Hashable {
    /// How many users are in the live.
    public var viewers: Int
    /// Texts a second, of all users together.
    public var messagesPerSecond: Double
    /// Gifts a second.
    public var giftsPerSecond: Double
    /// Likes a second.
    public var likesPerSecond: Double
    /// How many users a second leave and enter again.
    public var changesPerSecond: Double
    /// Whether the live is in a battle with another one, which has the live's id with `-rival`.
    ///
    /// Only for a live that the crowd creates, because its owner must ask and accept.
    public var hasBattle: Bool

    /// Makes the behaviour of a lively evening.
    public init(
        viewers: Int = 50, messagesPerSecond: Double = 40, giftsPerSecond: Double = 1, likesPerSecond: Double = 5,
        changesPerSecond: Double = 0.5, hasBattle: Bool = false
    ) {
        self.viewers = viewers
        self.messagesPerSecond = messagesPerSecond
        self.giftsPerSecond = giftsPerSecond
        self.likesPerSecond = likesPerSecond
        self.changesPerSecond = changesPerSecond
        self.hasBattle = hasBattle
    }
}
