// SPDX-License-Identifier: Apache-2.0

/// A JSON text with an index of its values, made in one scan.
///
/// The scan validates the whole text by RFC 8259, including members that are never read. Values are converted only when
/// they are read (`StrictJSON+Values.swift`).
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
        /// For an object or list, the index of the first entry behind its contents.
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

    /// The tokens that the grammar allows at a place of the text.
    private enum Expectation {
        case value
        /// After `[`: a value or `]`.
        case valueOrEnd
        /// After a comma in an object: a member's name.
        case name
        /// After `{`: a member's name or `}`.
        case nameOrEnd
        /// After a value: a comma, or the end of the enclosing object or list.
        case commaOrEnd
    }

    /// Used instead of a container's index for a value that is in no object or list.
    private static let noContainer = UInt32.max

    /// Validates the text, and makes an entry for each value and each name; nil if the text is malformed.
    private static func scan(_ bytes: Span<UInt8>) -> [Entry]? {
        let hasByteOrderMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        var entries: [Entry] = []
        entries.reserveCapacity(min(bytes.count / 8 + 1, 64))
        var isASCII = true
        var depth = 0
        var container = Self.noContainer
        var isInObject = false
        var expected = Expectation.value
        var index = hasByteOrderMark ? 3 : 0
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "\""):
                guard expected != .commaOrEnd, let text = Self.text(bytes, from: index + 1) else { return nil }
                isASCII = isASCII && text.isASCII
                entries.append(Self.entry(text.isPlain ? .plainText : .text, index + 1, text.end))
                index = text.end + 1
                if expected == .value || expected == .valueOrEnd {
                    expected = .commaOrEnd
                    continue
                }
                // The string is a member's name, so a colon must follow.
                while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
                guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
                index += 1
                expected = .value
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard expected == .value || expected == .valueOrEnd, depth < Self.depthLimit else { return nil }
                isInObject = byte == UInt8(ascii: "{")
                var entry = Self.entry(isInObject ? .object : .list, index, index)
                entry.entryAfter = container
                container = UInt32(entries.count)
                entries.append(entry)
                depth += 1
                expected = isInObject ? .nameOrEnd : .valueOrEnd
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                let isObject = byte == UInt8(ascii: "}")
                guard depth > 0, isObject == isInObject,
                    expected == .commaOrEnd || expected == (isObject ? .nameOrEnd : .valueOrEnd)
                else { return nil }
                let enclosing = entries[Int(container)].entryAfter
                entries[Int(container)].end = UInt32(index + 1)
                entries[Int(container)].entryAfter = UInt32(entries.count)
                container = enclosing
                isInObject = enclosing != Self.noContainer && entries[Int(enclosing)].kind == .object
                depth -= 1
                expected = .commaOrEnd
                index += 1
            case UInt8(ascii: ","):
                guard expected == .commaOrEnd, depth > 0 else { return nil }
                expected = isInObject ? .name : .value
                index += 1
            default:
                guard expected == .value || expected == .valueOrEnd,
                    let token = Self.numberOrLiteral(bytes, from: index)
                else { return nil }
                entries.append(Self.entry(token.kind, index, token.end))
                expected = .commaOrEnd
                index = token.end
            }
        }
        guard expected == .commaOrEnd, depth == 0 else { return nil }
        // Outside strings, the scan has accepted ASCII alone.
        return isASCII || Self.isUTF8(bytes) ? entries : nil
    }

    private static func isUTF8(_ bytes: Span<UInt8>) -> Bool {
        #if canImport(Darwin)
        // The oldest Apple systems that apps run on have no `UTF8Span`.
        var copy: [UInt8] = []
        copy.reserveCapacity(bytes.count)
        for index in bytes.indices { copy.append(bytes[index]) }
        var (parser, iterator) = (Unicode.UTF8.ForwardParser(), copy.makeIterator())
        while true {
            switch parser.parseScalar(from: &iterator) {
            case .valid: continue
            case .emptyInput: return true
            case .error: return false
            }
        }
        #else
        do { _ = try UTF8Span(validating: bytes) } catch { return false }
        return true
        #endif
    }

    /// Creates an entry; the indices fit because `init` limits the size of the text.
    private static func entry(_ kind: Kind, _ start: Int, _ end: Int) -> Entry {
        Entry(kind: kind, start: UInt32(start), end: UInt32(end), entryAfter: 0)
    }
}
