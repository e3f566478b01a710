// SPDX-License-Identifier: Apache-2.0
import BarrageCore
import MachineKit
import Observability
import PlazaModel

/// Exports the growth of the feeds' ledgers (I10 in docs/RULES.md) as metrics: published, admitted, refused and
/// dropped.
///
/// A ledger counts what became of each message and item that reached the fan-out: published = admitted + refused +
/// dropped. The rows contain the exact sums of each live and survive a crash. The metrics count only the changes that
/// this instance made.
final class LedgerMeter {
    private let metrics: MetricsRegistry
    private let published: Counter

    init(_ metrics: MetricsRegistry) {
        self.metrics = metrics
        self.published = metrics.counter(
            MetricNames.Barrage.published, help: "Messages and items of other machines that reached the fan-out.")
    }

    /// Adds the difference between the ledgers of a feed's old and new row to the metrics.
    func countGrowth(from old: BarrageRow?, to new: BarrageRow?) {
        guard case .feed(let newFeed)? = new else { return }
        // A live that was created again has a higher epoch and begins with an empty ledger.
        var oldLedger = Ledger()
        if case .feed(let oldFeed)? = old, oldFeed.value.epoch == newFeed.value.epoch {
            oldLedger = oldFeed.value.ledger
        }
        let newLedger = newFeed.value.ledger
        guard newLedger != oldLedger else { return }
        self.published.add(Int(newLedger.published.saturatingSubtract(oldLedger.published)))
        let oldAdmitted = oldLedger.admitted
        for entry in newLedger.admitted {
            let oldCount = oldAdmitted.first { $0.feedClass == entry.feedClass }?.count ?? 0
            self.add(
                MetricNames.Barrage.admitted, entry.count.saturatingSubtract(oldCount), ["class": entry.feedClass.name])
        }
        let oldRefused = oldLedger.refused
        for entry in newLedger.refused {
            let oldCount = oldRefused.first { $0.code == entry.code }?.count ?? 0
            self.add(MetricNames.Barrage.refused, entry.count.saturatingSubtract(oldCount), ["reason": entry.code.name])
        }
        let oldDropped = oldLedger.dropped
        for entry in newLedger.dropped {
            let oldCount = oldDropped.first { $0.feedClass == entry.feedClass && $0.reason == entry.reason }?.count ?? 0
            let labels = ["class": entry.feedClass.name, "reason": entry.reason.rawValue]
            self.add(MetricNames.Barrage.dropped, entry.count.saturatingSubtract(oldCount), labels)
        }
    }

    /// Adds `count` to the counter with these labels; a count of 0 does not create a counter.
    private func add(_ metric: String, _ count: Int64, _ labels: [String: String]) {
        guard count > 0 else { return }
        self.metrics.counter(metric, help: "Messages by outcome.", labels: labels).add(Int(count))
    }
}
