// SPDX-License-Identifier: Apache-2.0

/// The numbers of skipped feed items, which may be received later.
struct FeedGaps: Equatable, Sendable {
    /// The maximum number of ranges; when there are more, the first one is dropped, so that memory is limited.
    private static let maxRangeCount = 100
    private var ranges: [ClosedRange<Int64>] = []

    /// Records that these numbers were skipped.
    mutating func insert(_ range: ClosedRange<Int64>) {
        self.ranges.append(range)
        if self.ranges.count > Self.maxRangeCount { self.ranges.removeFirst() }
    }

    /// Removes the number of an item that was received late.
    ///
    /// - Returns: whether the number was among the skipped ones.
    mutating func remove(_ number: Int64) -> Bool {
        guard let index = self.ranges.firstIndex(where: { $0.contains(number) }) else { return false }
        let range = self.ranges.remove(at: index)
        if range.lowerBound < number { self.ranges.append(range.lowerBound...number - 1) }
        if number < range.upperBound { self.ranges.append(number + 1...range.upperBound) }
        return true
    }
}
