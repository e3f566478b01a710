// SPDX-License-Identifier: Apache-2.0

/// A block of addresses in CIDR notation, such as `10.0.0.0/8` or `fd00::/8`; an address alone is a block of one.
package struct AddressBlock: Hashable, Sendable {
    private let first: IPAddress
    private let highMask: UInt64
    private let lowMask: UInt64

    /// Parses `ADDRESS` or `ADDRESS/BITS`.
    ///
    /// - Returns: nil when it is neither, or when bits behind the prefix are set, which is usually a mistake.
    package init?(_ text: String) {
        let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false)
        guard let head = parts.first, let address = IPAddress(head) else { return nil }
        var bits = 128
        if parts.count == 2 {
            let length = address.isIPv4 && !head.contains(":") ? 32 : 128
            guard (1...3).contains(parts[1].utf8.count), parts[1].utf8.allSatisfy({ (0x30...0x39).contains($0) }),
                let count = Int(parts[1]), count <= length
            else { return nil }
            bits = 128 - length + count
        }
        self.highMask = Self.mask(min(bits, 64))
        self.lowMask = Self.mask(max(bits - 64, 0))
        self.first = address
        guard address.high & ~self.highMask == 0, address.low & ~self.lowMask == 0 else { return nil }
    }

    /// Whether the address lies in the block.
    package func contains(_ address: IPAddress) -> Bool {
        address.high & self.highMask == self.first.high && address.low & self.lowMask == self.first.low
    }

    private static func mask(_ bits: Int) -> UInt64 { bits == 0 ? 0 : ~0 << UInt64(64 - bits) }
}
