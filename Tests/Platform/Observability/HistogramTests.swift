// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Observability
import Testing

/// Tests of `Histogram`, which counts whole numbers in log-linear buckets, so that percentiles are nearly exact.
@Suite struct HistogramTests {
    static let percents = [0.0, 1, 10, 50, 75, 90, 95, 99, 99.9, 99.99, 100]

    /// Values of very different orders of magnitude, like latencies.
    static func values(_ count: Int, seed: UInt64) -> [Int] {
        var random = SeededRandom(seed: seed)
        return (0..<count).map { _ in
            Int.random(in: 0...(1 << Int.random(in: 1...32, using: &random)), using: &random)
        }
    }

    @Test(arguments: [1, 2, 10, 1_000, 50_000])
    func `each percentile is within one percent of the exact one`(count: Int) {
        let values = Self.values(count, seed: UInt64(count))
        var histogram = Histogram()
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for percent in Self.percents {
            // Without the subtraction of 1e-6, an error of the division could round a whole rank up to the next rank.
            let rank = max(1, Int((percent / 100 * Double(count) - 1e-6).rounded(.up)))
            let exact = Double(sorted[rank - 1])
            let error = abs(Double(histogram.percentile(percent)) - exact)
            #expect(
                error <= exact * 0.01, "p\(percent) is \(histogram.percentile(percent)) instead of about \(exact)")
        }
        #expect(histogram.count == count)
        #expect(histogram.sum == values.reduce(0, +))
        #expect(histogram.maximum == sorted.last)
        #expect(histogram.minimum == sorted.first)
    }

    @Test func `four merged histograms, one of them empty, equal one histogram of all values`() {
        // The values go to the first three histograms; the fourth one stays empty.
        var histograms = [Histogram](repeating: Histogram(), count: 4)
        var histogramOfAll = Histogram()
        for (index, value) in Self.values(10_000, seed: 7).enumerated() {
            histograms[index % 3].record(value)
            histogramOfAll.record(value)
        }
        var merged = Histogram()
        for histogram in histograms { merged.merge(histogram) }
        #expect(merged == histogramOfAll)
    }

    @Test func `buckets ascend with their values, and values beyond the range share the last bucket`() {
        var highestBucket = -1
        for exponent in 0..<33 {
            for value in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
                let bucket = Histogram.bucket(of: value)
                // The values are 0, 1, 2, then 1, 2, 3, then 3, 4, 5, and so on. Only the second 1 is below the value
                // before it, so its bucket is one below the highest bucket.
                #expect(bucket >= highestBucket - 1 && bucket < Histogram.bucketCount)
                highestBucket = max(highestBucket, bucket)
            }
        }
        #expect(Histogram.bucket(of: Histogram.highestValue) == Histogram.bucketCount - 1)
        #expect(Histogram.bucket(of: .max) == Histogram.bucketCount - 1)
    }

    @Test func `an empty histogram reports 0, and values outside its range are clamped`() {
        var histogram = Histogram()
        #expect(histogram.percentile(99) == 0)
        histogram.record(-5)
        histogram.record(.max)
        histogram.record(.max)
        #expect(histogram.percentile(0) == 0)
        #expect(histogram.maximum == .max)
        #expect(histogram.sum == .max, "the sum does not overflow")
        // A value that is recorded zero times does not count.
        histogram.record(3, times: 0)
        #expect(histogram.count == 3)
    }

    @Test func `a count up to a bound is at most one percent below the true count, and never above it`() {
        var histogram = Histogram()
        for value in 1...100_000 { histogram.record(value) }
        for bound in [0, 1, 100, 1_000, 5_000, 20_000, 99_999] {
            // Each value up to 100,000 was recorded once, so the true count is the bound.
            let count = histogram.count(upTo: bound)
            #expect(count <= bound && Double(count) >= Double(bound) * 0.99)
        }
        #expect(histogram.count(upTo: .max) == 100_000)
    }
}
