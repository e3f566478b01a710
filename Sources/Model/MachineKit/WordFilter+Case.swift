// SPDX-License-Identifier: Apache-2.0

/// Case folding.
extension WordFilter {
    /// The case-folded bytes of a text, the same for all texts that the filter treats as equal.
    package static func folded(_ word: String) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in word.unicodeScalars {
            if scalar.value < 0x80 {
                bytes.append(self.folded(UInt8(truncatingIfNeeded: scalar.value)))
            } else {
                bytes += UTF8.encode(self.folded(scalar)) ?? UTF8.encodedReplacementCharacter
            }
        }
        return bytes
    }

    static func folded(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte) ? byte | 0x20 : byte
    }

    /// The upper-case form of a folded byte; the byte itself if there is none.
    static func uppercased(_ byte: UInt8) -> UInt8 {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte) ? byte & ~0x20 : byte
    }

    static func folded(_ scalar: Unicode.Scalar) -> Unicode.Scalar {
        switch scalar.value {
        // East Asian scripts and emoji have no case, so the look-up can be skipped.
        case 0x2E80...0xA63F, 0xAC00...0xD7FF, 0x1F000...: return scalar
        // The final sigma `ς` is a lower-case letter, so its mapping would not make it equal to `σ`.
        case 0x3C2: return "σ"
        default:
            // A scalar whose lower-case form has several scalars stays as it is.
            let lower = scalar.properties.lowercaseMapping.unicodeScalars
            return lower.count == 1 ? lower.first ?? scalar : scalar
        }
    }
}
