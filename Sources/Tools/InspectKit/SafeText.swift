// SPDX-License-Identifier: Apache-2.0

/// Makes text that users have written safe for a terminal.
enum SafeText {
    /// `text`, cut after `count` Unicode scalars, with each character that is not safe as `\u{…}`.
    ///
    /// A terminal would execute control sequences. Formatting characters can reverse the order of a line. Separators
    /// can begin a new line or paragraph. Private and unassigned characters have no defined appearance.
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

    /// `text`, padded with blanks to `count` characters.
    static func padded(_ text: String, to count: Int) -> String {
        text + String(repeating: " ", count: max(0, count - text.count))
    }
}
