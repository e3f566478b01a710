// SPDX-License-Identifier: Apache-2.0
internal import Observability

extension ServerLedger.Program {
    /// The equation of I10 (docs/RULES.md) for this program: the metrics `parts` must add up to the metric `total`.
    private var equation: (total: String, parts: [String]) {
        switch self {
        case .fanout:
            (
                MetricNames.Barrage.published,
                [MetricNames.Barrage.admitted, MetricNames.Barrage.refused, MetricNames.Barrage.dropped]
            )
        case .gateway:
            (
                MetricNames.Gateway.due,
                [
                    MetricNames.Gateway.delivered, MetricNames.Gateway.shed, MetricNames.Gateway.disconnected,
                    ServerLedger.owed,
                ]
            )
        }
    }

    /// Checks that the counts of a process satisfy the equation of its program.
    ///
    /// - Parameter metrics: the process's page of metrics.
    /// - Returns: the equation that does not hold, with its numbers; nil if the equation holds.
    package func imbalance(of metrics: String) -> String? {
        var sums: [String: Double] = [:]
        for (sample, value) in MetricsPage(metrics).values {
            sums[String(sample.prefix { $0 != "{" }), default: 0] += value
        }
        let (total, parts) = self.equation
        let sum = parts.reduce(0) { $0 + (sums[$1] ?? 0) }
        guard sums[total, default: 0] != sum else { return nil }
        let terms = parts.map { "\($0) \(Int(sums[$0] ?? 0))" }.joined(separator: " + ")
        return "\(total) \(Int(sums[total] ?? 0)) is not \(terms)"
    }
}
