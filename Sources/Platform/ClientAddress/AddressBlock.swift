// SPDX-License-Identifier: Apache-2.0

/// A block of addresses in CIDR notation, such as `10.0.0.0/8` or `fd00::/8`; an address without a prefix length is a
/// block of that one address.
package struct AddressBlock: Hashable, Sendable {
    private let firstAddress: IPAddress
    /// The prefix as a mask for the first 64 bits of an address; `lowMask` is for the last 64 bits.
    private let highMask: UInt64
    private let lowMask: UInt64

    /// Parses `ADDRESS` or `ADDRESS/BITS`.
    ///
    /// - Returns: nil when the text has neither form, or when bits after the prefix are set, which is usually a
    ///   mistake.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let addressText = parts.first, let address = IPAddress(addressText) else { return nil }
        // The prefix of the IPv6 form, in which an IPv4 address is the last 32 of 128 bits (`::ffff:a.b.c.d`).
        var prefixBits = 128
        if parts.count == 2 {
            // After `a.b.c.d` the text states a prefix of 32 bits, but after `::ffff:a.b.c.d` one of 128 bits.
            let addressBits = address.isIPv4 && !addressText.contains(":") ? 32 : 128
            let digits = UInt8(ascii: "0")...UInt8(ascii: "9")
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ digits.contains($0) }),
                let statedBits = Int(parts[1]), statedBits <= addressBits
            else { return nil }
            prefixBits = 128 - addressBits + statedBits
        }
        self.highMask = Self.mask(bits: min(prefixBits, 64))
        self.lowMask = Self.mask(bits: max(prefixBits - 64, 0))
        self.firstAddress = address
        guard address.high & ~self.highMask == 0, address.low & ~self.lowMask == 0 else { return nil }
    }

    /// Whether the address lies in the block.
    package func contains(_ address: IPAddress) -> Bool {
        address.high & self.highMask == self.firstAddress.high && address.low & self.lowMask == self.firstAddress.low
    }

    /// The 64 bits of half a mask, of which the first `bits` are set.
    private static func mask(bits: Int) -> UInt64 { bits == 0 ? 0 : ~0 << UInt64(64 - bits) }
}
