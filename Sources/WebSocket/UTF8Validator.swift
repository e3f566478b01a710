// SPDX-License-Identifier: Apache-2.0

/// Checks that bytes which come piece by piece are UTF-8 (Unicode 15, table 3-7: no surrogates, no overlong forms).
package struct UTF8Validator: Equatable, Sendable {
    /// How many bytes of the current character are still to come.
    private var needed: UInt8 = 0
    /// What the next of them may be.
    private var lowest: UInt8 = 0x80
    private var highest: UInt8 = 0xBF

    /// Starts between two characters.
    package init() {}

    /// Whether the bytes so far end with a whole character.
    package var isComplete: Bool { self.needed == 0 }

    /// Takes the next bytes.
    ///
    /// - Returns: Whether they can be part of a UTF-8 text; after false the validator is of no use.
    package mutating func consume(_ bytes: Span<UInt8>) -> Bool {
        unsafe bytes.withUnsafeBytes { raw in unsafe self.consume(raw) }
    }

    private mutating func consume(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var at = 0
        let count = bytes.count
        while at < count {
            if self.needed == 0 {
                // Runs of ASCII, which is most of JSON, pass eight at a time.
                while at + 8 <= count,
                    unsafe bytes.loadUnaligned(fromByteOffset: at, as: UInt64.self) & Self.highBits == 0
                {
                    at += 8
                }
                if at == count { return true }
            }
            let byte = unsafe bytes[at]
            at += 1
            if self.needed > 0 {
                if byte < self.lowest || byte > self.highest { return false }
                self.needed -= 1
                self.lowest = 0x80
                self.highest = 0xBF
            } else if byte >= 0x80 {
                if !self.began(with: byte) { return false }
            }
        }
        return true
    }

    private static let highBits: UInt64 = 0x8080_8080_8080_8080

    private mutating func began(with byte: UInt8) -> Bool {
        switch byte {
        case 0xC2...0xDF: self.needed = 1
        case 0xE0...0xEF:
            self.needed = 2
            if byte == 0xE0 { self.lowest = 0xA0 }
            if byte == 0xED { self.highest = 0x9F }
        case 0xF0...0xF4:
            self.needed = 3
            if byte == 0xF0 { self.lowest = 0x90 }
            if byte == 0xF4 { self.highest = 0x8F }
        default: return false
        }
        return true
    }
}
