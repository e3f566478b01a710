// SPDX-License-Identifier: Apache-2.0

/// The mask of one WebSocket frame: four bytes that are XORed with the payload repeatedly (RFC 6455, section 5.3).
package struct Mask: Equatable, Sendable {
    /// The four bytes; the lowest byte of the word is the next byte of the mask.
    private var word: UInt32

    /// Makes a mask from its bytes, in the order of the frame.
    package init(_ first: UInt8, _ second: UInt8, _ third: UInt8, _ fourth: UInt8) {
        self.word = UInt32(first) | UInt32(second) << 8 | UInt32(third) << 16 | UInt32(fourth) << 24
    }

    /// Makes a mask from four random bytes.
    package init(random: UInt32) { self.word = random }

    /// The bytes in the order of the frame; valid only before the first `apply`.
    var bytes: (UInt8, UInt8, UInt8, UInt8) {
        let word = self.word
        return (
            UInt8(truncatingIfNeeded: word), UInt8(truncatingIfNeeded: word >> 8),
            UInt8(truncatingIfNeeded: word >> 16), UInt8(truncatingIfNeeded: word >> 24)
        )
    }

    /// Masks, or unmasks, the next `range` of a payload in place.
    ///
    /// The next call continues with the payload bytes that follow the range.
    package mutating func apply(to bytes: inout MutableSpan<UInt8>, _ range: Range<Int>) {
        precondition(range.lowerBound >= 0 && range.upperBound <= bytes.count, "\(range) of \(bytes.count) bytes")
        let word = self.word
        unsafe bytes.withUnsafeMutableBytes { raw in
            let doubleWord = UInt64(word) | UInt64(word) << 32
            var index = range.lowerBound
            // Masking eight bytes at a time is five times as fast as single bytes. The mask repeats every four bytes,
            // so the mask needs no rotation after eight bytes.
            while index + 8 <= range.upperBound {
                let masked =
                    unsafe UInt64(littleEndian: raw.loadUnaligned(fromByteOffset: index, as: UInt64.self)) ^ doubleWord
                unsafe raw.storeBytes(of: masked.littleEndian, toByteOffset: index, as: UInt64.self)
                index += 8
            }
            var rotated = word
            while index < range.upperBound {
                unsafe raw[index] ^= UInt8(truncatingIfNeeded: rotated)
                rotated = rotated >> 8 | rotated << 24
                index += 1
            }
        }
        // Rotates the mask, so that the next call begins with the byte that follows the last one used.
        let rotation = UInt32(range.count & 3) * 8
        if rotation > 0 { self.word = word >> rotation | word << (32 - rotation) }
    }
}
