// SPDX-License-Identifier: Apache-2.0

/// A number for a text that is the same in every process and for all time, unlike `hashValue`.
///
/// FNV-1a over the bytes, then mixed so that all bits depend on all bytes. Not for secrets: texts with equal numbers can
/// be made on purpose, so nothing but fairness and counts may rest on it.
@usableFromInline package enum StableHash {
    /// The number of `text`; never 0, which stands for nobody.
    @inlinable package static func of(_ text: String) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        let bytes = text.utf8.span
        for index in bytes.indices { hash = (hash ^ UInt64(bytes[index])) &* 0x100_0000_01B3 }
        hash = (hash ^ (hash >> 32)) &* 0x9E37_79B9_7F4A_7C15
        hash ^= hash >> 29
        return max(1, hash)
    }
}
