// SPDX-License-Identifier: Apache-2.0

/// The tokens of JSON: strings, numbers, `true`, `false` and `null`.
extension StrictJSON {
    /// Whether a byte is a space, a line feed, a carriage return or a tab.
    static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 }

    /// The kind of the number or literal at `start`, and the index after it; nil if the token is malformed.
    static func numberOrLiteral(_ bytes: Span<UInt8>, from start: Int) -> (kind: Kind, end: Int)? {
        switch bytes[start] {
        case UInt8(ascii: "t"): Self.end(of: "true", bytes, from: start).map { (.trueLiteral, $0) }
        case UInt8(ascii: "f"): Self.end(of: "false", bytes, from: start).map { (.falseLiteral, $0) }
        case UInt8(ascii: "n"): Self.end(of: "null", bytes, from: start).map { (.null, $0) }
        default: Self.number(bytes, from: start)
        }
    }

    /// The index after `word`; nil if the bytes at `start` are not this word.
    private static func end(of word: String, _ bytes: Span<UInt8>, from start: Int) -> Int? {
        let end = start + word.utf8.count
        guard end <= bytes.count else { return nil }
        for (offset, letter) in word.utf8.enumerated() where bytes[start + offset] != letter { return nil }
        return end
    }

    /// Scans a number: optional `-`, digits without a leading zero, optional fraction, optional exponent.
    private static func number(_ bytes: Span<UInt8>, from start: Int) -> (kind: Kind, end: Int)? {
        let firstDigit = bytes[start] == UInt8(ascii: "-") ? start + 1 : start
        guard var end = Self.endOfDigits(bytes, from: firstDigit) else { return nil }
        // After a leading zero (0x30), no further digit is allowed.
        guard bytes[firstDigit] != 0x30 || end == firstDigit + 1 else { return nil }
        var kind = Kind.integer
        if end < bytes.count, bytes[end] == UInt8(ascii: ".") {
            guard let fractionEnd = Self.endOfDigits(bytes, from: end + 1) else { return nil }
            kind = .number
            end = fractionEnd
        }
        // The bit 0x20 makes a letter lower-case.
        if end < bytes.count, bytes[end] | 0x20 == UInt8(ascii: "e") {
            let isSigned =
                end + 1 < bytes.count && (bytes[end + 1] == UInt8(ascii: "+") || bytes[end + 1] == UInt8(ascii: "-"))
            guard let exponentEnd = Self.endOfDigits(bytes, from: isSigned ? end + 2 : end + 1) else { return nil }
            kind = .number
            end = exponentEnd
        }
        return (kind, end)
    }

    /// The index after one or more digits; nil if there is no digit at `start`.
    private static func endOfDigits(_ bytes: Span<UInt8>, from start: Int) -> Int? {
        var index = start
        // 0x30 to 0x39 are the digits 0 to 9.
        while index < bytes.count, bytes[index] >= 0x30, bytes[index] <= 0x39 { index += 1 }
        return index == start ? nil : index
    }

    /// The extent of a string, and the properties of its bytes.
    struct Text {
        /// The index of the closing quotation mark.
        var end: Int
        /// Whether all bytes are ASCII; a string may be ASCII and still have escape sequences.
        var isASCII: Bool
        /// Whether the bytes are ASCII and contain no escape sequence, so that they need no conversion.
        var isPlain: Bool
    }

    /// Scans the string whose content begins at `start`, after the opening quotation mark; nil if the string is
    /// malformed.
    ///
    /// The bytes are not checked for UTF-8 here; the scan of the whole text does so if any string is not ASCII.
    static func text(_ bytes: Span<UInt8>, from start: Int) -> Text? {
        // The bits that are set in any byte; bit 7 is set if a byte is not ASCII.
        var bits: UInt8 = 0
        var hasEscape = false
        var index = start
        while index < bytes.count {
            let byte = bytes[index]
            if byte == UInt8(ascii: "\"") {
                return Text(end: index, isASCII: bits < 0x80, isPlain: bits < 0x80 && !hasEscape)
            }
            // Control characters must be escaped.
            guard byte >= 0x20 else { return nil }
            if byte == UInt8(ascii: "\\") {
                guard let end = Self.endOfEscape(bytes, from: index + 1) else { return nil }
                hasEscape = true
                index = end
            } else {
                bits |= byte
                index += 1
            }
        }
        return nil
    }

    /// The index after the escape sequence whose backslash precedes `index`; nil if the sequence is malformed or
    /// encodes an unpaired surrogate.
    private static func endOfEscape(_ bytes: Span<UInt8>, from index: Int) -> Int? {
        guard index < bytes.count else { return nil }
        switch bytes[index] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return index + 1
        case UInt8(ascii: "u"):
            // `index` is at the `u`, so the four digits end before `index + 5`. A second sequence, which a surrogate
            // needs, has six bytes (backslash, `u`, four digits) and ends before `index + 11`.
            guard let unit = Self.hexadecimal(bytes, at: index + 1) else { return nil }
            // Surrogates are 0xD800 to 0xDFFF. A high surrogate (below 0xDC00) must be followed by a low one (from
            // 0xDC00 on). Any other code unit stands alone.
            if unit & 0xF800 != 0xD800 { return index + 5 }
            guard unit < 0xDC00, index + 7 <= bytes.count, bytes[index + 5] == UInt8(ascii: "\\"),
                bytes[index + 6] == UInt8(ascii: "u"), let low = Self.hexadecimal(bytes, at: index + 7),
                low & 0xFC00 == 0xDC00
            else { return nil }
            return index + 11
        default: return nil
        }
    }

    /// The code unit that four hexadecimal digits encode; nil if there are not four digits at `start`.
    static func hexadecimal(_ bytes: Span<UInt8>, at start: Int) -> UInt32? {
        guard start + 4 <= bytes.count else { return nil }
        var value: UInt32 = 0
        for index in start..<start + 4 {
            switch bytes[index] {
            // The digits 0 to 9 begin at 0x30.
            case 0x30...0x39: value = value << 4 | UInt32(bytes[index] - 0x30)
            // The letters A to F begin at 0x41 and a to f at 0x61; they have the values 10 to 15.
            case 0x41...0x46: value = value << 4 | UInt32(bytes[index] - 0x37)
            case 0x61...0x66: value = value << 4 | UInt32(bytes[index] - 0x57)
            default: return nil
            }
        }
        return value
    }
}
