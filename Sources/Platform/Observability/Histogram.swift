// SPDX-License-Identifier: Apache-2.0

/// Counts whole numbers in log-linear buckets, like an HDR histogram; percentiles are exact within 0.4 %.
///
/// Each number below 256 has its own bucket. Above that, each power of two has 128 buckets. Values over `highestValue`
/// (2^33 − 1: 2.4 hours in microseconds) count as `highestValue`. The caller chooses the unit.
///
/// It is a value type: each worker fills its own histogram, and the histograms are merged at the end.
package struct Histogram: Sendable, Equatable {
    /// The largest number that has a bucket; larger numbers count as this number.
    package static let highestValue = (1 << 33) - 1
    /// The number of buckets: one for each number below 2^8, then 128 for each power of two from 2^8 to 2^32.
    package static let bucketCount = 256 + (33 - 8) * 128

    /// The number of recorded values.
    package private(set) var count = 0
    /// The sum of all values; a sum beyond the largest integer stays at that integer.
    package private(set) var sum = 0
    /// The largest value, exact; 0 when there is none.
    package private(set) var maximum = 0
    /// The smallest value, exact; 0 when there is none.
    package var minimum: Int { self.count == 0 ? 0 : self.lowest }
    /// The smallest value; `Int.max` when there is none.
    private var lowest = Int.max
    /// The counts by bucket; empty until a value is recorded.
    private var buckets: [Int] = []

    /// Makes an empty histogram; it allocates its 28 KB when the first value is recorded.
    package init() {}

    /// Restores a histogram from its buckets; minimum and maximum become the edges of the outermost buckets.
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

    /// Records `value` the given number of times; a negative value counts as 0.
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

    /// Adds the counts of `other`.
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

    /// The value that `percent` per cent of all values do not exceed, such as `percentile(99.9)`; 0 when nothing was
    /// recorded.
    ///
    /// The result is the middle of a bucket. A bucket is at most as wide as a 128th of its values, so the result is
    /// within a 256th (0.4 %) of the exact value. It is never below the minimum or above the maximum.
    package func percentile(_ percent: Double) -> Int {
        guard self.count > 0 else { return 0 }
        let share = min(max(percent, 0), 100) / 100
        // The rank is the position of the result among all values in ascending order, counted from 1. It is rounded up
        // from slightly less than the product. Otherwise the inexact product of 99.9 % and 1,000 would be rounded up to
        // 1,000 instead of 999.
        let rank = max(1, Int((share * Double(self.count) - 1e-6).rounded(.up)))
        if rank >= self.count { return self.maximum }
        var cumulativeCount = 0
        for index in self.buckets.indices {
            cumulativeCount += self.buckets[index]
            if cumulativeCount >= rank {
                let low = Self.lowerBound(ofBucket: index)
                let middle = low + (Self.upperBound(ofBucket: index) - low) / 2
                return min(max(middle, self.minimum), self.maximum)
            }
        }
        return self.maximum
    }

    /// The number of values up to `bound`.
    ///
    /// The number is exact when `bound` is the end of a bucket. Otherwise the bucket that contains `bound` is left out.
    package func count(upTo bound: Int) -> Int {
        guard self.count > 0, bound >= 0 else { return 0 }
        let last = Self.bucket(of: bound)
        let isWholeBucket = Self.upperBound(ofBucket: last) <= bound
        return self.buckets[..<(isWholeBucket ? last + 1 : last)].reduce(0, +)
    }

    /// The bucket that counts `value`, which must not be negative.
    @inlinable
    package static func bucket(of value: Int) -> Int {
        let value = min(value, Self.highestValue)
        guard value >= 256 else { return value }
        let exponent = Int.bitWidth - 1 - value.leadingZeroBitCount
        // The highest eight bits of the value are 128 to 255, so they number the buckets of this power of two.
        return 256 + (exponent - 8) * 128 + ((value >> (exponent - 7)) - 128)
    }

    /// The smallest value that the bucket counts.
    static func lowerBound(ofBucket index: Int) -> Int {
        guard index >= 256 else { return index }
        let (octave, bucketInOctave) = (index - 256).quotientAndRemainder(dividingBy: 128)
        // An octave is the 128 buckets of one power of two. The first one begins at 2^8 = 128 << 1, and each further
        // one at twice the value of the one before.
        return (128 + bucketInOctave) << (octave + 1)
    }

    /// The largest value that the bucket counts.
    static func upperBound(ofBucket index: Int) -> Int { Self.lowerBound(ofBucket: index + 1) - 1 }

    /// Adds a number that may have overflowed to `sum`; the largest integer when the number or the sum overflows.
    private static func saturatingSum(_ sum: Int, _ added: (partialValue: Int, overflow: Bool)) -> Int {
        let (total, hasOverflowed) = sum.addingReportingOverflow(added.partialValue)
        return hasOverflowed || added.overflow ? .max : total
    }
}
