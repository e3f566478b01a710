// SPDX-License-Identifier: Apache-2.0

/// The scan, which validates a text and finds its values.
extension StrictJSON {
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

    /// The entries found so far, and the objects and lists that are still open.
    private struct EntryTree {
        /// Stands for the container of a value that is not in an object or list.
        private static let noContainer = UInt32.max

        private(set) var entries: [Entry] = []
        /// The number of open objects and lists.
        private(set) var depth = 0
        /// Whether the innermost container is an object.
        private(set) var isInObject = false
        /// The index of the innermost container.
        private var container = Self.noContainer

        /// Reserves memory for the entries of a short text, about one for eight bytes.
        init(byteCount: Int) { self.entries.reserveCapacity(min(byteCount / 8 + 1, 64)) }

        /// Adds a value, or the name of a member.
        ///
        /// The indices fit into 32 bits, because `StrictJSON.init` limits the size of the text.
        mutating func append(_ kind: Kind, from start: Int, to end: Int) {
            self.entries.append(Entry(kind: kind, start: UInt32(start), end: UInt32(end), entryAfter: 0))
        }

        /// Opens an object or list; until it is closed, its `entryAfter` holds the index of the enclosing container.
        mutating func openContainer(_ kind: Kind, at index: Int) {
            let enclosing = self.container
            self.container = UInt32(self.entries.count)
            self.entries.append(Entry(kind: kind, start: UInt32(index), end: UInt32(index), entryAfter: enclosing))
            self.isInObject = kind == .object
            self.depth += 1
        }

        /// Closes the innermost container; there must be one.
        mutating func closeContainer(at end: Int) {
            let enclosing = self.entries[Int(self.container)].entryAfter
            self.entries[Int(self.container)].end = UInt32(end)
            self.entries[Int(self.container)].entryAfter = UInt32(self.entries.count)
            self.container = enclosing
            self.isInObject = enclosing != Self.noContainer && self.entries[Int(enclosing)].kind == .object
            self.depth -= 1
        }
    }

    /// Validates the text, and makes an entry for each value and each name; nil if the text is malformed.
    static func scan(_ bytes: Span<UInt8>) -> [Entry]? {
        let hasByteOrderMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        var tree = EntryTree(byteCount: bytes.count)
        var isASCII = true
        var expected = Expectation.value
        var index = hasByteOrderMark ? 3 : 0
        while index < bytes.count {
            let byte = bytes[index]
            switch byte {
            // The blanks of `isBlank`.
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "\""):
                guard expected != .commaOrEnd, let text = Self.text(bytes, from: index + 1) else { return nil }
                isASCII = isASCII && text.isASCII
                tree.append(text.isPlain ? .plainText : .text, from: index + 1, to: text.end)
                index = text.end + 1
                if expected == .value || expected == .valueOrEnd {
                    expected = .commaOrEnd
                } else {
                    guard let afterColon = Self.indexAfterColon(bytes, from: index) else { return nil }
                    index = afterColon
                    expected = .value
                }
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard expected == .value || expected == .valueOrEnd, tree.depth < Self.depthLimit else { return nil }
                let isObject = byte == UInt8(ascii: "{")
                tree.openContainer(isObject ? .object : .list, at: index)
                expected = isObject ? .nameOrEnd : .valueOrEnd
                index += 1
            case UInt8(ascii: "}"), UInt8(ascii: "]"):
                let isObject = byte == UInt8(ascii: "}")
                guard tree.depth > 0, isObject == tree.isInObject,
                    expected == .commaOrEnd || expected == (isObject ? .nameOrEnd : .valueOrEnd)
                else { return nil }
                index += 1
                tree.closeContainer(at: index)
                expected = .commaOrEnd
            case UInt8(ascii: ","):
                guard expected == .commaOrEnd, tree.depth > 0 else { return nil }
                expected = tree.isInObject ? .name : .value
                index += 1
            default:
                guard expected == .value || expected == .valueOrEnd,
                    let token = Self.numberOrLiteral(bytes, from: index)
                else { return nil }
                tree.append(token.kind, from: index, to: token.end)
                expected = .commaOrEnd
                index = token.end
            }
        }
        guard expected == .commaOrEnd, tree.depth == 0 else { return nil }
        // Outside strings, the scan has accepted ASCII alone.
        return isASCII || Self.isUTF8(bytes) ? tree.entries : nil
    }

    /// The index after the colon that follows a member's name; nil if there is none.
    private static func indexAfterColon(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
        guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return nil }
        return index + 1
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
}
