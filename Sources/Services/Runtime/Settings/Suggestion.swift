// SPDX-License-Identifier: Apache-2.0

/// Suggests a known word for a mistyped one.
package enum Suggestion {
    /// The candidate with the smallest edit distance to `word`.
    ///
    /// - Returns: nil: all distances exceed two, or a third of the letters of a long word.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = max(2, word.count / 3)
        return
            candidates
            .map { (word: $0, distance: Self.editDistance(Array(word), Array($0))) }
            .filter { $0.distance <= limit && $0.distance < max(word.count, 1) }
            .min { ($0.distance, $0.word) < ($1.distance, $1.word) }?
            .word
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
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
