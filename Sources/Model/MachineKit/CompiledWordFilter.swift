// SPDX-License-Identifier: Apache-2.0

/// A word filter with the words that it was compiled from.
///
/// Thousands of words take milliseconds to compile, and settings change also when their words stay. So the filter is
/// compiled again only for other words.
package struct CompiledWordFilter: Sendable {
    /// The filter.
    package private(set) var filter: WordFilter
    private var words: [String]

    /// Compiles a filter for `words`.
    package init(_ words: [String] = []) {
        self.words = words
        self.filter = WordFilter(words)
    }

    /// Compiles the filter for `words`, unless it was compiled from them.
    ///
    /// - Returns: whether the filter was compiled.
    @discardableResult package mutating func update(_ words: [String]) -> Bool {
        // Words are compared by their bytes, because composed and decomposed letters are different to the filter.
        let isUnchanged = self.words.elementsEqual(words) { $0.utf8.elementsEqual($1.utf8) }
        // The new array is kept in both cases, because the caller's table shares its storage.
        self.words = words
        if isUnchanged { return false }
        self.filter = WordFilter(words)
        return true
    }
}
