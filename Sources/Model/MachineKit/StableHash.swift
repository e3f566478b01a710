// SPDX-License-Identifier: Apache-2.0

/// The 64-bit FNV-1a hash: the same in every process and for all time, unlike `hashValue`.
///
/// The low bits alone are distributed badly, so callers mix the result further.
@usableFromInline package enum FNV1a {
    /// The standard start value.
    @inlinable package static var offsetBasis: UInt64 { 0xCBF2_9CE4_8422_2325 }

    /// The hash of the UTF-8 bytes of `text`, starting from `basis`.
    @inlinable package static func hash(_ text: String, basis: UInt64 = Self.offsetBasis) -> UInt64 {
        text.withUTF8Bytes { bytes in
            var hash = basis
            for index in bytes.indices { hash = Self.hash(hash, with: bytes[index]) }
            return hash
        }
    }

    /// The hash of bytes.
    package static func hash(_ bytes: [UInt8]) -> UInt64 { bytes.reduce(Self.offsetBasis, Self.hash) }

    /// Extends the hash of some bytes by one more byte; the factor is the FNV prime for 64 bits.
    @inlinable static func hash(_ hash: UInt64, with byte: UInt8) -> UInt64 {
        (hash ^ UInt64(byte)) &* 0x100_0000_01B3
    }
}

/// Maps a text to a number, which is the same in every process and for all time.
///
/// The number is the FNV-1a hash, mixed so that all its bits depend on all bytes. An attacker can find texts with equal
/// numbers, so only fairness and counts may depend on it, never security.
@usableFromInline package enum StableHash {
    /// The number of `text`; never 0, which callers use for "nobody".
    @inlinable package static func of(_ text: String) -> UInt64 {
        // The factor is 2^64 divided by the golden ratio, a factor that hash functions often use to spread bits.
        var hash = FNV1a.hash(text)
        hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        return max(1, hash)
    }
}
