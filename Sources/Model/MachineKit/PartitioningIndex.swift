// SPDX-License-Identifier: Apache-2.0

extension RandomAccessCollection where Index == Int {
    /// The index at which the second part of a list begins, by binary search.
    ///
    /// With the predicate `$0 >= key`, a sorted list gives the index of `key`, or the index at which to insert it.
    ///
    /// - Parameter belongsInSecondPart: false for all elements before some index, and true for that element and all
    ///   later ones.
    /// - Returns: the index of the first element of the second part; `endIndex` when the predicate is false for all
    ///   elements.
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
