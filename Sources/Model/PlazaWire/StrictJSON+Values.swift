// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// One component of a coding path: a member's name or an element's index.
struct JSONKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(stringValue: String) {
        self.stringValue = stringValue
        self.intValue = nil
    }

    init(intValue: Int) {
        self.stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

/// Converts entries to values.
///
/// The entries are in the order of the text. The entry of an object is followed by the entries of its members. (A
/// member is a name with its value in a JSON object.) The entry of a member's name is followed by the entry of its
/// value. The entry of a list is followed by the entries of its elements.
extension StrictJSON {
    /// The index of the first entry after the value at `index` and its contents.
    func index(after index: Int) -> Int {
        switch self.entries[index].kind {
        case .object, .list: Int(self.entries[index].entryAfter)
        default: index + 1
        }
    }

    /// The index of the value of the first member with this name; nil if the object at the index `object` has no such
    /// member.
    ///
    /// Names are compared byte by byte: Swift's comparison of strings takes seconds for a hostile name
    /// (`StrictJSON+Marks.swift`).
    func member(_ name: String, of object: Int) -> Int? {
        name.withUTF8Bytes { nameBytes in
            let end = self.index(after: object)
            var index = object + 1
            while index < end {
                let entry = self.entries[index]
                let isMatch =
                    self.hasEscape(entry)
                    ? self.text(at: index).utf8.elementsEqual(name.utf8) : self.isEqual(entry, nameBytes)
                // The value follows its name.
                if isMatch { return index + 1 }
                index = self.index(after: index + 1)
            }
            return nil
        }
    }

    /// The bytes of the string at `index`, without escape sequences.
    func utf8(at index: Int) -> ArraySlice<UInt8> {
        let entry = self.entries[index]
        if self.hasEscape(entry) { return ArraySlice(self.text(at: index).utf8) }
        return self.bytes[Int(entry.start)..<Int(entry.end)]
    }

    /// Whether a string contains an escape sequence.
    private func hasEscape(_ entry: Entry) -> Bool {
        entry.kind == .text && self.bytes[Int(entry.start)..<Int(entry.end)].contains(UInt8(ascii: "\\"))
    }

    /// Whether the string of an entry, which has no escape sequences, has the same bytes as a name.
    private func isEqual(_ entry: Entry, _ nameBytes: Span<UInt8>) -> Bool {
        guard Int(entry.end - entry.start) == nameBytes.count else { return false }
        let bytes = self.bytes.span
        for offset in nameBytes.indices where bytes[Int(entry.start) + offset] != nameBytes[offset] { return false }
        return true
    }

    /// Calls `body` with the name and the value's index of each member, in the order of the text.
    func forEachMember(of object: Int, _ body: (_ name: String, _ valueIndex: Int) -> Void) {
        self.forEachMemberIndex(of: object) { body(self.text(at: $0), $0 + 1) }
    }

    /// Calls `body` with the index of each member's name, which the value follows; in the order of the text.
    func forEachMemberIndex(of object: Int, _ body: (Int) -> Void) {
        let end = self.index(after: object)
        var index = object + 1
        while index < end {
            body(index)
            index = self.index(after: index + 1)
        }
    }

    /// Calls `body` with the index of each element, in the order of the text.
    func forEachElement(of list: Int, _ body: (Int) -> Void) {
        let end = self.index(after: list)
        var index = list + 1
        while index < end {
            body(index)
            index = self.index(after: index)
        }
    }

    /// The string at `index`, which must be the index of a string.
    func text(at index: Int) -> String {
        let entry = self.entries[index]
        guard self.hasEscape(entry) else {
            return String(decoding: self.bytes[Int(entry.start)..<Int(entry.end)], as: UTF8.self)
        }
        return self.unescaped(from: Int(entry.start), to: Int(entry.end))
    }

    /// Replaces the escape sequences of a string.
    ///
    /// The scan has validated them, so the fallbacks `?? 0` and U+FFFD are never used.
    private func unescaped(from start: Int, to end: Int) -> String {
        let bytes = self.bytes.span
        var text: [UInt8] = []
        text.reserveCapacity(end - start)
        var index = start
        while index < end {
            let byte = bytes[index]
            guard byte == UInt8(ascii: "\\") else {
                text.append(byte)
                index += 1
                continue
            }
            let letter = bytes[index + 1]
            index += 2
            switch letter {
            case UInt8(ascii: "b"): text.append(0x08)
            case UInt8(ascii: "f"): text.append(0x0C)
            case UInt8(ascii: "n"): text.append(0x0A)
            case UInt8(ascii: "r"): text.append(0x0D)
            case UInt8(ascii: "t"): text.append(0x09)
            case UInt8(ascii: "u"):
                var scalar = Self.hexadecimal(bytes, at: index) ?? 0
                index += 4
                // After a high surrogate, `index` is at the `\u` before the digits of the low surrogate.
                if scalar & 0xFC00 == 0xD800, let low = Self.hexadecimal(bytes, at: index + 2) {
                    // Each surrogate holds ten bits of the scalar's distance from U+10000.
                    scalar = 0x10000 + ((scalar & 0x3FF) << 10) + (low & 0x3FF)
                    index += 6
                }
                text.append(contentsOf: String(Unicode.Scalar(scalar) ?? "\u{FFFD}").utf8)
            // A quotation mark, backslash or slash stands for itself.
            default: text.append(letter)
            }
        }
        return String(decoding: text, as: UTF8.self)
    }

    /// The coding path of the value at `index`; only errors need it.
    func path(to index: Int) -> [any CodingKey] {
        var path: [any CodingKey] = []
        var container = 0
        // Each turn descends from a container to its member or element that is, or contains, the value at `index`.
        while container < index {
            let isObject = self.entries[container].kind == .object
            var elementIndex = 0
            // In an object, a name precedes each value.
            var value = isObject ? container + 2 : container + 1
            while self.index(after: value) <= index {
                elementIndex += 1
                value = self.index(after: value) + (isObject ? 1 : 0)
            }
            path.append(isObject ? JSONKey(stringValue: self.text(at: value - 1)) : JSONKey(intValue: elementIndex))
            container = value
        }
        return path
    }
}
