// SPDX-License-Identifier: Apache-2.0

/// Counts of whole numbers in log-linear buckets, as HDR histograms have: any percentile within 0.4 %.
///
/// Numbers below 256 have a bucket each; above, each power of two is cut into 128 buckets. Values beyond
/// `highestValue` (2^33 − 1: 2.4 hours in microseconds) count as that. A value type: one per worker, merged at the end.
/// The unit is the caller's.
package struct Histogram: Sendable, Equatable {
    /// The largest number that is told apart.
    package static let highestValue = (1 << 33) - 1
    /// How many buckets there are.
    package static let bucketCount = 256 + (33 - 8) * 128

    /// How many values were recorded.
    package private(set) var count = 0
    /// The sum of all values, as exact as they were; it stops at the largest integer.
    package private(set) var sum = 0
    /// The largest value, exact; 0 when there is none.
    package private(set) var maximum = 0
    /// The smallest value, exact; 0 when there is none.
    package var minimum: Int { self.count == 0 ? 0 : self.lowest }
    private var lowest = Int.max
    private var buckets: [Int] = []

    /// An empty histogram; it takes its 28 KB with the first value.
    package init() {}

    /// Restores a histogram from counts by bucket, taking the edges of the outermost buckets for the extremes.
    init(buckets: [Int], sum: Int) {
        self.buckets = buckets
        self.count = buckets.reduce(0, +)
        self.sum = sum
        if let first = buckets.firstIndex(where: { $0 > 0 }), let last = buckets.lastIndex(where: { $0 > 0 }) {
            self.lowest = Self.lowerBound(ofBucket: first)
            self.maximum = Self.upperBound(ofBucket: last)
        } else {
            self.buckets = []
        }
    }

    /// Counts `value`, `times` over; a negative value counts as 0.
    package mutating func record(_ value: Int, times: Int = 1) {
        guard times > 0 else { return }
        if self.buckets.isEmpty { self.buckets = [Int](repeating: 0, count: Self.bucketCount) }
        let value = max(0, value)
        self.buckets[Self.bucket(of: value)] += times
        self.count += times
        self.sum = Self.saturatingSum(self.sum, value.multipliedReportingOverflow(by: times))
        self.maximum = max(self.maximum, value)
        self.lowest = min(self.lowest, value)
    }

    /// Adds all that `other` counted.
    package mutating func merge(_ other: Histogram) {
        guard other.count > 0 else { return }
        guard self.count > 0 else {
            self = other
            return
        }
        for index in other.buckets.indices { self.buckets[index] += other.buckets[index] }
        self.count += other.count
        self.sum = Self.saturatingSum(self.sum, (other.sum, false))
        self.maximum = max(self.maximum, other.maximum)
        self.lowest = min(self.lowest, other.lowest)
    }

    /// The value that `percent` of all values do not exceed: `percentile(99.9)`; 0 when nothing was recorded.
    ///
    /// It is the middle of its bucket, so within 0.4 % of the exact one, and never beyond the extremes.
    package func percentile(_ percent: Double) -> Int {
        guard self.count > 0 else { return 0 }
        let share = min(max(percent, 0), 100) / 100
        // A hair less than the product, or 99.9 % of 1,000 would round up to the 1,000th.
        let rank = max(1, Int((share * Double(self.count) - 1e-6).rounded(.up)))
        if rank >= self.count { return self.maximum }
        var seen = 0
        for index in self.buckets.indices {
            seen += self.buckets[index]
            if seen >= rank {
                let low = Self.lowerBound(ofBucket: index)
                let middle = low + (Self.upperBound(ofBucket: index) - low) / 2
                return min(max(middle, self.minimum), self.maximum)
            }
        }
        return self.maximum
    }

    /// The arithmetic mean; 0 when nothing was recorded.
    package var mean: Double { self.count == 0 ? 0 : Double(self.sum) / Double(self.count) }

    /// How many values are at most `bound`, exact when `bound` ends a bucket, else short by part of one bucket.
    package func count(upTo bound: Int) -> Int {
        guard self.count > 0, bound >= 0 else { return 0 }
        let last = Self.bucket(of: bound)
        let isWhole = Self.upperBound(ofBucket: last) <= bound
        return self.buckets[..<(isWhole ? last + 1 : last)].reduce(0, +)
    }

    /// The bucket that counts `value`, which must not be negative.
    @inlinable
    package static func bucket(of value: Int) -> Int {
        let value = min(value, Self.highestValue)
        guard value >= 256 else { return value }
        let exponent = Int.bitWidth - 1 - value.leadingZeroBitCount
        return 256 + (exponent - 8) * 128 + ((value >> (exponent - 7)) - 128)
    }

    static func lowerBound(ofBucket index: Int) -> Int {
        guard index >= 256 else { return index }
        let (octave, part) = (index - 256).quotientAndRemainder(dividingBy: 128)
        return (128 + part) << (octave + 1)
    }

    static func upperBound(ofBucket index: Int) -> Int { Self.lowerBound(ofBucket: index + 1) - 1 }

    private static func saturatingSum(_ sum: Int, _ added: (partialValue: Int, overflow: Bool)) -> Int {
        let (total, isOverflown) = sum.addingReportingOverflow(added.partialValue)
        return isOverflown || added.overflow ? .max : total
    }
}
