// SPDX-License-Identifier: Apache-2.0

/// A line of text that the user edits.
package struct InputLine: Hashable, Sendable {
    private var characters: [Character] = []
    /// The index of the character at the cursor; the number of characters if the cursor is at the end.
    private var cursor = 0
    /// The lines that were entered before, oldest first.
    private var history: [String] = []
    /// The index in the history of the line that is shown; the count of the history for the new line.
    private var historyIndex = 0

    /// The maximum number of characters of a line.
    private static let maxCharacters = 500
    private static let maxHistory = 50

    package init() {}

    package var text: String { String(self.characters) }
    package var isEmpty: Bool { self.characters.isEmpty }

    /// Edits the line with a key.
    ///
    /// - Returns: whether the key is an editing key.
    @discardableResult
    package mutating func press(_ key: Key) -> Bool {
        switch key {
        case .character(let character): self.insert(character)
        case .backspace where self.cursor > 0:
            self.cursor -= 1
            self.characters.remove(at: self.cursor)
        case .delete where self.cursor < self.characters.count: self.characters.remove(at: self.cursor)
        // At the beginning or the end of the line there is nothing to remove.
        case .backspace, .delete: break
        case .left: self.cursor = max(self.cursor - 1, 0)
        case .right: self.cursor = min(self.cursor + 1, self.characters.count)
        case .home, .control("a"): self.cursor = 0
        case .end, .control("e"): self.cursor = self.characters.count
        case .control("u"): self.replace("")
        case .control("w"): self.removeWord()
        case .up: self.recall(self.historyIndex - 1)
        case .down: self.recall(self.historyIndex + 1)
        default: return false
        }
        return true
    }

    /// Replaces the line, and puts the cursor at its end.
    package mutating func replace(_ text: String) {
        self.characters = Array(text.prefix(Self.maxCharacters))
        self.cursor = self.characters.count
    }

    /// Returns the line, adds it to the history, and empties it.
    package mutating func takeLine() -> String {
        let text = self.text
        if !text.isEmpty, self.history.last != text { self.history.append(text) }
        if self.history.count > Self.maxHistory { self.history.removeFirst() }
        self.historyIndex = self.history.count
        self.replace("")
        return text
    }

    /// The part of the line that fits into this many columns and contains the cursor, and the cursor's column in it.
    package func visiblePart(columns: Int) -> (text: DisplayText, cursor: Int) {
        var start = 0
        func width(_ range: Range<Int>) -> Int { DisplayText(String(self.characters[range])).width }
        while start < self.cursor, width(start..<self.cursor) >= max(columns, 1) { start += 1 }
        var end = self.characters.count
        while end > self.cursor, width(start..<end) > max(columns, 0) { end -= 1 }
        return (DisplayText(String(self.characters[start..<end])), width(start..<self.cursor))
    }

    private mutating func insert(_ character: Character) {
        guard self.characters.count < Self.maxCharacters else { return }
        self.characters.insert(character, at: self.cursor)
        self.cursor += 1
    }

    /// Removes the word before the cursor, with the spaces after it.
    private mutating func removeWord() {
        let before = self.characters[..<self.cursor]
        // The characters before the word, from right to left.
        let remaining = before.reversed().drop { $0 == " " }.drop { $0 != " " }
        self.characters.removeSubrange(remaining.count..<self.cursor)
        self.cursor = remaining.count
    }

    /// Shows a line of the history, or a new line.
    private mutating func recall(_ index: Int) {
        guard (0...self.history.count).contains(index), index != self.historyIndex else { return }
        self.historyIndex = index
        self.replace(index < self.history.count ? self.history[index] : "")
    }
}
