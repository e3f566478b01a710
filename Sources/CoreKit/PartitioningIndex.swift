// SPDX-License-Identifier: Apache-2.0

extension RandomAccessCollection where Index == Int {
    /// Where the second part of a list begins, by binary search: in a list that is in order, the place of a key, or the
    /// one that it would take.
    ///
    /// - Parameter belongsInSecondPart: false for all elements before some place, true for all from there on.
    /// - Returns: that place; the end when it is true for none.
    @inlinable package func partitioningIndex(where belongsInSecondPart: (Element) -> Bool) -> Int {
        var low = self.startIndex
        var high = self.endIndex
        while low < high {
            let middle = low + (high - low) / 2
            if belongsInSecondPart(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
