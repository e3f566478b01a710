// SPDX-License-Identifier: Apache-2.0
public import Foundation

/// The state of `BarrageStore`.
public struct BarrageState: Sendable, Hashable {
    /// The last 1,000 messages, oldest first.
    public var messageList: [Barrage] = []
    /// Whether the server would accept a message of this user.
    public var allowSendMessage = true

    /// Creates the initial state.
    public init() {}
}

/// A message.
public struct Barrage: Sendable, Hashable {
    /// The live.
    public var liveID = ""
    /// The author.
    public var sender = LiveUserInfo()
    /// The number in the live's feed.
    public var sequence = 0
    /// When the server received the message, in seconds since 1970.
    public var timestampInSecond: TimeInterval = 0
    /// The kind of the message, which decides which of the fields below are used.
    public var messageType = BarrageType.text
    /// The text of a text message.
    public var textContent = ""
    /// The app's own values of a text message.
    public var extensionInfo: [String: String]?
    /// The name of the app's feature to which a custom message belongs.
    public var businessID = ""
    /// The content of a custom message.
    public var data = ""
    /// Whether the app has added the message to the list of this client only.
    var isLocal = false

    /// Makes an empty text message.
    public init() {}
}

/// The kind of a message.
public enum BarrageType: Int, Sendable, Hashable {
    /// A text.
    case text
    /// A message whose content the app defines.
    case custom
}
