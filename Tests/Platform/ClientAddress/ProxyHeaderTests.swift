// SPDX-License-Identifier: Apache-2.0
import ClientAddress
import Testing

/// Tests of `ProxyHeaderReader`, which reads the binary header of the PROXY protocol, version 2.
///
/// A proxy sends the header at the beginning of a connection, and states the client's address in it.
@Suite struct ProxyHeaderTests {
    /// The signature of the PROXY protocol, version 2.
    static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    /// A header with the client 1.2.3.4.
    ///
    /// After the signature come: version and command (0x21), the address family (0x11), the number of bytes that follow
    /// (12, in two bytes), the addresses of the client and the proxy, and the ports of both.
    static let ipv4 = signature + [0x21, 0x11, 0, 12, 1, 2, 3, 4, 10, 0, 0, 1, 0x12, 0x34, 0, 80]
    /// A header with the client 2001::7, and a further field of three bytes after the ports.
    ///
    /// The announced number of bytes, 39, is 36 for the addresses and ports, and 3 for the further field.
    static let ipv6 =
        signature + [0x21, 0x21, 0, 39, 0x20, 1] + [UInt8](repeating: 0, count: 13) + [7]
        + [UInt8](repeating: 9, count: 16) + [0, 1, 0, 2] + [4, 0, 0]

    /// Passes bytes to a reader in pieces of `pieceBytes` bytes.
    ///
    /// - Returns: the header, whose `usedBytes` counts from the first piece; nil if the header is not complete.
    private func read(_ bytes: [UInt8], pieceBytes: Int = .max) throws(ProxyHeaderError) -> ProxyHeaderReader.Header? {
        var reader = ProxyHeaderReader()
        var start = 0
        while start < bytes.count {
            let end = start + min(pieceBytes, bytes.count - start)
            if let header = try reader.consume(bytes.span.extracting(start..<end)) {
                return ProxyHeaderReader.Header(client: header.client, usedBytes: start + header.usedBytes)
            }
            start = end
        }
        return nil
    }

    @Test(arguments: [1, 2, 5, 16, 1000]) func `a header is read in pieces of any size`(pieceBytes: Int) throws {
        let following = Array("GET".utf8)
        let ipv4Header = try self.read(Self.ipv4 + following, pieceBytes: pieceBytes)
        #expect(ipv4Header?.client == IPAddress("1.2.3.4"))
        #expect(ipv4Header?.usedBytes == Self.ipv4.count)
        let ipv6Header = try self.read(Self.ipv6 + following, pieceBytes: pieceBytes)
        #expect(ipv6Header?.client == IPAddress("2001::7"))
        #expect(ipv6Header?.usedBytes == Self.ipv6.count, "the further field is skipped")
    }

    @Test func `a header of the command LOCAL or of an unspecified family has no client`() throws {
        // 0x20 is version 2 with the command LOCAL, 0x21 with the command PROXY. Family 0 is unspecified.
        #expect(
            try self.read(Self.signature + [0x20, 0, 0, 0]) == ProxyHeaderReader.Header(client: nil, usedBytes: 16))
        // With LOCAL, any family such as 0x31 is accepted, and the two bytes that follow are skipped.
        #expect(try self.read(Self.signature + [0x20, 0x31, 0, 2, 9, 9])?.usedBytes == 18)
        #expect(
            try self.read(Self.signature + [0x21, 0, 0, 0]) == ProxyHeaderReader.Header(client: nil, usedBytes: 16))
    }

    @Test func `no header is complete before its last byte`() throws {
        for bytes in [Self.ipv4, Self.ipv6] {
            for count in bytes.indices { #expect(try self.read(Array(bytes[..<count])) == nil) }
        }
    }

    @Test func `broken headers are rejected at the first wrong byte`() throws {
        for index in Self.signature.indices {
            var bytes = Self.ipv4
            bytes[index] ^= 0x20
            #expect(throws: ProxyHeaderError.signature) { try self.read(Array(bytes[...index])) }
        }
        #expect(throws: ProxyHeaderError.signature) { try self.read(Array("PROXY TCP4 1.2.3.4".utf8)) }
        #expect(throws: ProxyHeaderError.signature) { try self.read(Array("GET / HTTP/1.1".utf8)) }
        // The bytes 0x20 and 0x21, version 2 with LOCAL or PROXY, are accepted.
        for command in [0x11, 0x22, 0x2F, 0x00, 0xFF] as [UInt8] {
            #expect(throws: ProxyHeaderError.command) { try self.read(Self.signature + [command]) }
        }
        // The families 0x11 and 0x21, TCP over IPv4 and IPv6, and the unspecified family 0x00 are accepted.
        for family in [0x12, 0x22, 0x31, 0x10, 0x01, 0xFF] as [UInt8] {
            #expect(throws: ProxyHeaderError.family) { try self.read(Self.signature + [0x21, family, 0, 36]) }
        }
        // The addresses and ports take 12 bytes for IPv4, and 36 for IPv6.
        #expect(throws: ProxyHeaderError.length) { try self.read(Self.signature + [0x21, 0x11, 0, 11]) }
        #expect(throws: ProxyHeaderError.length) { try self.read(Self.signature + [0x21, 0x21, 0, 35]) }
    }

    @Test func `I16 a header that announces too many bytes is rejected before they arrive`() throws {
        // The limit is 2048 bytes: the first 16 bytes of the header, and 2032 (0x07F0) bytes that they announce.
        for length in [[0x07, 0xF1], [0xFF, 0xFF]] as [[UInt8]] {
            for commandAndFamily in [[0x21, 0x11], [0x20, 0x00], [0x21, 0x00]] as [[UInt8]] {
                #expect(throws: ProxyHeaderError.length) { try self.read(Self.signature + commandAndFamily + length) }
            }
        }
        let largest = Self.signature + [0x20, 0, 0x07, 0xF0] + [UInt8](repeating: 1, count: 2_032)
        #expect(try self.read(largest, pieceBytes: 7)?.usedBytes == ProxyHeaderReader.maxBytes)
    }

    @Test func `random bytes never trap the reader`() {
        var state: UInt64 = 42
        // The linear congruential generator of Knuth's MMIX.
        func randomByte() -> UInt8 {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return UInt8(truncatingIfNeeded: state >> 33)
        }
        for _ in 0..<20_000 {
            var bytes = randomByte() < 200 ? Self.ipv6 : Self.ipv4
            // Up to three bytes after the signature, which has twelve bytes, are replaced.
            for _ in 0..<Int(randomByte() % 4) { bytes[12 + Int(randomByte()) % (bytes.count - 12)] = randomByte() }
            // Some bytes at the end are missing, possibly none.
            bytes.removeLast(Int(randomByte()) % bytes.count)
            _ = try? self.read(bytes, pieceBytes: Int(randomByte() % 9) + 1)
        }
    }
}
