// SPDX-License-Identifier: Apache-2.0
import Observability
import Testing

/// A small generator with a seed, so that a failure repeats.
struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        self.state &+= 0x9e37_79b9_7f4a_7c15
        var z = self.state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}

@Suite struct HistogramTests {
    static let percents = [0.0, 1, 10, 50, 75, 90, 95, 99, 99.9, 99.99, 100]

    /// Values whose sizes differ by orders of magnitude, as latencies' do.
    static func values(_ count: Int, seed: UInt64) -> [Int] {
        var random = SplitMix(state: seed)
        return (0..<count).map { _ in
            Int.random(in: 0...(1 << Int.random(in: 1...32, using: &random)), using: &random)
        }
    }

    @Test(arguments: [1, 2, 10, 1_000, 50_000])
    func `each percentile is within one percent of the sorted values`(count: Int) {
        let values = Self.values(count, seed: UInt64(count))
        var histogram = Histogram()
        for value in values { histogram.record(value) }
        let sorted = values.sorted()
        for percent in Self.percents {
            let rank = max(1, Int((percent / 100 * Double(count) - 1e-6).rounded(.up)))
            let exact = Double(sorted[rank - 1])
            let error = abs(Double(histogram.percentile(percent)) - exact)
            #expect(error <= exact * 0.01, "p\(percent) is \(histogram.percentile(percent)), exact \(exact)")
        }
        #expect(histogram.count == count)
        #expect(histogram.sum == values.reduce(0, +))
        #expect(histogram.maximum == sorted.last)
        #expect(histogram.minimum == sorted.first)
    }

    @Test func `merged histograms equal one that saw everything`() {
        var parts = [Histogram](repeating: Histogram(), count: 4)
        var whole = Histogram()
        for (index, value) in Self.values(10_000, seed: 7).enumerated() {
            parts[index % 3].record(value)
            whole.record(value)
        }
        var merged = Histogram()
        for part in parts { merged.merge(part) }
        #expect(merged == whole)
    }

    @Test func `every bucket holds what lies between its neighbours`() {
        var last = -1
        for exponent in 0..<33 {
            for value in [(1 << exponent) - 1, 1 << exponent, (1 << exponent) + 1] {
                let bucket = Histogram.bucket(of: value)
                #expect(bucket >= last - 1 && bucket < Histogram.bucketCount)
                last = max(last, bucket)
            }
        }
        #expect(Histogram.bucket(of: Histogram.highestValue) == Histogram.bucketCount - 1)
        #expect(Histogram.bucket(of: .max) == Histogram.bucketCount - 1)
    }

    @Test func `an empty histogram and values beyond its range are harmless`() {
        var histogram = Histogram()
        #expect(histogram.percentile(99) == 0)
        #expect(histogram.mean == 0)
        histogram.record(-5)
        histogram.record(.max)
        histogram.record(.max)
        #expect(histogram.percentile(0) == 0)
        #expect(histogram.maximum == .max)
        #expect(histogram.sum == .max)
        histogram.record(3, times: 0)
        #expect(histogram.count == 3)
    }

    @Test func `counts up to a bound never say more than there are`() {
        var histogram = Histogram()
        for value in 1...100_000 { histogram.record(value) }
        for bound in [0, 1, 100, 1_000, 5_000, 20_000, 99_999] {
            let count = histogram.count(upTo: bound)
            #expect(count <= bound && Double(count) >= Double(bound) * 0.99)
        }
        #expect(histogram.count(upTo: .max) == 100_000)
    }
}
