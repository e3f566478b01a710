// SPDX-License-Identifier: Apache-2.0

/// The base64 of tokens and of random names: the URL alphabet without padding.
package enum Base64URL {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_".utf8)
    /// The value of each byte as a digit; 255 for a byte outside the alphabet.
    private static let digitValues: [UInt8] = {
        var values = [UInt8](repeating: 255, count: 256)
        for (value, letter) in Self.alphabet.enumerated() { values[Int(letter)] = UInt8(value) }
        return values
    }()

    /// Encodes bytes.
    package static func encode(_ bytes: [UInt8]) -> String {
        // Of `bits`, only the lowest `bitCount` bits are still to be encoded; older bits are shifted out.
        var text: [UInt8] = []
        text.reserveCapacity((bytes.count * 4 + 2) / 3)
        var (bits, bitCount) = (UInt32(0), 0)
        for byte in bytes {
            bits = bits << 8 | UInt32(byte)
            bitCount += 8
            while bitCount >= 6 {
                bitCount -= 6
                text.append(Self.alphabet[Int(bits >> UInt32(bitCount) & 63)])
            }
        }
        if bitCount > 0 { text.append(Self.alphabet[Int(bits << UInt32(6 - bitCount) & 63)]) }
        return String(decoding: text, as: UTF8.self)
    }

    /// Decodes bytes.
    ///
    /// - Returns: the bytes; nil for a character outside the alphabet, an impossible length, or unused bits that are
    ///   not zero. Therefore each byte sequence has exactly one encoding, and a valid signature cannot be written in a
    ///   second way.
    package static func decode(_ text: some Collection<UInt8>) -> [UInt8]? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count * 3 / 4)
        var (bits, bitCount) = (UInt32(0), 0)
        for letter in text {
            let value = Self.digitValues[Int(letter)]
            guard value < 64 else { return nil }
            bits = bits << 6 | UInt32(value)
            bitCount += 6
            if bitCount >= 8 {
                bitCount -= 8
                bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(bitCount)))
            }
        }
        guard bitCount < 6, bits & ((1 << UInt32(bitCount)) - 1) == 0 else { return nil }
        return bytes
    }
}
