// SPDX-License-Identifier: Apache-2.0

/// The quantiles of a duration over the last rounds of readings, computed from the buckets of a histogram.
package struct LatencyWindow: Sendable {
    private let bucketName: String
    private let maxRounds: Int
    /// The growth of each cumulative bucket in each of the last rounds, by the bucket's upper bound in seconds (`le`).
    private var window: [[Double: Double]] = []

    /// - Parameters:
    ///   - name: the metric, without `_bucket`.
    ///   - rounds: the number of rounds in the window. With few rounds a quantile jumps, with many it reacts slowly.
    package init(_ name: String, rounds: Int = 10) {
        self.bucketName = "\(name)_bucket"
        self.maxRounds = rounds
    }

    /// Adds a round; `growth` is how much each counter has grown in it.
    package mutating func addRound(_ growth: [MetricsTable.Series: Double]) {
        var buckets: [Double: Double] = [:]
        for (series, value) in growth where series.name == self.bucketName {
            guard let text = series.labels["le"], let bound = text == "+Inf" ? .infinity : Double(text) else {
                continue
            }
            buckets[bound, default: 0] += value
        }
        self.window.append(buckets)
        if self.window.count > self.maxRounds { self.window.removeFirst() }
    }

    /// A quantile in milliseconds.
    ///
    /// - Parameter quantile: from 0 to 1, such as 0.99.
    /// - Returns: nil when nothing was measured; at most the upper bound of the last finite bucket.
    package func milliseconds(atQuantile quantile: Double) -> Double? {
        var sums: [Double: Double] = [:]
        for round in self.window { sums.merge(round) { $0 + $1 } }
        let bounds = sums.keys.sorted()
        // The buckets are cumulative, so the one with the highest bound counts everything.
        guard let highestBound = bounds.last, let totalCount = sums[highestBound], totalCount > 0 else { return nil }
        let targetCount = totalCount * quantile
        var (lowerBound, countBelow) = (0.0, 0.0)
        for bound in bounds {
            let count = sums[bound] ?? 0
            if count >= targetCount, count > countBelow {
                guard bound.isFinite else { return lowerBound * 1000 }
                return (lowerBound + (bound - lowerBound) * (targetCount - countBelow) / (count - countBelow)) * 1000
            }
            // A bucket that was missing from a reading may have a lower count than the bucket before it.
            (lowerBound, countBelow) = (bound, max(countBelow, count))
        }
        return lowerBound * 1000
    }
}
