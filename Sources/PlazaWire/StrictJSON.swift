// SPDX-License-Identifier: Apache-2.0

/// Whether bytes are JSON by RFC 8259 in all that stands in them.
///
/// The decoder looks closely at what it reads only: what it skips may be no JSON, and it takes a comma at the end of an
/// object or a list everywhere. What others send goes through here first.
package enum StrictJSON {
    /// How deep objects and lists may stand in each other; the decoder takes no more either.
    package static let depthLimit = 512

    /// What may stand next.
    private enum Next {
        case value
        /// Behind `[`.
        case valueOrEnd
        /// Behind a comma in an object.
        case name
        /// Behind `{`.
        case nameOrEnd
        /// Behind a value: a comma or the end of what it stands in.
        case more
    }

    /// Whether `json` is one value, of Unicode text alone; a byte order mark before it is let pass.
    package static func holds(_ json: [UInt8]) -> Bool {
        let bytes = json.span
        do { _ = try UTF8Span(validating: bytes) } catch { return false }
        let hasMark = bytes.count >= 3 && bytes[0] == 0xEF && bytes[1] == 0xBB && bytes[2] == 0xBF
        // A bit for each level: whether it is an object.
        var levels = InlineArray<8, UInt64>(repeating: 0)
        var depth = 0
        var next = Next.value
        var index = hasMark ? 3 : 0

        func isObject() -> Bool { depth > 0 && levels[(depth - 1) >> 6] >> UInt64((depth - 1) & 63) & 1 == 1 }
        func open(_ isObject: Bool) -> Bool {
            guard next == .value || next == .valueOrEnd, depth < Self.depthLimit else { return false }
            let bit: UInt64 = 1 << UInt64(depth & 63)
            if isObject { levels[depth >> 6] |= bit } else { levels[depth >> 6] &= ~bit }
            depth += 1
            return true
        }

        while index < bytes.count {
            switch bytes[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "\""):
                guard next != .more, let end = Self.endOfText(bytes, from: index + 1) else { return false }
                index = end
                if next == .value || next == .valueOrEnd {
                    next = .more
                    continue
                }
                while index < bytes.count, Self.isBlank(bytes[index]) { index += 1 }
                guard index < bytes.count, bytes[index] == UInt8(ascii: ":") else { return false }
                index += 1
                next = .value
            case UInt8(ascii: "{"):
                guard open(true) else { return false }
                next = .nameOrEnd
                index += 1
            case UInt8(ascii: "["):
                guard open(false) else { return false }
                next = .valueOrEnd
                index += 1
            case UInt8(ascii: "}"):
                guard next == .nameOrEnd || next == .more, isObject() else { return false }
                depth -= 1
                next = .more
                index += 1
            case UInt8(ascii: "]"):
                guard next == .valueOrEnd || next == .more, depth > 0, !isObject() else { return false }
                depth -= 1
                next = .more
                index += 1
            case UInt8(ascii: ","):
                guard next == .more, depth > 0 else { return false }
                next = isObject() ? .name : .value
                index += 1
            default:
                guard next == .value || next == .valueOrEnd, let end = Self.endOfWord(bytes, from: index) else {
                    return false
                }
                next = .more
                index = end
            }
        }
        return next == .more && depth == 0
    }

    private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    private static let words = ["true", "false", "null"].map { Array($0.utf8) }

    /// The place behind a number, `true`, `false` or `null`.
    private static func endOfWord(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        guard let word = Self.words.first(where: { $0[0] == bytes[start] }) else {
            return Self.endOfNumber(bytes, from: start)
        }
        guard start + word.count <= bytes.count else { return nil }
        for offset in word.indices where bytes[start + offset] != word[offset] { return nil }
        return start + word.count
    }

    /// `-`, digits without a leading zero, digits behind a point, digits behind an `e`.
    private static func endOfNumber(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        let first = bytes[start] == UInt8(ascii: "-") ? start + 1 : start
        guard var end = Self.endOfDigits(bytes, from: first) else { return nil }
        guard bytes[first] != 0x30 || end == first + 1 else { return nil }
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            guard let behind = Self.endOfDigits(bytes, from: end + 1) else { return nil }
            end = behind
        }
        if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            let isSigned =
                end + 1 < bytes.count && (bytes[end + 1] == UInt8(ascii: "+") || bytes[end + 1] == UInt8(ascii: "-"))
            guard let behind = Self.endOfDigits(bytes, from: isSigned ? end + 2 : end + 1) else { return nil }
            end = behind
        }
        return end
    }

    /// The place behind one or more digits.
    private static func endOfDigits(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 { index += 1 }
        return index == start ? nil : index
    }

    /// The place behind a text's closing quotation mark.
    private static func endOfText(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") { return index + 1 }
            guard byte >= 0x20 else { return nil }
            if byte == UInt8(ascii: "\\") {
                guard let end = Self.endOfEscape(bytes, from: index + 1) else { return nil }
                index = end
            } else {
                index += 1
            }
        }
        return nil
    }

    /// The place behind what a backslash began; half of a surrogate pair is no text.
    private static func endOfEscape(_ bytes: Span<UInt8>, from index: Int) -> Int? {
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return index + 1
        case UInt8(ascii: "u"):
            guard let unit = Self.hexadecimal(bytes, at: index + 1) else { return nil }
            if unit & 0xF800 != 0xD800 { return index + 5 }
            guard unit < 0xDC00, index + 7 <= bytes.count, bytes[index + 5] == UInt8(ascii: "\\"),
                bytes[index + 6] == UInt8(ascii: "u"), let low = Self.hexadecimal(bytes, at: index + 7),
                low & 0xFC00 == 0xDC00
            else { return nil }
            return index + 11
        default: return nil
        }
    }

    private static func hexadecimal(_ bytes: Span<UInt8>, at start: Int) -> Int? {
        guard start + 4 <= bytes.count else { return nil }
        var value = 0
        for index in start..<start + 4 {
            switch bytes[index] {
            case 0x30...0x39: value = value << 4 | Int(bytes[index] - 0x30)
            case 0x41...0x46: value = value << 4 | Int(bytes[index] - 0x37)
            case 0x61...0x66: value = value << 4 | Int(bytes[index] - 0x57)
            default: return nil
            }
        }
        return value
    }
}
