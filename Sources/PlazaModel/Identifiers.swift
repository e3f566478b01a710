// SPDX-License-Identifier: Apache-2.0

/// A name made of text, a type of its own so that no two kinds are mixed up.
@usableFromInline
package protocol TextID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The name as it is written.
    var text: String { get }
    /// A name that is known to be good; outside input goes through `init(checking:)` where there is one.
    init(_ text: String)
}

extension TextID {
    @inlinable package init(stringLiteral text: String) { self.init(text) }
    @inlinable package var description: String { self.text }
    @inlinable package static func == (a: Self, b: Self) -> Bool { a.text == b.text }
    @inlinable package static func < (a: Self, b: Self) -> Bool { a.text < b.text }
    @usableFromInline package init(from decoder: any Decoder) throws {
        self.init(try decoder.singleValueContainer().decode(String.self))
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.text)
    }
}

/// A tenant, inside which every other id lives.
@usableFromInline package struct AppID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// An app's name from outside: 1 to 32 letters, digits, hyphens or underscores.
    package init?(checking text: String) {
        guard TextRule.isWord(text, maxBytes: 32) else { return nil }
        self.text = text
    }
}

/// A live room's name, case sensitive (reference 1).
@usableFromInline package struct LiveID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// A live's name from outside: printable ASCII without blanks and `/`, 1 to 48 bytes (reference 3.2 and 20).
    package init?(checking text: String) {
        guard TextRule.isPrintable(text, maxBytes: 48) else { return nil }
        self.text = text
    }
}

/// A user of an app.
@usableFromInline package struct UserID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// A user's name from outside: letters, digits, hyphen, underscore, 1 to 32 bytes (reference 2).
    package init?(checking text: String) {
        guard TextRule.isWord(text, maxBytes: 32) else { return nil }
        self.text = text
    }
}

/// One login of one device: outlives its connections, for a client that reconnects names it again.
@usableFromInline package struct SessionID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// A session's name from outside: 1 to 40 letters, digits, hyphens or underscores.
    package init?(checking text: String) {
        guard TextRule.isWord(text, maxBytes: 40) else { return nil }
        self.text = text
    }
}

/// One gateway process; replies are addressed to it.
@usableFromInline package struct GatewayID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
}

/// A co-host connection between lives.
@usableFromInline package struct ConnectionID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
}

/// A battle between connected lives.
@usableFromInline package struct BattleID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
}

/// A gift of an app's catalogue.
@usableFromInline package struct GiftID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// A gift's name from outside: 1 to 32 letters, digits, hyphens or underscores.
    package init?(checking text: String) {
        guard TextRule.isWord(text, maxBytes: 32) else { return nil }
        self.text = text
    }
}

/// A live within its app: the key of most topics.
@usableFromInline package struct LiveKey: Hashable, Comparable, Sendable, Codable {
    @usableFromInline package var app: AppID
    @usableFromInline package var live: LiveID

    @inlinable package init(_ app: AppID, _ live: LiveID) {
        self.app = app
        self.live = live
    }
    /// `app/live`, as it stands in a record's key.
    package var text: String { "\(self.app.text)/\(self.live.text)" }
    /// The key that `text` spells.
    package init?(text: some StringProtocol) {
        guard let slash = text.firstIndex(of: "/") else { return nil }
        self.init(AppID(String(text[..<slash])), LiveID(String(text[text.index(after: slash)...])))
    }
    @inlinable package static func < (a: LiveKey, b: LiveKey) -> Bool {
        a.app != b.app ? a.app < b.app : a.live < b.live
    }
}

/// A user within its app.
@usableFromInline package struct UserKey: Hashable, Comparable, Sendable, Codable {
    @usableFromInline package var app: AppID
    @usableFromInline package var user: UserID

    @inlinable package init(_ app: AppID, _ user: UserID) {
        self.app = app
        self.user = user
    }
    /// `app/user`, as it stands in a record's key.
    package var text: String { "\(self.app.text)/\(self.user.text)" }
    /// The key that `text` spells.
    package init?(text: some StringProtocol) {
        guard let slash = text.firstIndex(of: "/") else { return nil }
        self.init(AppID(String(text[..<slash])), UserID(String(text[text.index(after: slash)...])))
    }
    @inlinable package static func < (a: UserKey, b: UserKey) -> Bool {
        a.app != b.app ? a.app < b.app : a.user < b.user
    }
}

/// What a join gives: the offset of the join in the inbox of presence, so tickets of a live only grow.
///
/// A command stamped with a ticket below the user's floor comes from before a kick and is refused (I6).
@usableFromInline package struct Ticket: Hashable, Comparable, Sendable, Codable {
    @usableFromInline package var offset: Int64
    @inlinable package init(_ offset: Int64) { self.offset = offset }
    @inlinable package static func < (a: Ticket, b: Ticket) -> Bool { a.offset < b.offset }
    @usableFromInline package init(from decoder: any Decoder) throws {
        self.offset = try decoder.singleValueContainer().decode(Int64.self)
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.offset)
    }
}

/// Which request this is, however often it is sent: the session and a counter that grows with each call (I15).
@usableFromInline package struct RequestID: Hashable, Sendable, Codable {
    @usableFromInline package var session: SessionID
    @usableFromInline package var counter: Int64

    @inlinable package init(session: SessionID, counter: Int64) {
        self.session = session
        self.counter = counter
    }
}

/// A place in a live's feed: which incarnation of the live, and the item's number in it, from 1 without holes (I7).
@usableFromInline package struct FeedPosition: Hashable, Comparable, Sendable, Codable {
    /// Fixed when the live is created: the offset of its creation in the directory's inbox.
    @usableFromInline package var epoch: Int64
    @usableFromInline package var number: Int64

    @inlinable package init(epoch: Int64, number: Int64) {
        self.epoch = epoch
        self.number = number
    }
    @inlinable package static func < (a: FeedPosition, b: FeedPosition) -> Bool {
        a.epoch != b.epoch ? a.epoch < b.epoch : a.number < b.number
    }
}

/// Which characters and lengths names may have.
package enum TextRule {
    /// Whether `text` is 1 to `maxBytes` ASCII letters, digits, hyphens or underscores.
    package static func isWord(_ text: String, maxBytes: Int) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= maxBytes
            && bytes.allSatisfy {
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
                    || $0 == 0x5F
            }
    }
    /// Whether `text` is 1 to `maxBytes` printable ASCII characters other than blank and `/`.
    package static func isPrintable(_ text: String, maxBytes: Int) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= maxBytes
            && bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2F }
    }
}
