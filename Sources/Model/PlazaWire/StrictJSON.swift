// SPDX-License-Identifier: Apache-2.0

/// A JSON text with an index of its values, made in one scan.
///
/// The scan validates the whole text by RFC 8259, including members that are never read. Values are converted only when
/// they are read (`StrictJSON+Values.swift`, `StrictJSON+Numbers.swift`).
package struct StrictJSON: Sendable {
    /// The deepest nesting of objects and lists.
    package static let depthLimit = 512

    /// The kind of an entry.
    enum Kind: UInt8 {
        case null
        case falseLiteral
        case trueLiteral
        /// A number without fraction and exponent.
        case integer
        /// Any other number.
        case number
        /// A string of ASCII characters without escape sequences, whose bytes need no conversion.
        case plainText
        /// Any other string.
        case text
        case object
        case list

        var isText: Bool { self == .plainText || self == .text }
    }

    /// A value, or the name of a member.
    struct Entry {
        var kind: Kind
        /// The index of the first byte; for a string, of the byte after the opening quotation mark.
        var start: UInt32
        /// The index after the last byte; for a string, of the closing quotation mark.
        var end: UInt32
        /// For an object or list, the index of the first entry after its contents.
        ///
        /// Until the scan reaches the closing bracket, this is the index of the enclosing object or list.
        var entryAfter: UInt32
    }

    /// The text's bytes.
    let bytes: [UInt8]
    /// The values in the order of the text, the whole value first; a member's name precedes its value.
    let entries: [Entry]

    /// Scans `bytes`; returns nil unless they are exactly one JSON value in valid UTF-8.
    ///
    /// A leading byte order mark is allowed.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count < Int(UInt32.max), let entries = Self.scan(bytes.span) else { return nil }
        self.bytes = bytes
        self.entries = entries
    }
}
