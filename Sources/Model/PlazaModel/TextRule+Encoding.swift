// SPDX-License-Identifier: Apache-2.0

// JSON escapes characters, so a text can be longer in a record than in a call. Therefore the limits apply to the
// encoded bytes too.

extension TextRule {
    /// Whether `text` has no control character (U+0000 to U+001F, U+007F) and at most `maxBytes` bytes in JSON.
    ///
    /// For names, addresses, reasons and ids (R17.4).
    package static func isPlain(_ text: String, maxBytes: Int) -> Bool {
        text.utf8.count <= maxBytes && !self.hasControlCharacter(text) && self.fits(text, maxEncodedBytes: maxBytes)
    }

    /// Whether `text` has a control character (U+0000 to U+001F, U+007F).
    package static func hasControlCharacter(_ text: String) -> Bool {
        text.utf8.contains { $0 < 0x20 || $0 == 0x7F }
    }

    /// Whether `text` has at most `maxBytes` bytes, and at most twice as many in JSON.
    ///
    /// For free text, which may contain line breaks (R17.5). JSON encodes rare control characters as
    /// six bytes, and every other byte as at most two. So the second limit rejects only texts with many such
    /// characters.
    package static func isBounded(_ text: String, maxBytes: Int) -> Bool {
        text.utf8.count <= maxBytes && self.fits(text, maxEncodedBytes: 2 * maxBytes)
    }

    /// The number of bytes of `text` in JSON, without its quotation marks.
    ///
    /// `"`, `\` and control characters with a short escape such as `\n` count two bytes, other control characters six
    /// (`\u0001`).
    package static func encodedBytes(of text: String) -> Int {
        text.utf8.reduce(0) { $0 + self.encodedBytes(of: $1) }
    }

    /// Whether JSON needs at most `maxEncodedBytes` for `text`.
    private static func fits(_ text: String, maxEncodedBytes: Int) -> Bool {
        // JSON encodes a byte as at most six bytes, so short texts need not be read.
        text.utf8.count <= maxEncodedBytes / 6 || self.encodedBytes(of: text) <= maxEncodedBytes
    }

    private static func encodedBytes(of byte: UInt8) -> Int {
        switch byte {
        case 0x22, 0x5C, 0x08, 0x09, 0x0A, 0x0C, 0x0D: 2
        case 0x00...0x1F: 6
        default: 1
        }
    }
}

extension ReplyError {
    /// The error for a text that fails `isPlain`.
    package static func notPlain(_ field: String, maxBytes: Int, _ code: ReplyCode = .badParameter) -> ReplyError {
        ReplyError(code, "\(field) has at most \(maxBytes) bytes as JSON, and no control characters")
    }

    /// The error for a text that fails `isBounded`.
    package static func tooLong(_ field: String, maxBytes: Int, _ code: ReplyCode = .badParameter) -> ReplyError {
        ReplyError(code, "\(field) has at most \(maxBytes) bytes, and \(2 * maxBytes) as JSON")
    }
}
