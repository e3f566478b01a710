// SPDX-License-Identifier: Apache-2.0

/// A key that was pressed.
package enum Key: Hashable, Sendable {
    case character(Character)
    case enter, escape, tab, backspace, delete
    case left, right, up, down, home, end, pageUp, pageDown
    /// Control and a lowercase letter.
    case control(Character)
}

/// Reads keys from the bytes of a terminal, which may split a key anywhere.
package struct KeyParser: Sendable {
    /// Bytes that were received but are no whole key yet.
    private var pendingBytes: [UInt8] = []
    /// Whether pasted text is being read; a line break in it is not the key Enter.
    private var isPasting = false

    package init() {}

    /// Whether an escape byte was read that may be the key Escape or the beginning of another key.
    package var hasPendingEscape: Bool { self.pendingBytes.first == 0x1B }

    /// Reads bytes.
    package mutating func read(_ bytes: some Sequence<UInt8>) -> [Key] {
        self.pendingBytes += bytes
        var keys: [Key] = []
        while let (key, count) = self.next() {
            self.pendingBytes.removeFirst(count)
            if let key { keys.append(key) }
        }
        return keys
    }

    /// Ends the wait for further bytes: a pending escape byte is the key Escape.
    package mutating func flush() -> [Key] {
        guard self.hasPendingEscape else { return [] }
        self.pendingBytes.removeFirst()
        return [.escape] + self.read([])
    }

    /// The next key and the number of its bytes; nil if the bytes are not a whole key yet.
    ///
    /// The key is nil if its bytes are ignored.
    private mutating func next() -> (Key?, Int)? {
        guard let first = self.pendingBytes.first else { return nil }
        switch first {
        case 0x1B: return self.escapeSequence()
        case 0x0D, 0x0A: return (self.isPasting ? .character(" ") : .enter, 1)
        case 0x09: return (self.isPasting ? .character(" ") : .tab, 1)
        // Terminals send one of these for the key Backspace.
        case 0x7F, 0x08: return (.backspace, 1)
        case 0x01...0x1A: return (.control(Character(Unicode.Scalar(first + 0x60))), 1)
        case 0x00...0x1F: return (nil, 1)
        case 0x20...0x7E: return (.character(Character(Unicode.Scalar(first))), 1)
        default: return self.nonASCII(first)
        }
    }

    /// Reads a character of several bytes in UTF-8; the result is that of `next`.
    private func nonASCII(_ first: UInt8) -> (Key?, Int)? {
        let count =
            switch first {
            case 0xC2...0xDF: 2
            case 0xE0...0xEF: 3
            case 0xF0...0xF4: 4
            default: 1
            }
        if count == 1 { return (nil, 1) }
        let bytes = self.pendingBytes.prefix(count)
        guard bytes.dropFirst().allSatisfy({ $0 & 0xC0 == 0x80 }) else { return (nil, 1) }
        if bytes.count < count { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), let character = text.first else { return (nil, 1) }
        return (.character(character), count)
    }

    /// Reads `ESC [ parameters letter` or `ESC O letter`; the result is that of `next`.
    private mutating func escapeSequence() -> (Key?, Int)? {
        guard self.pendingBytes.count > 1 else { return nil }
        let second = self.pendingBytes[1]
        if second == UInt8(ascii: "O") {
            guard self.pendingBytes.count > 2 else { return nil }
            return (Self.key(ofFinal: self.pendingBytes[2]), 3)
        }
        // Any other byte after the escape byte belongs to the next key.
        guard second == UInt8(ascii: "[") else { return (.escape, 1) }
        guard let end = self.pendingBytes.dropFirst(2).firstIndex(where: { (0x40...0x7E).contains($0) }) else {
            // No escape sequence has more than 32 bytes, so the first two bytes of such input are dropped.
            return self.pendingBytes.count > 32 ? (nil, 2) : nil
        }
        let count = end + 1
        guard self.pendingBytes[end] == UInt8(ascii: "~") else {
            return (Self.key(ofFinal: self.pendingBytes[end]), count)
        }
        switch String(decoding: self.pendingBytes[2..<end], as: UTF8.self) {
        case "1", "7": return (.home, count)
        case "3": return (.delete, count)
        case "4", "8": return (.end, count)
        case "5": return (.pageUp, count)
        case "6": return (.pageDown, count)
        // The beginning and the end of pasted text.
        case "200": self.isPasting = true
        case "201": self.isPasting = false
        default: break
        }
        return (nil, count)
    }

    /// The key of an escape sequence that ends with a letter.
    private static func key(ofFinal letter: UInt8) -> Key? {
        switch letter {
        case UInt8(ascii: "A"): .up
        case UInt8(ascii: "B"): .down
        case UInt8(ascii: "C"): .right
        case UInt8(ascii: "D"): .left
        case UInt8(ascii: "F"): .end
        case UInt8(ascii: "H"): .home
        default: nil
        }
    }
}
