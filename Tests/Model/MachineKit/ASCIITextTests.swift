// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

/// `String(ascii:)` makes a text of the bytes that a peer has sent, and replaces each byte that is not ASCII.
@Suite struct ASCIITextTests {
    @Test func `ASCII is kept byte for byte, control characters too`() {
        let bytes = [UInt8](0..<0x80)
        #expect(Array(String(ascii: bytes).utf8) == bytes)
    }

    @Test func `each byte of other characters becomes the replacement`() {
        #expect(String(ascii: "a\u{301}b\u{1F600}".utf8) == "a??b????")
        #expect(Array(String(ascii: "\u{301}".utf8, replacing: 0x1A).utf8) == [0x1A, 0x1A])
        #expect(String(ascii: [0x61, 0xFF, 0x80]) == "a??", "bytes that are not UTF-8 have no other effect")
    }
}
