// SPDX-License-Identifier: Apache-2.0

/// Why the beginning of a TCP connection is not a PROXY header.
package enum ProxyHeaderError: Error, Hashable, Sendable {
    /// The bytes do not begin with the signature of version 2.
    case signature
    /// The version is not 2, or the command is neither `LOCAL` nor `PROXY`.
    case command
    /// The family of the connection that the proxy passes on is none of TCP over IPv4, TCP over IPv6, and unspecified.
    case family
    /// The announced length is too short for the addresses of its family, or over the limit.
    case length
}

/// Reads the binary header of the PROXY protocol, version 2, with which a proxy begins a TCP connection.
///
/// It is a value without IO: it receives bytes, returns the client's address, and buffers at most `maxBytes`.
///
/// The header is 12 bytes of signature, a byte of version and command, a byte of address family and transport, two
/// bytes with the number of bytes that follow, the addresses of client and proxy, and further fields, which are
/// skipped.
package struct ProxyHeaderReader: Sendable {
    /// The largest header in bytes, its further fields included.
    package static let maxBytes = 2_048
    private static let signature: [UInt8] = [0x0D, 0x0A, 0x0D, 0x0A, 0x00, 0x0D, 0x0A, 0x51, 0x55, 0x49, 0x54, 0x0A]
    /// Byte 12 (counted from 0): version 2 in the upper half, the command in the lower.
    private static let localCommand: UInt8 = 0x20
    private static let proxyCommand: UInt8 = 0x21
    /// Byte 13: the address family in the upper half, the transport in the lower.
    private static let unspecifiedFamily: UInt8 = 0x00
    private static let tcp4: UInt8 = 0x11
    private static let tcp6: UInt8 = 0x21
    /// The bytes before the addresses: the signature, bytes 12 and 13, and two bytes with the number of bytes that
    /// follow.
    private static let fixedBytes = 16
    private var received: [UInt8] = []

    /// Creates a reader that has received no byte yet.
    package init() {}

    /// The content of a complete header.
    package struct Header: Equatable, Sendable {
        /// The client's address; nil if the connection is the proxy's own, as for a health check (`LOCAL`), or if the
        /// proxy does not know the client's address (an unspecified family).
        package var client: IPAddress?
        /// How many bytes of the last piece belong to the header; the bytes after them are the client's.
        package var usedBytes: Int

        /// Creates a header.
        package init(client: IPAddress?, usedBytes: Int) {
            self.client = client
            self.usedBytes = usedBytes
        }
    }

    /// Adds the next received piece.
    ///
    /// - Returns: the header if this piece completes it, else nil.
    /// - Throws: `ProxyHeaderError` as soon as a byte is wrong; the reader must not be used afterwards.
    package mutating func consume(_ bytes: Span<UInt8>) throws(ProxyHeaderError) -> Header? {
        for index in bytes.indices {
            self.received.append(bytes[index])
            let count = self.received.count
            if count <= Self.signature.count {
                guard bytes[index] == Self.signature[count - 1] else { throw .signature }
                continue
            }
            if count == Self.signature.count + 1 {
                guard bytes[index] == Self.localCommand || bytes[index] == Self.proxyCommand else { throw .command }
                continue
            }
            if count < Self.fixedBytes { continue }
            let variableBytes = Int(self.received[14]) << 8 | Int(self.received[15])
            if count == Self.fixedBytes { try self.checkFamily(variableBytes: variableBytes) }
            if count == Self.fixedBytes + variableBytes { return Header(client: self.client, usedBytes: index + 1) }
        }
        return nil
    }

    /// Whether the connection is the proxy's own and does not pass on a client (`LOCAL`).
    private var isLocal: Bool { self.received[12] == Self.localCommand }

    /// Checks the family and the announced number of bytes (`variableBytes`), before these bytes are received.
    private func checkFamily(variableBytes: Int) throws(ProxyHeaderError) {
        guard Self.fixedBytes + variableBytes <= Self.maxBytes else { throw .length }
        if self.isLocal { return }
        // The addresses of client and proxy have 4 or 16 bytes each, and are followed by two ports of two bytes each.
        switch self.received[13] {
        case Self.unspecifiedFamily: return
        case Self.tcp4: guard variableBytes >= 12 else { throw .length }
        case Self.tcp6: guard variableBytes >= 36 else { throw .length }
        default: throw .family
        }
    }

    /// The client's address in the received header.
    private var client: IPAddress? {
        if self.isLocal { return nil }
        // The client's address comes first.
        switch self.received[13] {
        case Self.tcp4: return IPAddress(bytes: self.received.span.extracting(16..<20))
        case Self.tcp6: return IPAddress(bytes: self.received.span.extracting(16..<32))
        default: return nil
        }
    }
}
