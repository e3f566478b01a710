// SPDX-License-Identifier: Apache-2.0

/// The kind of a metric.
package enum MetricKind: String, Sendable {
    /// A value that only grows.
    case counter
    /// A value that grows and shrinks.
    case gauge
    /// A distribution of times.
    case histogram
}

/// A set of labels in its exported order.
package struct MetricLabels: Sendable, Hashable, Comparable {
    /// Names and values, sorted by name.
    package let pairs: [Pair]

    /// Sorts `labels` by name.
    package init(_ labels: [String: String]) {
        self.pairs = labels.map { Pair(name: $0.key, value: $0.value) }.sorted { $0.name < $1.name }
    }

    /// The same label names, each with the value `other`.
    ///
    /// All label sets beyond the limit of a metric share the series with these labels.
    var overflow: MetricLabels {
        MetricLabels(Dictionary(self.pairs.map { ($0.name, "other") }) { first, _ in first })
    }

    /// Orders by names and values.
    package static func < (a: MetricLabels, b: MetricLabels) -> Bool {
        a.pairs.lexicographicallyPrecedes(b.pairs) { ($0.name, $0.value) < ($1.name, $1.value) }
    }

    /// One label.
    package struct Pair: Sendable, Hashable {
        /// The label's name.
        package let name: String
        /// The label's value.
        package let value: String
    }
}

/// All series of one metric name, read at about the same time.
package struct MetricFamily: Sendable {
    /// The name.
    package let name: String
    /// The meaning of the metric, in one sentence.
    package let help: String
    /// The kind of the metric.
    package let kind: MetricKind
    /// The series, by labels.
    package let samples: [MetricSample]
}

/// The value of one series.
package struct MetricSample: Sendable {
    /// The labels of the series.
    package let labels: MetricLabels
    /// The value of the series.
    package let value: MetricValue
}

/// The value of a metric: a number or a distribution.
package enum MetricValue: Sendable, Equatable {
    /// A plain number.
    case number(Double)
    /// A distribution in microseconds.
    case histogram(Histogram)
}
