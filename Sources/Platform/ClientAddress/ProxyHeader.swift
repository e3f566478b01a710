// SPDX-License-Identifier: Apache-2.0

/// Why the beginning of a TCP connection is no PROXY header.
package enum ProxyHeaderError: Error, Hashable, Sendable {
    /// The bytes do not begin with the signature of version 2.
    case signature
    /// The version is not 2, or the command neither `LOCAL` nor `PROXY`.
    case command
    /// The connection that the proxy passes on is not TCP over IPv4 or IPv6.
    case family
    /// The announced length is too short for its addresses, or over the limit.
    case length
}

/// Reads the binary header of the PROXY protocol, version 2, with which a proxy begins a TCP connection.
///
/// It is a pure value: bytes in, the client's address out. It holds at most `maxBytes`.
///
/// The header is 12 bytes of signature, a byte of version and command, a byte of address family, two bytes with the
/// length of the rest, the addresses of client and proxy, and further fields, which are skipped.
package struct ProxyHeaderReader: Sendable {
    /// The largest header in bytes, its further fields included.
    package static let maxBytes = 2_048
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    private var received: [UInt8] = []

    /// Creates a reader that has received no byte yet.
    package init() {}

    /// What a whole header says.
    package struct Header: Equatable, Sendable {
        /// The client's address; nil if the proxy speaks for itself, as in a health check.
        package var client: IPAddress?
        /// How many bytes of the last piece belong to the header.
        package var used: Int

        /// Takes what was read.
        package init(client: IPAddress?, used: Int) {
            self.client = client
            self.used = used
        }
    }

    /// Adds the next received piece.
    ///
    /// - Returns: The header once it is complete, else nil.
    /// - Throws: `ProxyHeaderError` as soon as a byte is wrong; the reader must not be used any more then.
    package mutating func consume(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> Header? {
        for index in bytes.indices {
            self.received.append(bytes[index])
            let count = self.received.count
            if count <= 12 {
                guard bytes[index] == Self.signature[count - 1] else { throw .signature }
                continue
            }
            if count == 13 {
                guard bytes[index] == 0x20 || bytes[index] == 0x21 else { throw .command }
                continue
            }
            if count < 16 { continue }
            let length = Int(self.received[14]) << 8 | Int(self.received[15])
            if count == 16 { try self.check(length) }
            if count == 16 + length { return Header(client: self.client, used: index + 1) }
        }
        return nil
    }

    private var isLocal: Bool { self.received[12] == 0x20 }

    /// Checks family and length as soon as they are known, before the addresses are waited for.
    private func check(_ length: Int) throws(ProxyHeaderError) {
        guard 16 + length <= Self.maxBytes else { throw .length }
        if self.isLocal { return }
        switch self.received[13] {
        case 0x00: return
        case 0x11: guard length >= 12 else { throw .length }
        case 0x21: guard length >= 36 else { throw .length }
        default: throw .family
        }
    }

    private var client: IPAddress? {
        if self.isLocal { return nil }
        switch self.received[13] {
        case 0x11: return IPAddress(bytes: self.received.span.extracting(16..<20))
        case 0x21: return IPAddress(bytes: self.received.span.extracting(16..<32))
        default: return nil
        }
    }
}
