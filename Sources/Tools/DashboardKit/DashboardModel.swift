// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// All that the dashboard knows about a cluster.
///
/// It is a value without IO: the caller passes in what it has read, so that tests need no cluster.
package struct DashboardModel: Sendable {
    /// The maximum number of stored samples: 15 minutes, at one sample a second.
    package static let maxSamples = 900

    private var growth = CounterGrowth()
    private var latency = LatencyWindow(MetricNames.Gateway.call)
    private var samples = SampleRing<DashboardSample>(capacity: Self.maxSamples)
    private var recoveryClock = RecoveryClock()
    private var readings: [ProcessReading] = []
    /// The time of the last whole round, in milliseconds since the dashboard began; nil before the first one.
    private var lastRoundTime: Int?

    /// Creates a model of a cluster that has not been read yet.
    package init() {}

    /// Whether a process has ended and has not been ready again since then; the states are then read more often.
    package var isRecovering: Bool { self.recoveryClock.isMeasuring }

    /// Adds a whole round: the states and metrics of all processes.
    ///
    /// - Parameters:
    ///   - readings: all processes.
    ///   - time: in milliseconds since the dashboard began.
    package mutating func addRound(_ readings: [ProcessReading], at time: Int) {
        self.updateStates(readings, at: time)
        self.growth.add(readings)
        self.latency.addRound(self.growth.lastRoundGrowth)
        let seconds = self.lastRoundTime.map { Double(time - $0) / 1000 } ?? 0
        self.samples.append(
            DashboardSample(readings, growth: self.growth, latency: self.latency, at: time, after: seconds))
        self.lastRoundTime = time
    }

    /// Updates the states of processes between two rounds; their metrics remain those of the last round.
    package mutating func updateStates(_ readings: [ProcessReading], at time: Int) {
        self.recoveryClock.observe(readings, at: time)
        // Between two rounds the caller reads no metrics.
        let knownMetrics = Dictionary(self.readings.map { ($0.name, $0.metrics) }) { first, _ in first }
        self.readings = readings.map { reading in
            var reading = reading
            if reading.metrics == nil, reading.isReady { reading.metrics = knownMetrics[reading.name] ?? nil }
            return reading
        }
    }

    /// Records that the dashboard has killed a process.
    package mutating func processKilled(_ name: String, pid: Int32, at time: Int) {
        self.recoveryClock.processKilled(name, pid: pid, at: time)
    }

    /// The report for a page.
    ///
    /// - Parameters:
    ///   - number: the number of the first sample that the page lacks.
    ///   - time: in milliseconds since the dashboard began.
    /// - Returns: the state of the cluster, and the samples from `number` on.
    package func report(from number: Int, at time: Int) -> DashboardReport {
        let shed = self.growth.totalGrowth(of: MetricNames.Gateway.shed, by: ["class"])
        let dropped = self.growth.totalGrowth(of: MetricNames.Barrage.dropped, by: ["class", "reason"])
        return DashboardReport(
            now: time, next: self.samples.count, samples: self.samples.samples(from: number),
            processes: self.readings.map { DashboardReport.Process($0) },
            drops: dropped.merging(shed.map { ("\($0.key) slowReader", $0.value) }) { $0 + $1 },
            refusals: self.growth.totalGrowth(of: MetricNames.Barrage.refused, by: ["reason"]), ledger: self.ledger,
            replays: self.growth.totalGrowth(of: "gateway_replays_total"),
            replaysRefused: self.growth.totalGrowth(of: "gateway_replays_refused_total", by: ["reason"]),
            deadLetters: self.readings.reduce(0) { $0 + ($1.metrics?.sum(MetricNames.Shell.deadLetters) ?? 0) },
            lag: self.lag, recoveries: self.recoveryClock.entries)
    }

    /// The two ledgers, summed over the running processes: that of messages and that of deliveries.
    private var ledger: DashboardReport.Ledger {
        let sum = { (name: String) in self.readings.reduce(0) { $0 + ($1.metrics?.sum(name) ?? 0) } }
        return DashboardReport.Ledger(
            published: sum(MetricNames.Barrage.published), admitted: sum(MetricNames.Barrage.admitted),
            refused: sum(MetricNames.Barrage.refused), dropped: sum(MetricNames.Barrage.dropped),
            due: sum(MetricNames.Gateway.due), delivered: sum(MetricNames.Gateway.delivered),
            shed: sum(MetricNames.Gateway.shed), disconnected: sum(MetricNames.Gateway.disconnected),
            owed: sum("gateway_feed_owed"))
    }

    /// The records that wait to be read, by reader, summed over the processes.
    private var lag: [String: Double] {
        var sums: [String: Double] = [:]
        for reading in self.readings {
            sums.merge(reading.metrics?.sums(MetricNames.Kafka.consumerLag, by: "reader") ?? [:]) { $0 + $1 }
        }
        return sums
    }
}
