// SPDX-License-Identifier: Apache-2.0

/// A textual identifier.
///
/// Each kind of identifier has its own type, so the compiler keeps them apart.
@usableFromInline
package protocol TextID: Hashable, Comparable, Sendable, Codable, CustomStringConvertible, ExpressibleByStringLiteral {
    /// The identifier's text.
    var text: String { get }
    /// An identifier from a valid text; untrusted input must use `init(checking:)` where there is one.
    init(_ text: String)
    /// Whether the id may contain a slash. Ids in record keys may not, because slashes separate the parts of a key.
    static var allowsSlash: Bool { get }
}

extension TextID {
    @inlinable package static var allowsSlash: Bool { false }
    @inlinable package init(stringLiteral text: String) { self.init(text) }
    @inlinable package var description: String { self.text }
    @inlinable package static func == (a: Self, b: Self) -> Bool { a.text == b.text }
    @inlinable package static func < (a: Self, b: Self) -> Bool { a.text < b.text }
    @usableFromInline package init(from decoder: any Decoder) throws {
        let values = try decoder.singleValueContainer()
        let text = try values.decode(String.self)
        // A machine could write a row whose key has an additional slash, but could not read it again.
        guard Self.allowsSlash || !text.utf8.contains(RecordKey.separator) else {
            throw DecodingError.dataCorruptedError(in: values, debugDescription: "is an id with a slash")
        }
        self.init(text)
    }
    @usableFromInline package func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(self.text)
    }
}

/// A textual identifier that clients may choose, so its form is checked.
package protocol CheckedTextID: TextID {
    /// Whether `text` has the form of such an identifier.
    static func isValid(_ text: String) -> Bool
}

extension CheckedTextID {
    /// An identifier from untrusted input; nil if it is not valid.
    package init?(checking text: String) {
        guard Self.isValid(text) else { return nil }
        self.init(text)
    }
}

/// The id of an app, that is, of a tenant; every other id belongs to one app.
@usableFromInline package struct AppID: CheckedTextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// 1 to 32 letters, digits, hyphens or underscores.
    package static func isValid(_ text: String) -> Bool { TextRule.isIdentifier(text, maxBytes: 32) }
}

/// A live's id, case sensitive (R1.6).
@usableFromInline package struct LiveID: CheckedTextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// Printable ASCII without blanks and `/`, 1 to 48 bytes (R1.6).
    package static func isValid(_ text: String) -> Bool { TextRule.isPrintable(text, maxBytes: 48) }
}

/// The id of a user within an app.
@usableFromInline package struct UserID: CheckedTextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// Letters, digits, hyphen, underscore, 1 to 32 bytes (R2.24).
    package static func isValid(_ text: String) -> Bool { TextRule.isIdentifier(text, maxBytes: 32) }
}

/// The id of a session, that is, of one login of one device.
///
/// A session continues over reconnects, because the client sends this id again.
@usableFromInline package struct SessionID: CheckedTextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// 1 to 40 letters, digits, hyphens or underscores.
    package static func isValid(_ text: String) -> Bool { TextRule.isIdentifier(text, maxBytes: 40) }
}

/// The id of a gateway process, to which replies are addressed.
@usableFromInline package struct GatewayID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// An operator chooses the id, and no row's key contains it.
    @inlinable package static var allowsSlash: Bool { true }
}

/// The id of a co-host connection between lives.
@usableFromInline package struct ConnectionID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
}

/// The id of a battle between connected lives.
@usableFromInline package struct BattleID: TextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
}

/// The id of a gift in an app's catalogue.
@usableFromInline package struct GiftID: CheckedTextID {
    @usableFromInline package let text: String
    @inlinable package init(_ text: String) { self.text = text }
    /// 1 to 32 letters, digits, hyphens or underscores.
    package static func isValid(_ text: String) -> Bool { TextRule.isIdentifier(text, maxBytes: 32) }
}

/// A live within its app: the key of most topics.
@usableFromInline package struct LiveKey: Hashable, Comparable, Sendable, Codable {
    @usableFromInline package var app: AppID
    @usableFromInline package var live: LiveID

    @inlinable package init(_ app: AppID, _ live: LiveID) {
        self.app = app
        self.live = live
    }
    /// The text of a record's key: `app/live`.
    package var text: String { "\(self.app.text)/\(self.live.text)" }
    /// Parses `app/live`, without checking the two ids; nil if the text contains no slash.
    package init?(text: some StringProtocol) {
        guard let slash = text.utf8.firstIndex(of: RecordKey.separator) else { return nil }
        self.init(AppID(String(text[..<slash])), LiveID(String(text[text.utf8.index(after: slash)...])))
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
    /// The text of a record's key: `app/user`.
    package var text: String { "\(self.app.text)/\(self.user.text)" }
    @inlinable package static func < (a: UserKey, b: UserKey) -> Bool {
        a.app != b.app ? a.app < b.app : a.user < b.user
    }
}

/// The proof of a join: the offset of the join in the inbox of presence, the machine that tracks the audience.
///
/// Later tickets of a live are greater, because offsets grow.
/// A kick raises the user's revocation floor, the lowest ticket that the user may still use. A command whose ticket is
/// below the floor is rejected (I6).
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

/// The identity of a call: the session, and a counter that grows with each call of the session (I15).
///
/// A client that sends a call again uses the same identity.
@usableFromInline package struct RequestID: Hashable, Sendable, Codable {
    @usableFromInline package var session: SessionID
    @usableFromInline package var counter: Int64

    @inlinable package init(session: SessionID, counter: Int64) {
        self.session = session
        self.counter = counter
    }
}

/// A position in a live's feed.
@usableFromInline package struct FeedPosition: Hashable, Comparable, Sendable, Codable {
    /// Distinguishes lives with the same id: the offset of the live's creation in the directory's inbox.
    @usableFromInline package var epoch: Int64
    /// The item's number in the live, from 1 without gaps (I7).
    @usableFromInline package var number: Int64

    @inlinable package init(epoch: Int64, number: Int64) {
        self.epoch = epoch
        self.number = number
    }
    /// The range of valid epochs, numbers and offsets in texts and headers.
    ///
    /// Sums of greater numbers could overflow.
    package static let validNumbers: ClosedRange<Int64> = 0...(1 << 62)

    @inlinable package static func < (a: FeedPosition, b: FeedPosition) -> Bool {
        a.epoch != b.epoch ? a.epoch < b.epoch : a.number < b.number
    }
}

/// Checks of the characters and the length of texts.
package enum TextRule {
    /// Whether `text` is 1 to `maxBytes` ASCII letters, digits, hyphens or underscores.
    package static func isIdentifier(_ text: String, maxBytes: Int) -> Bool {
        let bytes = text.utf8
        return !bytes.isEmpty && bytes.count <= maxBytes
            && bytes.allSatisfy {
                // Digits, upper-case letters, lower-case letters, the hyphen and the underscore.
                (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0) || $0 == 0x2D
                    || $0 == 0x5F
            }
    }
    /// Whether `text` is 1 to `maxBytes` printable ASCII characters other than blank and `/`.
    package static func isPrintable(_ text: String, maxBytes: Int) -> Bool {
        let bytes = text.utf8
        // 0x21 to 0x7E are the printable characters after the blank; 0x2F is `/`.
        return !bytes.isEmpty && bytes.count <= maxBytes
            && bytes.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x2F }
    }
}
