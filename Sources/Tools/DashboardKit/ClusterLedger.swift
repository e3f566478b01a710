// SPDX-License-Identifier: Apache-2.0

/// The ledgers of a cluster: what its processes have counted since their starts, according to their last readings.
///
/// The counts of a process stay after its end. If a process is killed, what it counted after the last reading is
/// missing on both sides of its ledger. So the end of a process adds no gap, and a gap that the process had before
/// stays.
struct ClusterLedger: Sendable {
    /// The accounts by the names of the processes.
    private var accounts: [String: ProcessAccount] = [:]

    init() {}

    /// Adds the readings of a round, or the states that were read between two rounds.
    ///
    /// No readings mean that the cluster's state could not be read; then nothing changes.
    mutating func add(_ readings: [ProcessReading], at time: Int) {
        guard !readings.isEmpty else { return }
        for reading in readings {
            let readAt = reading.metricsReadAt ?? time
            var account = self.accounts[reading.name] ?? ProcessAccount(at: readAt)
            account.observe(pid: reading.pid, at: time)
            if let metrics = reading.metrics { account.add(metrics, at: readAt) }
            self.accounts[reading.name] = account
        }
        // A process that is not listed any more was removed from the cluster.
        for name in Set(self.accounts.keys).subtracting(readings.map(\.name)) {
            self.accounts[name]?.observe(pid: nil, at: time)
        }
    }

    /// Records that the dashboard has killed a process; `lastMetrics` were read just before.
    mutating func processKilled(
        _ name: String, pid: Int32, lastMetrics: (table: MetricsTable, at: Int)?, at time: Int
    ) {
        var account = self.accounts[name] ?? ProcessAccount(at: time)
        if let lastMetrics { account.add(lastMetrics.table, at: lastMetrics.at) }
        account.processKilled(pid: pid, at: time)
        self.accounts[name] = account
    }

    /// The number of dead letters that all processes have written.
    var deadLetters: Double { self.accounts.values.reduce(0) { $0 + $1.counts.deadLetters } }

    /// The ledgers for the report.
    var report: DashboardReport.Ledger {
        var (counts, feedGaps, deliveryGaps) = (LedgerCounts(), ProcessAccount.Gaps(), ProcessAccount.Gaps())
        var uneven: [String: Double] = [:]
        for (name, account) in self.accounts {
            let (feed, delivery) = (account.feedGaps, account.deliveryGaps)
            counts += account.counts
            feedGaps += feed
            deliveryGaps += delivery
            let gap = feed.confirmed + delivery.confirmed
            if gap != 0 { uneven[name] = gap }
        }
        return DashboardReport.Ledger(
            published: counts.published, admitted: counts.admitted, refused: counts.refused, dropped: counts.dropped,
            due: counts.due, delivered: counts.delivered, shed: counts.shed, disconnected: counts.disconnected,
            owed: counts.owed, feedGap: feedGaps.confirmed, deliveryGap: deliveryGaps.confirmed,
            undecided: feedGaps.undecided + deliveryGaps.undecided, uneven: uneven,
            ends: self.accounts.values.reduce(0) { $0 + $1.ends },
            unseenMilliseconds: self.accounts.values.reduce(0) { $0 + $1.unseenMilliseconds })
    }
}
