// SPDX-License-Identifier: Apache-2.0

/// A JSON text with the place of each of its values, found in one scan.
///
/// The scan accepts what RFC 8259 allows and nothing else, also in members that nobody reads. Values are converted when
/// they are read (`StrictJSON+Values.swift`), so a member that nobody reads costs its scan only.
package struct StrictJSON: Sendable {
    /// The deepest nesting of objects and lists.
    package static let depthLimit = 512

    /// What an entry stands for.
    enum Kind: UInt8 {
        case null
        case no
        case yes
        /// A number without fraction and exponent.
        case integer
        case number
        /// A string of ASCII characters without escape sequences: its bytes are its text.
        case plainText
        case text
        case object
        case list

        var isText: Bool { self == .plainText || self == .text }
    }

    /// A value, or the name of a member.
    struct Entry {
        var kind: Kind
        /// The index of its first byte; for a string, of the byte after the quotation mark.
        var start: UInt32
        /// The index after its last byte; for a string, of the closing quotation mark.
        var end: UInt32
        /// For an object or list, the index of the first entry that is not part of it.
        ///
        /// While the scan is inside, it is the index of the enclosing object or list.
        var next: UInt32
    }

    /// The text's bytes.
    let bytes: [UInt8]
    /// The values in the order of the text, the whole value first; a member's name precedes its value.
    let entries: [Entry]

    /// Scans `bytes`; nil: they are not exactly one JSON value in valid UTF-8.
    ///
    /// A leading byte order mark is allowed.
    package init?(_ bytes: [UInt8]) {
        guard bytes.count < Int(UInt32.max), let entries = Self.scan(bytes.span) else { return nil }
        self.bytes = bytes
        self.entries = entries
    }

    /// The tokens that the grammar allows next.
    private enum Next {
        case value
        /// After `[`: a value or `]`.
        case valueOrEnd
        /// After a comma in an object: a member's name.
        case name
        /// After `{`: a member's name or `}`.
        case nameOrEnd
        /// After a value: a comma, or the end of the enclosing object or list.
        case more
    }

    /// In place of an index: the value is in no object or list.
    private static let outermost = UInt32.max

    private static func scan(_ bytes: Span<UInt8>) -> [Entry]? {
        let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        var entries: [Entry] = []
        entries.reserveCapacity(min(bytes.count / 8 + 1, 64))
        var isASCII = true
        var depth = 0
        var container = Self.outermost
        var isInObject = false
        var next = Next.value
        var index = hasMark ? 3 : 0
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "\""):
                guard next != .more, let text = Self.text(bytes, from: index + 1) else { return nil }
                isASCII = isASCII && text.isASCII
                entries.append(Self.entry(text.isPlain ? .plainText : .text, index + 1, text.end))
                index = text.end + 1
                if next == .value || next == .valueOrEnd {
                    next = .more
                    continue
                }
                while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
                guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
                index += 1
                next = .value
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard next == .value || next == .valueOrEnd, depth < Self.depthLimit else { return nil }
                isInObject = byte == UInt8(ascii: "{")
                var entry = Self.entry(isInObject ? .object : .list, index, index)
                entry.next = container
                container = UInt32(entries.count)
                entries.append(entry)
                depth += 1
                next = isInObject ? .nameOrEnd : .valueOrEnd
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                let isObject = byte == UInt8(ascii: "}")
                guard depth > 0, isObject == isInObject, next == .more || next == (isObject ? .nameOrEnd : .valueOrEnd)
                else { return nil }
                let enclosing = entries[Int(container)].next
                entries[Int(container)].end = UInt32(index + 1)
                entries[Int(container)].next = UInt32(entries.count)
                container = enclosing
                isInObject = enclosing != Self.outermost && entries[Int(enclosing)].kind == .object
                depth -= 1
                next = .more
                index += 1
            case UInt8(ascii: ","):
                guard next == .more, depth > 0 else { return nil }
                next = isInObject ? .name : .value
                index += 1
            default:
                guard next == .value || next == .valueOrEnd, let word = Self.word(bytes, from: index) else {
                    return nil
                }
                entries.append(Self.entry(word.kind, index, word.end))
                next = .more
                index = word.end
            }
        }
        guard next == .more, depth == 0 else { return nil }
        // The grammar has ASCII characters only, except in strings.
        if !isASCII {
            do { _ = try UTF8Span(validating: bytes) } catch { return nil }
        }
        return entries
    }

    /// The indices are less than `UInt32.max`, because the count of the bytes is.
    private static func entry(_ kind: Kind, _ start: Int, _ end: Int) -> Entry {
        Entry(kind: kind, start: UInt32(start), end: UInt32(end), next: 0)
    }
}
