// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// What processes have counted of the two ledgers, and their dead letters.
///
/// Each ledger must add up (I10, docs/RULES.md): published = admitted + refused + dropped counts messages, and
/// due = delivered + shed + disconnected + owed counts their deliveries to viewers.
struct LedgerCounts: Sendable, Equatable {
    var published = 0.0
    var admitted = 0.0
    var refused = 0.0
    var dropped = 0.0
    var due = 0.0
    var delivered = 0.0
    var shed = 0.0
    var disconnected = 0.0
    /// Items that slow readers get later; unlike the other counts, this one can decrease.
    var owed = 0.0
    var deadLetters = 0.0

    init() {}

    /// The counts of one process since its start.
    init(_ metrics: MetricsTable) {
        self.published = metrics.sum(MetricNames.Barrage.published)
        self.admitted = metrics.sum(MetricNames.Barrage.admitted)
        self.refused = metrics.sum(MetricNames.Barrage.refused)
        self.dropped = metrics.sum(MetricNames.Barrage.dropped)
        self.due = metrics.sum(MetricNames.Gateway.due)
        self.delivered = metrics.sum(MetricNames.Gateway.delivered)
        self.shed = metrics.sum(MetricNames.Gateway.shed)
        self.disconnected = metrics.sum(MetricNames.Gateway.disconnected)
        self.owed = metrics.sum("gateway_feed_owed")
        self.deadLetters = metrics.sum(MetricNames.Shell.deadLetters)
    }

    /// The number of published messages that are not counted as admitted, refused or dropped.
    var feedGap: Double { self.published - self.admitted - self.refused - self.dropped }
    /// The number of due items that are not counted as delivered, shed, disconnected or owed.
    var deliveryGap: Double { self.due - self.delivered - self.shed - self.disconnected - self.owed }

    /// The counts of a process that has ended: its connections have ended too, with what was owed to them.
    var ofEndedProcess: LedgerCounts {
        var counts = self
        counts.disconnected += counts.owed
        counts.owed = 0
        return counts
    }

    /// Whether these counts of a process were read before `other` of the same process: a counter never decreases.
    func isOlder(than other: LedgerCounts) -> Bool {
        let counters: [KeyPath<LedgerCounts, Double>] = [
            \.published, \.admitted, \.refused, \.dropped, \.due, \.delivered, \.shed, \.disconnected, \.deadLetters,
        ]
        return counters.contains { self[keyPath: $0] < other[keyPath: $0] }
    }

    static func += (sum: inout LedgerCounts, counts: LedgerCounts) {
        sum.published += counts.published
        sum.admitted += counts.admitted
        sum.refused += counts.refused
        sum.dropped += counts.dropped
        sum.due += counts.due
        sum.delivered += counts.delivered
        sum.shed += counts.shed
        sum.disconnected += counts.disconnected
        sum.owed += counts.owed
        sum.deadLetters += counts.deadLetters
    }
}
