// SPDX-License-Identifier: Apache-2.0

/// An IPv4 or IPv6 address without a port.
///
/// An IPv4 address is stored as its mapped IPv6 address (`::ffff:a.b.c.d`), so both forms are equal.
package struct IPAddress: Hashable, Sendable {
    /// The first eight bytes of the IPv6 form.
    package let high: UInt64
    /// The last eight bytes of the IPv6 form.
    package let low: UInt64

    /// Creates an address from the two halves of an IPv6 address.
    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    /// Creates an IPv4 address from a number in host order: 127.0.0.1 is 0x7F000001.
    package init(ipv4: UInt32) { self.init(high: 0, low: 0xFFFF_0000_0000 | UInt64(ipv4)) }

    /// Reads the 4 or 16 bytes of an address in network order.
    ///
    /// - Returns: nil for any other number of bytes.
    package init?(bytes: Span<UInt8>) {
        func number(_ range: Range<Int>) -> UInt64 {
            var value: UInt64 = 0
            for index in range { value = value << 8 | UInt64(bytes[index]) }
            return value
        }
        switch bytes.count {
        case 4: self.init(ipv4: UInt32(truncatingIfNeeded: number(0..<4)))
        case 16: self.init(high: number(0..<8), low: number(8..<16))
        default: return nil
        }
    }

    /// Parses `a.b.c.d` or an IPv6 address in any of its forms, without brackets and without a zone.
    ///
    /// - Returns: nil when the text is not an address.
    package init?(_ text: some StringProtocol) {
        guard text.utf8.count <= Self.maxTextBytes else { return nil }
        if !text.utf8.contains(UInt8(ascii: ":")) {
            guard let number = Self.parseIPv4(text.utf8) else { return nil }
            self.init(ipv4: number)
            return
        }
        guard let groups = Self.parseGroups(Array(text.utf8)) else { return nil }
        func half(_ range: Range<Int>) -> UInt64 { range.reduce(0) { $0 << 16 | UInt64(groups[$1]) } }
        self.init(high: half(0..<4), low: half(4..<8))
    }

    /// Whether this is an IPv4 address, or an IPv6 address that maps one.
    package var isIPv4: Bool { self.high == 0 && self.low >> 32 == 0xFFFF }

    /// The address under which limits count a client: an IPv4 address itself, or the /64 network of an IPv6 address.
    ///
    /// A user with one IPv6 address usually has its whole /64 network, so a limit for each address would limit nobody.
    package var limitKey: IPAddress { self.isIPv4 ? self : IPAddress(high: self.high, low: 0) }

    /// The size in bytes of the longest text: six groups of four digits and a colon each, and then an IPv4 address of
    /// 15 bytes in place of the last two groups (6 * 5 + 15 = 45).
    private static let maxTextBytes = 45

    /// Parses `a.b.c.d` to a number in host order.
    private static func parseIPv4(_ text: some Collection<UInt8>) -> UInt32? {
        let parts = text.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 4 else { return nil }
        var number: UInt32 = 0
        for part in parts {
            // Some parsers read a number with a leading zero as octal, so such a text is rejected.
            guard (1...3).contains(part.count), part.count == 1 || part.first != UInt8(ascii: "0") else { return nil }
            var octet: UInt32 = 0
            for digit in part {
                guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(digit) else { return nil }
                octet = octet * 10 + UInt32(digit - UInt8(ascii: "0"))
            }
            guard octet < 256 else { return nil }
            number = number << 8 | octet
        }
        return number
    }

    /// Parses the eight groups of an IPv6 address; a gap (`::`) stands for one or more groups that are zero.
    private static func parseGroups(_ text: [UInt8]) -> [UInt16]? {
        let colon = UInt8(ascii: ":")
        guard let gap = text.indices.dropLast().first(where: { text[$0] == colon && text[$0 + 1] == colon }) else {
            guard let all = Self.parseGroupList(text[...]), all.count == 8 else { return nil }
            return all
        }
        guard let before = Self.parseGroupList(text[..<gap]),
            let after = Self.parseGroupList(text[(gap + 2)...], followsGap: true),
            before.count + after.count <= 7
        else { return nil }
        return before + [UInt16](repeating: 0, count: 8 - before.count - after.count) + after
    }

    /// Parses groups between single colons; the address may end with an IPv4 address, which is two groups.
    ///
    /// - Parameters:
    ///   - text: the groups and colons.
    ///   - followsGap: whether the text is the end of an address, after its gap.
    /// - Returns: the groups; nil when the text is malformed.
    private static func parseGroupList(_ text: ArraySlice<UInt8>, followsGap: Bool = false) -> [UInt16]? {
        if text.isEmpty { return [] }
        var groups: [UInt16] = []
        let parts = text.split(separator: UInt8(ascii: ":"), omittingEmptySubsequences: false)
        for (index, part) in parts.enumerated() {
            if index == parts.count - 1, part.contains(UInt8(ascii: ".")) {
                // Without a gap, exactly six groups come before the IPv4 address.
                guard followsGap || parts.count == 7, let number = Self.parseIPv4(part) else { return nil }
                groups.append(UInt16(truncatingIfNeeded: number >> 16))
                groups.append(UInt16(truncatingIfNeeded: number))
                continue
            }
            // `UInt16` alone would accept a sign.
            guard (1...4).contains(part.count), let digits = String(validating: part, as: UTF8.self),
                !digits.hasPrefix("+"), !digits.hasPrefix("-"), let group = UInt16(digits, radix: 16)
            else { return nil }
            groups.append(group)
        }
        return groups
    }
}

extension IPAddress: CustomStringConvertible {
    /// `a.b.c.d`, or all eight groups of an IPv6 address, without `::`.
    package var description: String {
        if self.isIPv4 {
            return [24, 16, 8, 0].map { "\(self.low >> UInt64($0) & 0xFF)" }.joined(separator: ".")
        }
        let groups = [self.high, self.low].flatMap { half in
            [48, 32, 16, 0].map { String(half >> UInt64($0) & 0xFFFF, radix: 16) }
        }
        return groups.joined(separator: ":")
    }
}
