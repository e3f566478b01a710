// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes, which arrive in pieces, are UTF-8 (Unicode 15, table 3-7: no surrogates, no overlong forms).
package struct UTF8Validator: Equatable, Sendable {
    /// The number of missing bytes of the current character.
    private var missingBytes: UInt8 = 0
    /// The lowest and the highest valid value of the next byte of the current character.
    private var minNextByte: UInt8 = 0x80
    private var maxNextByte: UInt8 = 0xBF

    /// Makes a validator that has received no byte yet.
    package init() {}

    /// Whether the bytes so far end at a character boundary.
    package var isComplete: Bool { self.missingBytes == 0 }

    /// Checks the next bytes.
    ///
    /// - Returns: Whether all bytes so far can be part of a UTF-8 text. After false, the validator must not be used any
    ///   more.
    package mutating func consume(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { raw in unsafe self.consume(raw) }
    }

    private mutating func consume(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        let count = bytes.count
        while index < count {
            if self.missingBytes == 0 {
                // Fast path: most of JSON is ASCII, which is checked eight bytes at a time.
                while index + 8 <= count,
                    unsafe bytes.loadUnaligned(fromByteOffset: index, as: UInt64.self) & Self.highBits == 0
                {
                    index += 8
                }
                if index == count { return true }
            }
            let byte = unsafe bytes[index]
            index += 1
            if self.missingBytes > 0 {
                if byte < self.minNextByte || byte > self.maxNextByte { return false }
                self.missingBytes -= 1
                self.minNextByte = 0x80
                self.maxNextByte = 0xBF
            } else if byte >= 0x80 {
                if !self.startCharacter(with: byte) { return false }
            }
        }
        return true
    }

    /// The highest bit of each of eight bytes; it is zero in ASCII.
    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    /// Records which bytes may follow the first byte of a multi-byte character; false when it cannot be a first byte.
    private mutating func startCharacter(with byte: UInt8) -> Bool {
        // The narrower ranges of the second byte exclude overlong forms (E0, F0), surrogates (ED), and numbers over
        // 10FFFF (F4).
        switch byte {
        case 0xC2...0xDF: self.missingBytes = 1
        case 0xE0...0xEF:
            self.missingBytes = 2
            if byte == 0xE0 { self.minNextByte = 0xA0 }
            if byte == 0xED { self.maxNextByte = 0x9F }
        case 0xF0...0xF4:
            self.missingBytes = 3
            if byte == 0xF0 { self.minNextByte = 0x90 }
            if byte == 0xF4 { self.maxNextByte = 0x8F }
        default: return false
        }
        return true
    }
}
