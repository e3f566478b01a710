// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// What `BarrageStore` shows.
public struct BarrageState: Sendable, Hashable {
    /// The last 1,000 messages, oldest first.
    public var messageList: [Barrage] = []
    /// The server would take a message of this user.
    public var allowSendMessage = true

    /// The state at the beginning.
    public init() {}
}

/// A message.
public struct Barrage: Sendable, Hashable {
    /// The live.
    public var liveID = ""
    /// Who wrote it.
    public var sender = LiveUserInfo()
    /// The number in the live's feed.
    public var sequence = 0
    /// When the server got it, in seconds since 1970.
    public var timestampInSecond: TimeInterval = 0
    /// Which of the further fields are used.
    public var messageType = BarrageType.text
    /// The text of a text message.
    public var textContent = ""
    /// The app's own values of a text message.
    public var extensionInfo: [String: String]?
    /// The feature of a custom message.
    public var businessID = ""
    /// The content of a custom message.
    public var data = ""
    /// The app has put it into its own list.
    var isLocal = false

    /// An empty text message.
    public init() {}
}

/// The kind of a message.
public enum BarrageType: Int, Sendable, Hashable {
    /// A text.
    case text
    /// Of the app's own kind.
    case custom
}
