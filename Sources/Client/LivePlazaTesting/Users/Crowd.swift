// SPDX-License-Identifier: Apache-2.0

/// How a crowd of scripted users behaves in a live.
public struct Crowd: Sendable, Hashable {
    /// How many users the crowd has; all are in the live at first.
    public var viewers: Int
    /// The number of texts that all users together send per second.
    public var messagesPerSecond: Double
    /// The number of gifts that all users together send per second.
    public var giftsPerSecond: Double
    /// The number of likes that all users together send per second.
    public var likesPerSecond: Double
    /// How many users per second leave the live or enter it again.
    public var changesPerSecond: Double
    /// Whether the live is in a battle with another live, whose id is the live's id with the ending `-rival`.
    ///
    /// Only possible for a live that the crowd creates, because its owner must request the connection and the battle.
    public var hasBattle: Bool

    /// Creates a behaviour; the default values are those of a busy live.
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
