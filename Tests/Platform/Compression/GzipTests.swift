// SPDX-License-Identifier: Apache-2.0
import Compression
import Testing

/// Tests of `Gzip`, which compresses the files that a server sends, in the format of RFC 1952.
@Suite struct GzipTests {
    /// The checksum of RFC 1952, section 8 (CRC-32), computed bit by bit.
    private func checksum(of bytes: [UInt8]) -> UInt32 {
        let polynomial: UInt32 = 0xEDB8_8320
        var sum = ~0 as UInt32
        for byte in bytes {
            sum ^= UInt32(byte)
            for _ in 0..<8 { sum = sum & 1 == 0 ? sum >> 1 : sum >> 1 ^ polynomial }
        }
        return ~sum
    }

    /// The number whose bytes are in little-endian order.
    private func number(_ bytes: ArraySlice<UInt8>) -> UInt32 { bytes.reversed().reduce(0) { $0 << 8 | UInt32($1) } }

    /// Rules: R13.31.
    @Test(arguments: [0, 1, 1000, 300_000])
    func `gzip data begin with the header and end with the checksum and length of the input`(byteCount: Int) {
        // The bytes repeat little, so that compression saves little.
        let bytes = (0..<byteCount).map { UInt8(truncatingIfNeeded: $0 &* $0 / 7) }
        let gzip = Gzip.compress(bytes)
        // 0x1F and 0x8B mark gzip, and 8 is the method deflate.
        #expect(gzip.prefix(3) == [0x1F, 0x8B, 8])
        #expect(self.number(gzip.suffix(8).prefix(4)) == self.checksum(of: bytes))
        #expect(self.number(gzip.suffix(4)) == UInt32(byteCount))
        #expect(Gzip.compress(bytes) == gzip, "two results must be equal, because the header has no time")
    }

    /// Rules: R13.31.
    @Test func `repetitive text is compressed to less than a tenth`() {
        let text = Array(String(repeating: "export const text = 'hello';\n", count: 100).utf8)
        #expect(Gzip.compress(text).count * 10 < text.count)
    }
}
