// SPDX-License-Identifier: Apache-2.0

/// Delta debugging: finds a small part of a list that still shows a failure.
enum DeltaDebugging {
    /// Removes entries, first large parts and then single ones, as long as the rest shows the failure.
    ///
    /// - Parameters:
    ///   - entries: the list, which shows the failure.
    ///   - maxTests: the maximum number of calls of `showsFailure`.
    ///   - showsFailure: whether a part of the list shows the failure.
    /// - Returns: the rest, in the same order; `isShortest` says that no single entry of it can be removed. It is false
    ///   when `maxTests` ended the search.
    static func minimize<Entry>(
        _ entries: [Entry], maxTests: Int, showsFailure: ([Entry]) -> Bool
    ) -> (entries: [Entry], isShortest: Bool) {
        var rest = entries
        var tests = 0
        var size = rest.count
        while size > 0 {
            var hasRemoved = false
            var start = 0
            while start < rest.count {
                if tests == maxTests { return (rest, false) }
                tests += 1
                let end = min(start + size, rest.count)
                let candidate = Array(rest[..<start] + rest[end...])
                if showsFailure(candidate) {
                    rest = candidate
                    hasRemoved = true
                } else {
                    start = end
                }
            }
            // With single entries, another pass may remove what an earlier one could not.
            if size > 1 { size = (size + 1) / 2 } else if !hasRemoved { return (rest, true) }
            if rest.isEmpty { return (rest, true) }
        }
        return (rest, true)
    }
}
