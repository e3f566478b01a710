// SPDX-License-Identifier: Apache-2.0

/// Guesses what a mistyped word was meant to be.
package enum Suggestion {
    /// The word of `candidates` that `word` was most likely meant to be.
    ///
    /// - Returns: nothing when none is within two slips (or a third of the letters, for long words).
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = max(2, word.count / 3)
        return
            candidates
            .map { (word: $0, slips: Self.distance(Array(word), Array($0))) }
            .filter { $0.slips <= limit && $0.slips < max(word.count, 1) }
            .min { ($0.slips, $0.word) < ($1.slips, $1.word) }?
            .word
    }

    /// How many insertions, deletions, replacements and swaps of neighbours turn one word into the other.
    private static func distance(_ a: [Character], _ b: [Character]) -> Int {
        var before = [Int](repeating: 0, count: b.count + 1)
        var previous = Array(0...b.count)
        for i in a.indices {
            var current = [i + 1]
            for j in b.indices {
                var best = min(previous[j + 1] + 1, current[j] + 1, previous[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] { best = min(best, before[j - 1] + 1) }
                current.append(best)
            }
            before = previous
            previous = current
        }
        return previous[b.count]
    }
}
