// SPDX-License-Identifier: Apache-2.0

/// Suggests a known word for a mistyped one.
package enum Suggestion {
    /// The candidate with the smallest edit distance to `word`.
    ///
    /// - Returns: the candidate; nil if all distances exceed two, or a third of the letters of a long word.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = max(2, word.count / 3)
        // The distance must also be less than the word's length: otherwise a short word would get a suggestion that
        // shares no letter with it.
        return
            candidates
            .map { (word: $0, distance: Self.editDistance(Array(word), Array($0))) }
            .filter { $0.distance <= limit && $0.distance < max(word.count, 1) }
            .min { ($0.distance, $0.word) < ($1.distance, $1.word) }?
            .word
    }

    /// The number of insertions, deletions, replacements and swaps of neighbours that turn one word into the other.
    ///
    /// Computes the matrix of distances between all prefixes row by row; only the last three rows are stored.
    private static func editDistance(_ a: [Character], _ b: [Character]) -> Int {
        var rowBeforePrevious = [Int](repeating: 0, count: b.count + 1)
        var previousRow = Array(0...b.count)
        for i in a.indices {
            var row = [i + 1]
            for j in b.indices {
                var best = min(previousRow[j + 1] + 1, row[j] + 1, previousRow[j] + (a[i] == b[j] ? 0 : 1))
                if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
                    best = min(best, rowBeforePrevious[j - 1] + 1)
                }
                row.append(best)
            }
            rowBeforePrevious = previousRow
            previousRow = row
        }
        return previousRow[b.count]
    }
}
