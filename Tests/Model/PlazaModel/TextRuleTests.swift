// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import Testing

/// The limits of texts, which also bound the JSON of the texts.
@Suite struct TextRuleTests {
    /// Rules: R17.4.
    @Test func `a plain text has no control characters, and its limit counts the bytes of its JSON`() {
        // "Zoë 🎤" has 9 bytes: two for ë, and four for the microphone.
        #expect(TextRule.isPlain("", maxBytes: 0) && TextRule.isPlain("Zoë 🎤", maxBytes: 9))
        #expect(!TextRule.isPlain("Zoë 🎤", maxBytes: 8))
        for code in Array(UInt32(0)...0x1F) + [0x7F] {
            let text = Unicode.Scalar(code).map(String.init) ?? ""
            #expect(!TextRule.isPlain(text, maxBytes: 100), "\(code)")
            #expect(TextRule.hasControlCharacter("a\(text)b"), "\(code)")
        }
        #expect(!TextRule.hasControlCharacter(" \u{80}\u{A0}~"))
        // These two characters have two bytes each in JSON.
        for escaped in ["\"", "\\"] {
            #expect(TextRule.isPlain(String(repeating: escaped, count: 50), maxBytes: 100))
            #expect(!TextRule.isPlain(String(repeating: escaped, count: 51), maxBytes: 100))
        }
    }

    /// Rules: R17.5.
    @Test func `a free text may have line breaks, and its JSON at most twice the bytes of its limit`() {
        // Each of these characters has at most twice its bytes in JSON.
        for short in ["x", "\n", "\t", "\"", "\\", "é", "\u{7F}"] {
            let count = 100 / short.utf8.count
            #expect(TextRule.isBounded(String(repeating: short, count: count), maxBytes: 100), "\(short)")
            #expect(!TextRule.isBounded(String(repeating: short, count: count + 1), maxBytes: 100), "\(short)")
        }
        // U+0001 has six bytes in JSON: 33 * 6 = 198, and 34 * 6 = 204 is more than twice the limit of 100.
        #expect(TextRule.isBounded(String(repeating: "\u{1}", count: 33), maxBytes: 100))
        #expect(!TextRule.isBounded(String(repeating: "\u{1}", count: 34), maxBytes: 100))
        #expect(!TextRule.isBounded(String(repeating: "\u{0}", count: 100), maxBytes: 100))
    }
}
