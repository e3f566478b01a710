// SPDX-License-Identifier: Apache-2.0
internal import PlazaWire

extension JSONValue {
    /// A member of an object; nil if the object has no such member, or if the value is not an object.
    subscript(_ name: String) -> JSONValue? { self.members[name] }

    /// The text; nil for a value of another type.
    var text: String? {
        if case .text(let text) = self { return text }
        return nil
    }

    /// The whole number; nil for a value of another type.
    var integer: Int64? {
        if case .integer(let number) = self { return number }
        return nil
    }
}

/// Makes text that users have written safe for a terminal.
enum SafeText {
    /// `text` with each control or formatting character as `\u{…}`, cut to `count` characters.
    ///
    /// A terminal would execute control sequences, and formatting characters can reverse the order of a line.
    static func line(_ text: String, max count: Int = .max) -> String {
        var safe = ""
        var length = 0
        for scalar in text.unicodeScalars {
            guard length < count else { return safe + "…" }
            length += 1
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                // Emoji contain the zero-width joiner, which is harmless.
                if scalar.value == 0x200D {
                    safe.unicodeScalars.append(scalar)
                } else {
                    safe += "\\u{" + String(scalar.value, radix: 16) + "}"
                }
            default: safe.unicodeScalars.append(scalar)
            }
        }
        return safe
    }
}
