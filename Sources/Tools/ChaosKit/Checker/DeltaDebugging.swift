// SPDX-License-Identifier: Apache-2.0

/// Delta debugging: finds a small part of a list that still shows a failure.
enum DeltaDebugging {
    /// Removes entries, first large parts and then single ones, where the remaining entries still show the failure.
    ///
    /// - Parameters:
    ///   - entries: the list, which shows the failure.
    ///   - maxTests: the maximum number of calls of `showsFailure`.
    ///   - showsFailure: whether a part of the list shows the failure.
    /// - Returns: the remaining entries, in the same order; `isShortest` is true if none of them can be removed alone,
    ///   and false if `maxTests` ended the search.
    static func minimize<Entry>(
        _ entries: [Entry], maxTests: Int, showsFailure: ([Entry]) -> Bool
    ) -> (entries: [Entry], isShortest: Bool) {
        var kept = entries
        var testCount = 0
        var partSize = kept.count
        while partSize > 0 {
            var hasRemoved = false
            var start = 0
            while start < kept.count {
                if testCount == maxTests { return (kept, false) }
                testCount += 1
                let end = min(start + partSize, kept.count)
                let candidate = Array(kept[..<start] + kept[end...])
                if showsFailure(candidate) {
                    kept = candidate
                    hasRemoved = true
                } else {
                    start = end
                }
            }
            // A pass with single entries is repeated until it removes nothing, because a removal may make another
            // removal possible.
            if partSize > 1 { partSize = (partSize + 1) / 2 } else if !hasRemoved { return (kept, true) }
            if kept.isEmpty { return (kept, true) }
        }
        return (kept, true)
    }
}
