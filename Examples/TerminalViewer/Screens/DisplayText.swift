// SPDX-License-Identifier: Apache-2.0

/// Text that is safe to write to a terminal, with its width in columns.
///
/// Other users choose names and messages. Control characters in them must not reach the terminal, because they could
/// move the cursor, change the title, or reverse the direction of the line.
package struct DisplayText: Hashable, Sendable {
    /// The characters that are shown; none of them is a control character.
    package let characters: [Character]
    /// The number of columns.
    package let width: Int

    /// The maximum number of scalars of one character; further combining marks are left out.
    private static let maxScalars = 8

    /// Makes a safe text: characters that a terminal would act upon become spaces.
    package init(_ text: String) {
        self.characters = text.map { Self.safe($0) }
        self.width = self.characters.reduce(0) { $0 + Self.width(of: $1) }
    }

    private init(_ characters: [Character]) {
        self.characters = characters
        self.width = characters.reduce(0) { $0 + Self.width(of: $1) }
    }

    /// The text as a string.
    package var string: String { String(self.characters) }

    /// The beginning of the text, in at most this many columns; a shortened text ends with an ellipsis.
    package func prefix(columns: Int) -> DisplayText {
        if self.width <= columns { return self }
        guard columns > 0 else { return DisplayText([Character]()) }
        var (beginning, usedColumns): ([Character], Int) = ([], 0)
        for character in self.characters {
            let width = Self.width(of: character)
            if usedColumns + width > columns - 1 { break }
            beginning.append(character)
            usedColumns += width
        }
        return DisplayText(beginning + ["…"])
    }

    /// The text in lines of at most this many columns, broken at spaces where that is possible.
    package func wrapped(columns: Int) -> [DisplayText] {
        guard columns > 0 else { return [] }
        var lines: [DisplayText] = []
        var (line, usedColumns): ([Character], Int) = ([], 0)
        for character in self.characters {
            let width = Self.width(of: character)
            // A character that is wider than the line cannot be shown.
            if width > columns { continue }
            if usedColumns + width > columns {
                let space = character == " " ? nil : line.lastIndex(of: " ")
                lines.append(DisplayText(space.map { Array(line[..<$0]) } ?? line))
                line = space.map { Array(line[($0 + 1)...]) } ?? []
                usedColumns = line.reduce(0) { $0 + Self.width(of: $1) }
                // The space at which a line is broken is not shown.
                if character == " " { continue }
            }
            line.append(character)
            usedColumns += width
        }
        if !line.isEmpty || lines.isEmpty { lines.append(DisplayText(line)) }
        return lines
    }

    /// The number of columns of a character: 1, or 2 for wide East Asian characters and emoji.
    package static func width(of character: Character) -> Int {
        guard let first = character.unicodeScalars.first else { return 0 }
        // U+FE0F (variation selector 16) shows the scalar before it as an emoji. Without it, no scalar below U+1100 is
        // wide.
        if first.value < 0x1100 { return character.unicodeScalars.contains("\u{FE0F}") ? 2 : 1 }
        if first.properties.isEmojiPresentation || character.unicodeScalars.contains("\u{FE0F}") { return 2 }
        return self.wide.contains { $0.contains(first.value) } ? 2 : 1
    }

    /// The ranges of wide scalars that are not emoji.
    private static let wide: [ClosedRange<UInt32>] = [
        0x1100...0x115F, 0x2E80...0x303E, 0x3041...0xA4CF, 0xA960...0xA97C, 0xAC00...0xD7A3, 0xF900...0xFAFF,
        0xFE30...0xFE6F, 0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1F64F, 0x1F900...0x1F9FF,
        0x20000...0x3FFFD,
    ]

    /// The character without its unsafe scalars; a space if nothing else remains.
    private static func safe(_ character: Character) -> Character {
        let scalars = character.unicodeScalars
        guard let first = scalars.first, self.isSafe(first), !self.isMark(first) else { return " " }
        if scalars.count == 1 { return character }
        var safeScalars = String.UnicodeScalarView()
        // The zero-width joiner U+200D is a format character, but joins emoji.
        for scalar in scalars.prefix(self.maxScalars) where self.isSafe(scalar) || scalar == "\u{200D}" {
            safeScalars.append(scalar)
        }
        let text = String(safeScalars)
        // Without the scalars that were left out, the text may be more than one character.
        return text.count == 1 ? Character(text) : Character(first)
    }

    private static func isSafe(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned: false
        default: true
        }
    }

    /// Whether a scalar has no column of its own, so that it cannot begin a character.
    private static func isMark(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark: true
        default: false
        }
    }
}
