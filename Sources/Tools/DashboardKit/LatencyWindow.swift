// SPDX-License-Identifier: Apache-2.0

/// The quantiles of a duration over the last rounds of reading the metrics, from the buckets of a histogram.
package struct LatencyWindow: Sendable {
    private let name: String
    private let rounds: Int
    /// The growth of each cumulative bucket in each of the last rounds, by the bucket's upper bound in seconds (`le`).
    private var window: [[Double: Double]] = []

    /// - Parameters:
    ///   - name: the metric, without `_bucket`.
    ///   - rounds: how many rounds count; with few a quantile jumps, with many it reacts slowly.
    package init(_ name: String, rounds: Int = 10) {
        self.name = "\(name)_bucket"
        self.rounds = rounds
    }

    /// Adds a round.
    package mutating func add(_ growth: [MetricsTable.Sample: Double]) {
        var buckets: [Double: Double] = [:]
        for (sample, value) in growth where sample.name == self.name {
            guard let text = sample.labels["le"], let bound = text == "+Inf" ? .infinity : Double(text) else {
                continue
            }
            buckets[bound, default: 0] += value
        }
        self.window.append(buckets)
        if self.window.count > self.rounds { self.window.removeFirst() }
    }

    /// A quantile in milliseconds.
    ///
    /// - Parameter share: from 0 to 1.
    /// - Returns: nil when nothing was measured; at most the upper bound of the last finite bucket.
    package func milliseconds(_ share: Double) -> Double? {
        var sums: [Double: Double] = [:]
        for round in self.window { sums.merge(round) { $0 + $1 } }
        let bounds = sums.keys.sorted()
        guard let last = bounds.last, let all = sums[last], all > 0 else { return nil }
        let wanted = all * share
        var (lowerBound, countBelow) = (0.0, 0.0)
        for bound in bounds {
            let count = sums[bound] ?? 0
            if count >= wanted, count > countBelow {
                guard bound.isFinite else { return lowerBound * 1000 }
                return (lowerBound + (bound - lowerBound) * (wanted - countBelow) / (count - countBelow)) * 1000
            }
            // A process that began in between may let a cumulative count fall.
            (lowerBound, countBelow) = (bound, max(countBelow, count))
        }
        return lowerBound * 1000
    }
}
