// SPDX-License-Identifier: Apache-2.0
import PlazaWire
import Testing

/// Bytes as base64url without padding.
@Suite struct Base64URLTests {
    @Test func `each byte sequence has exactly one base64url text`() {
        #expect(Base64URL.encode(Array("any carnal pleas".utf8)) == "YW55IGNhcm5hbCBwbGVhcw")
        #expect(Base64URL.encode([0xfb, 0xff]) == "-_8")
        for count in 0..<70 {
            let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ count) }
            #expect(Base64URL.decode(Base64URL.encode(bytes).utf8) == bytes)
        }
        // Impossible lengths, bits after the last byte, padding, a blank, and characters outside base64url.
        for text in ["A", "AB", "-_9", "AA=", "A A", "AAAAA", "+/AA", "é"] {
            #expect(Base64URL.decode(text.utf8) == nil, "\(text)")
        }
    }
}
