// SPDX-License-Identifier: Apache-2.0
package import LoadKit

/// What the dashboard has read about a process in one round.
package struct ProcessReading: Sendable {
    /// The instance's name, such as `gateway-1`.
    package var name: String
    /// The service's program name, or `redis`, `broker`.
    package var kind: String
    /// The process id; nil while the process is down.
    package var pid: Int32?
    /// Whether the process was ready when it was probed.
    package var isReady: Bool
    /// Why the process is not ready, in its own words; nil if it is ready or gives no reason.
    package var problem: String?
    /// How often the supervisor has restarted the process.
    package var restarts: Int
    /// How the process's last run ended; nil if it never ended.
    package var lastEnd: String?
    /// The process's metrics; nil if it has none, did not answer, or was not asked for them.
    package var metrics: MetricsTable?
    /// When the metrics were asked for, in milliseconds since the dashboard began; nil stands for the time of the
    /// round.
    package var metricsReadAt: Int?

    /// Makes a reading.
    package init(
        name: String, kind: String, pid: Int32?, isReady: Bool, problem: String? = nil, restarts: Int = 0,
        lastEnd: String? = nil, metrics: MetricsTable? = nil, metricsReadAt: Int? = nil
    ) {
        self.name = name
        self.kind = kind
        self.pid = pid
        self.isReady = isReady
        self.problem = problem
        self.restarts = restarts
        self.lastEnd = lastEnd
        self.metrics = metrics
        self.metricsReadAt = metricsReadAt
    }
}

/// The values of a metrics page, found by name and label.
package struct MetricsTable: Sendable, Equatable {
    /// What identifies a value on the page: its metric and labels.
    package struct Series: Sendable, Hashable {
        /// The metric's name.
        package var name: String
        /// The values of the labels, by name.
        package var labels: [String: String]

        /// Makes a series.
        package init(name: String, labels: [String: String]) {
            self.name = name
            self.labels = labels
        }
    }

    /// The value of each series.
    package let values: [Series: Double]

    /// Reads a page in the text format of Prometheus.
    package init(_ page: MetricsPage) {
        var values: [Series: Double] = [:]
        for (text, value) in page.values { values[Self.series(text)] = value }
        self.values = values
    }

    /// Parses a metric's name with its labels, `name{label="value",…}`.
    ///
    /// The values of this system's labels hold neither quotation marks nor backslashes, so none are decoded.
    static func series(_ text: String) -> Series {
        guard let brace = text.firstIndex(of: "{") else { return Series(name: text, labels: [:]) }
        var labels: [String: String] = [:]
        let parts = text[text.index(after: brace)...].split(separator: "\"", omittingEmptySubsequences: false)
        // The quotation marks split `a="x",b="y"}` into names and values in turn: `a=`, `x`, `,b=`, `y`, `}`.
        for index in stride(from: 0, to: parts.count - 1, by: 2) {
            let name = parts[index].drop { $0 == "," || $0 == " " }.prefix { $0 != "=" }
            labels[String(name)] = String(parts[index + 1])
        }
        return Series(name: String(text[..<brace]), labels: labels)
    }

    /// Whether the page has a value of a metric.
    func contains(_ name: String) -> Bool { self.values.keys.contains { $0.name == name } }

    /// The sum of a metric over all its labels.
    package func sum(_ name: String) -> Double {
        self.values.reduce(0) { $1.key.name == name ? $0 + $1.value : $0 }
    }

    /// The sums of a metric by the value of one label.
    package func sums(_ name: String, by label: String) -> [String: Double] {
        var sums: [String: Double] = [:]
        for (series, value) in self.values where series.name == name {
            sums[series.labels[label] ?? "", default: 0] += value
        }
        return sums
    }
}
