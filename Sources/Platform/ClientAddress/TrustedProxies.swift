// SPDX-License-Identifier: Apache-2.0

/// The proxies that are trusted to state a client's address.
///
/// A proxy states it in the header `X-Forwarded-For` of a request that it forwards. Any client can send such a header,
/// too, so the header counts only if a trusted proxy sent it.
package struct TrustedProxies: Hashable, Sendable {
    private let blocks: [AddressBlock]

    /// Trusts the proxies in these blocks of addresses; without blocks, nobody is trusted.
    package init(_ blocks: [AddressBlock] = []) { self.blocks = blocks }

    /// Whether a peer is one of the proxies.
    package func contains(_ address: IPAddress) -> Bool { self.blocks.contains { $0.contains(address) } }

    /// The maximum number of entries of `X-Forwarded-For` that are read, from the last one backwards.
    ///
    /// If all these entries are trusted proxies, the address that was read last counts as the client's.
    package static let maxHops = 16

    /// Finds the client's address: the last entry of `X-Forwarded-For` that is not the address of a trusted proxy.
    ///
    /// Each proxy appends the address of its own peer, so the entries are read from the last one backwards. If an entry
    /// is the address of a trusted proxy, that proxy wrote the entry before it, which is read next. An address that is
    /// not a trusted proxy's is the client's, and ends the search. An entry that is not an address ends the search,
    /// too, because no trusted proxy can have written the entries before it.
    ///
    /// - Parameters:
    ///   - peer: the address at the other end of the TCP connection.
    ///   - forwardedFor: the header's value; several headers are joined by commas.
    /// - Returns: the client's address; it is `peer` when the peer is not trusted, when there is no header, or when the
    ///   header's last entry is not an address.
    package func client(peer: IPAddress, forwardedFor: String?) -> IPAddress {
        guard let forwardedFor, self.contains(peer) else { return peer }
        var client = peer
        let text = forwardedFor.utf8
        var end = text.endIndex
        for _ in 0..<Self.maxHops {
            let comma = text[..<end].lastIndex(of: UInt8(ascii: ","))
            let start = comma.map { text.index(after: $0) } ?? text.startIndex
            guard let address = Self.parseEntry(text[start..<end]) else { return client }
            client = address
            guard self.contains(address), let comma else { return client }
            end = comma
        }
        return client
    }

    /// Parses one entry: an address with or without a port; an IPv6 address with a port is in brackets.
    private static func parseEntry(_ entry: Substring.UTF8View) -> IPAddress? {
        // The longest entry is an IPv6 address (45 bytes) in brackets with its port (8 bytes more), and some blanks.
        guard entry.count <= 64 else { return nil }
        let text = String(Substring(entry)).trimmingBlanks
        if text.utf8.first == UInt8(ascii: "[") {
            guard let end = text.utf8.firstIndex(of: UInt8(ascii: "]")) else { return nil }
            return IPAddress(text[text.utf8.index(after: text.startIndex)..<end])
        }
        // `a.b.c.d:port` has a single colon, an IPv6 address at least two.
        if text.utf8.count(where: { $0 == UInt8(ascii: ":") }) == 1 {
            return IPAddress(text.prefix { $0 != ":" })
        }
        return IPAddress(text)
    }
}

extension String {
    fileprivate var trimmingBlanks: Substring {
        let isBlank = { (character: Character) in character == " " || character == "\t" }
        var text = self.drop(while: isBlank)
        while let last = text.last, isBlank(last) { text.removeLast() }
        return text
    }
}
