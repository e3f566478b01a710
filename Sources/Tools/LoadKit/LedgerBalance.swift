// SPDX-License-Identifier: Apache-2.0
internal import Observability

extension ServerLedger.Program {
    /// The metric on the left side of the ledger's equation, and the metrics on the right, which must add up to it
    /// (I10).
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

    /// Checks the counts of a process.
    ///
    /// - Parameter metrics: the process's page of metrics.
    /// - Returns: how the counts differ from the ledger's equation; nil if they satisfy it.
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
