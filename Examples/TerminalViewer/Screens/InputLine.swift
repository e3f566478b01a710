// SPDX-License-Identifier: Apache-2.0

/// A line of text that the user edits.
package struct InputLine: Hashable, Sendable {
    private var characters: [Character] = []
    private var position = 0
    /// The lines that were entered before, oldest first.
    private var history: [String] = []
    /// The place in the history; its count for the new line.
    private var recalled = 0

    /// The most characters of a line.
    private static let maxCharacters = 500
    private static let maxHistory = 50

    package init() {}

    package var text: String { String(self.characters) }
    package var isEmpty: Bool { self.characters.isEmpty }

    /// Changes the line as a key says.
    ///
    /// - Returns: whether the key is one of a line.
    @discardableResult
    package mutating func press(_ key: Key) -> Bool {
        switch key {
        case .character(let character): self.insert(character)
        case .backspace where self.position > 0:
            self.position -= 1
            self.characters.remove(at: self.position)
        case .delete where self.position < self.characters.count: self.characters.remove(at: self.position)
        case .backspace, .delete: break
        case .left: self.position = max(self.position - 1, 0)
        case .right: self.position = min(self.position + 1, self.characters.count)
        case .home, .control("a"): self.position = 0
        case .end, .control("e"): self.position = self.characters.count
        case .control("u"): self.replace("")
        case .control("w"): self.removeWord()
        case .up: self.recall(self.recalled - 1)
        case .down: self.recall(self.recalled + 1)
        default: return false
        }
        return true
    }

    /// Replaces the line, and puts the cursor at its end.
    package mutating func replace(_ text: String) {
        self.characters = Array(text.prefix(Self.maxCharacters))
        self.position = self.characters.count
    }

    /// Takes the line, which is empty after that and stands in the history.
    package mutating func take() -> String {
        let text = self.text
        if !text.isEmpty, self.history.last != text { self.history.append(text) }
        if self.history.count > Self.maxHistory { self.history.removeFirst() }
        self.recalled = self.history.count
        self.replace("")
        return text
    }

    /// The part of the line that is seen in so many columns, and the cursor's column in it.
    package func visible(columns: Int) -> (text: DisplayText, cursor: Int) {
        var start = 0
        func width(_ range: Range<Int>) -> Int { DisplayText(String(self.characters[range])).width }
        while start < self.position, width(start..<self.position) >= max(columns, 1) { start += 1 }
        var end = self.characters.count
        while end > self.position, width(start..<end) > max(columns, 0) { end -= 1 }
        return (DisplayText(String(self.characters[start..<end])), width(start..<self.position))
    }

    private mutating func insert(_ character: Character) {
        guard self.characters.count < Self.maxCharacters else { return }
        self.characters.insert(character, at: self.position)
        self.position += 1
    }

    private mutating func removeWord() {
        let before = self.characters[..<self.position]
        let word = before.reversed().drop { $0 == " " }.drop { $0 != " " }
        self.characters.removeSubrange(word.count..<self.position)
        self.position = word.count
    }

    private mutating func recall(_ place: Int) {
        guard (0...self.history.count).contains(place), place != self.recalled else { return }
        self.recalled = place
        self.replace(place < self.history.count ? self.history[place] : "")
    }
}
