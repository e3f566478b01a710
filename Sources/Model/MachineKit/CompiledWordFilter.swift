// SPDX-License-Identifier: Apache-2.0

/// A word filter with the words that it was compiled from.
///
/// Compiling thousands of words takes milliseconds. An app's settings can change while their words stay the same, so
/// the filter is compiled again only when the words differ.
package struct CompiledWordFilter: Sendable {
    /// The filter.
    package private(set) var filter: WordFilter
    private var words: [String]

    /// Compiles a filter for `words`.
    package init(_ words: [String] = []) {
        self.words = words
        self.filter = WordFilter(words)
    }

    /// Compiles the filter for `words`, unless it was already compiled from the same words.
    ///
    /// - Returns: whether the filter was compiled now.
    @discardableResult package mutating func update(_ words: [String]) -> Bool {
        // Words are compared by their bytes, because composed and decomposed letters are different to the filter.
        let isUnchanged = self.words.elementsEqual(words) { $0.utf8.elementsEqual($1.utf8) }
        // The new array replaces an equal one, too. The caller's table keeps the new array anyway, and both then share
        // its memory.
        self.words = words
        if isUnchanged { return false }
        self.filter = WordFilter(words)
        return true
    }
}
