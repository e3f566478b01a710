// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import CoreKit
import Observability
import PlazaModel

/// Exports the feeds' ledger (I10): what committed batches added to published, admitted, refused and dropped.
///
/// The rows hold the exact sums for each live, through any crash; these counters are their growth on this instance.
final class LedgerMeter {
    private let metrics: MetricsRegistry
    private let published: Counter

    init(_ metrics: MetricsRegistry) {
        self.metrics = metrics
        self.published = metrics.counter(
            MetricNames.Barrage.published, help: "Messages, tips and facts that reached the feeds' writer.")
    }

    /// Counts what a row's ledger gained.
    func count(_ old: BarrageRow?, _ new: BarrageRow?) {
        guard case .feed(let row)? = new else { return }
        var before = Ledger()
        if case .feed(let earlier)? = old, earlier.value.epoch == row.value.epoch { before = earlier.value.ledger }
        let now = row.value.ledger
        guard now != before else { return }
        self.published.add(Int(now.published - before.published))
        let admitted = before.admitted
        for entry in now.admitted {
            let known = admitted.first { $0.feedClass == entry.feedClass }?.count ?? 0
            self.add(MetricNames.Barrage.admitted, entry.count - known, ["class": entry.feedClass.name])
        }
        let refused = before.refused
        for entry in now.refused {
            let known = refused.first { $0.code == entry.code }?.count ?? 0
            self.add(MetricNames.Barrage.refused, entry.count - known, ["reason": entry.code.name])
        }
        let dropped = before.dropped
        for entry in now.dropped {
            let known = dropped.first { $0.feedClass == entry.feedClass && $0.reason == entry.reason }?.count ?? 0
            let labels = ["class": entry.feedClass.name, "reason": entry.reason.rawValue]
            self.add(MetricNames.Barrage.dropped, entry.count - known, labels)
        }
    }

    private func add(_ name: String, _ count: Int64, _ labels: [String: String]) {
        guard count > 0 else { return }
        self.metrics.counter(name, help: "Messages by what became of them.", labels: labels).add(Int(count))
    }
}
