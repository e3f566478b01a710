// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// How much the counters of a cluster have grown since the dashboard began, across restarts of its processes.
///
/// A restarted process counts from 0 again, and its start time reveals the restart. What the process counted between
/// its last reading and the restart is lost.
package struct CounterGrowth: Sendable {
    /// The counters of a process in the last round in which it was read.
    private struct PreviousReading: Sendable {
        /// When the process started; a restarted process has a different start time.
        var startTime: Double
        var values: [MetricsTable.Series: Double]
    }

    /// The previous reading of each process, by its name.
    private var previousReadings: [String: PreviousReading] = [:]
    /// The growth of each counter since the first round, summed over the processes.
    package private(set) var totalGrowth: [MetricsTable.Series: Double] = [:]
    /// The growth of each counter in the last round, summed over the processes.
    package private(set) var lastRoundGrowth: [MetricsTable.Series: Double] = [:]

    /// Creates the growth before the first round: no counter has grown.
    package init() {}

    /// Adds a round of readings; a process without metrics is ignored in this round.
    package mutating func add(_ readings: [ProcessReading]) {
        self.lastRoundGrowth = [:]
        for reading in readings {
            guard let metrics = reading.metrics else { continue }
            let startTime = metrics.sum(MetricNames.Process.startTime)
            let counters = metrics.values.filter { Self.isCounter($0.key.name) }
            // The first reading of a process is only the base for later growth.
            if let previous = self.previousReadings[reading.name] {
                let isRestarted = previous.startTime != startTime
                for (series, value) in counters {
                    let previousValue = isRestarted ? 0 : previous.values[series] ?? 0
                    // A counter never decreases in one process.
                    self.lastRoundGrowth[series, default: 0] += max(0, value - previousValue)
                }
            }
            self.previousReadings[reading.name] = PreviousReading(startTime: startTime, values: counters)
        }
        self.totalGrowth.merge(self.lastRoundGrowth) { $0 + $1 }
    }

    /// The growth of a metric in the last round, over all labels.
    package func lastRoundGrowth(of name: String) -> Double {
        self.lastRoundGrowth.reduce(0) { $1.key.name == name ? $0 + $1.value : $0 }
    }

    /// The growth of a metric since the first round, over all labels.
    package func totalGrowth(of name: String) -> Double {
        self.totalGrowth.reduce(0) { $1.key.name == name ? $0 + $1.value : $0 }
    }

    /// The growth of a metric since the first round, by the values of these labels, joined by a blank.
    package func totalGrowth(of name: String, by labels: [String]) -> [String: Double] {
        var sums: [String: Double] = [:]
        for (series, value) in self.totalGrowth where series.name == name && value > 0 {
            sums[labels.compactMap { series.labels[$0] }.joined(separator: " "), default: 0] += value
        }
        return sums
    }

    /// The drops of the last round, by a label: `class` or `reason`.
    ///
    /// They are the messages that the feed budget dropped, and the items that gateways shed for slow readers.
    func lastRoundDrops(by label: String) -> [String: Double] {
        var sums: [String: Double] = [:]
        for (series, value) in self.lastRoundGrowth where value > 0 {
            if series.name == MetricNames.Barrage.dropped {
                sums[series.labels[label] ?? "", default: 0] += value
            } else if series.name == MetricNames.Gateway.shed {
                sums[series.labels[label] ?? Self.slowReader, default: 0] += value
            }
        }
        return sums
    }

    /// The reason that is given for all items that gateways shed, because their metric has no label `reason`.
    static let slowReader = "slowReader"

    /// Whether a metric is a counter or a bucket of a histogram, by its name.
    private static func isCounter(_ name: String) -> Bool { name.hasSuffix("_total") || name.hasSuffix("_bucket") }
}
