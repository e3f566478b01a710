// SPDX-License-Identifier: Apache-2.0
import PlazaModel
import PlazaWire
import Testing

/// Cores count the JSON bytes of a text without an encoder; the count is compared with the encoder's output.
@Suite struct EncodedSizeTests {
    @Test func `the bytes of a text's JSON are counted as the encoder writes them`() {
        let scalars =
            (UInt32(0)...0x3000).compactMap { Unicode.Scalar($0) } + ["\u{FEFF}", "\u{FFFD}", "🎤", "\u{10FFFF}"]
        // The encoder adds two quotation marks.
        for scalar in scalars {
            let text = String(scalar)
            #expect(TextRule.encodedBytes(of: text) + 2 == Wire.encode(text).count, "U+\(scalar.value)")
        }
        let all = scalars.reduce(into: "") { $0.unicodeScalars.append($1) }
        #expect(TextRule.encodedBytes(of: all) + 2 == Wire.encode(all).count)
    }
}
