// SPDX-License-Identifier: Apache-2.0

/// Suggests a known word for a mistyped one.
package enum Suggestion {
    /// The candidate with the smallest edit distance to `word`.
    ///
    /// The distance may be at most 2 or a third of the letters of `word`, whichever is more, and must be less than the
    /// number of these letters.
    ///
    /// - Returns: the candidate; nil if none is near enough.
    package static func nearest(to word: String, among candidates: [String]) -> String? {
        let limit = max(2, word.count / 3)
        // With a distance as large as the number of letters, the suggestion might share no letter with a short word.
        return
            candidates
            .map { (candidate: $0, distance: Self.editDistance(Array(word), Array($0))) }
            .filter { $0.distance <= limit && $0.distance < max(word.count, 1) }
            .min { ($0.distance, $0.candidate) < ($1.distance, $1.candidate) }?
            .candidate
    }

    /// The number of insertions, deletions, replacements and swaps of adjacent letters that turn one word into the
    /// other (the optimal string alignment distance).
    ///
    /// Computes the matrix of distances between all prefixes row by row; only the last three rows are stored.
    private static func editDistance(_ left: [Character], _ right: [Character]) -> Int {
        var rowBeforePrevious = [Int](repeating: 0, count: right.count + 1)
        var previousRow = Array(0...right.count)
        // `i` and `j` are the indexes of the last letters of the two prefixes. In a row, the element 0 belongs to the
        // empty prefix of `right`, and the element `j + 1` to the prefix that ends with the letter `j`.
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let replacementCost = left[i] == right[j] ? 0 : 1
                var best = min(previousRow[j + 1] + 1, row[j] + 1, previousRow[j] + replacementCost)
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    best = min(best, rowBeforePrevious[j - 1] + 1)
                }
                row.append(best)
            }
            rowBeforePrevious = previousRow
            previousRow = row
        }
        return previousRow[right.count]
    }
}
