// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// How much the counters of a cluster have grown since the dashboard began, across restarts of its processes.
///
/// A restarted process counts from 0 again. It is recognised by its start time. What its predecessor counted after the
/// last round in which it was read is lost.
package struct CounterGrowth: Sendable {
    private struct Last: Sendable {
        var startTime: Double
        var values: [MetricsTable.Sample: Double]
    }

    private var last: [String: Last] = [:]
    /// The growth of each counter since the first round, summed over the processes.
    package private(set) var totals: [MetricsTable.Sample: Double] = [:]
    /// The growth of each counter in the last round.
    package private(set) var latest: [MetricsTable.Sample: Double] = [:]

    /// Creates a value before the first round.
    package init() {}

    /// Adds a round of readings; processes without metrics are left as they were.
    package mutating func add(_ readings: [ProcessReading]) {
        self.latest = [:]
        for reading in readings {
            guard let metrics = reading.metrics else { continue }
            let startTime = metrics.sum(MetricNames.Process.startTime)
            let counters = metrics.values.filter { Self.isCounter($0.key.name) }
            if let before = self.last[reading.name] {
                let isRestarted = before.startTime != startTime
                for (sample, value) in counters {
                    let base = isRestarted ? 0 : before.values[sample] ?? 0
                    // A counter never decreases in one process, but a number at the end of a page that was cut off may
                    // be too low.
                    self.latest[sample, default: 0] += max(0, value - base)
                }
            }
            self.last[reading.name] = Last(startTime: startTime, values: counters)
        }
        self.totals.merge(self.latest) { $0 + $1 }
    }

    /// The growth of a metric in the last round, over all labels.
    package func latest(_ name: String) -> Double {
        self.latest.reduce(0) { $1.key.name == name ? $0 + $1.value : $0 }
    }

    /// The growth of a metric since the first round, over all labels.
    package func total(_ name: String) -> Double {
        self.totals.reduce(0) { $1.key.name == name ? $0 + $1.value : $0 }
    }

    /// The growth of a metric since the first round, by the values of these labels, joined by a blank.
    package func totals(_ name: String, by labels: [String]) -> [String: Double] {
        var sums: [String: Double] = [:]
        for (sample, value) in self.totals where sample.name == name && value > 0 {
            sums[labels.compactMap { sample.labels[$0] }.joined(separator: " "), default: 0] += value
        }
        return sums
    }

    private static func isCounter(_ name: String) -> Bool { name.hasSuffix("_total") || name.hasSuffix("_bucket") }
}
