// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// All that the dashboard knows about a cluster; a value without IO.
package struct DashboardModel: Sendable {
    /// How many samples are kept: 15 minutes at one a second.
    package static let samples = 900

    private var growth = CounterGrowth()
    private var latency = LatencyWindow(MetricNames.Gateway.call)
    private var ring = SampleRing<DashboardSample>(capacity: Self.samples)
    private var clock = RecoveryClock()
    private var readings: [ProcessReading] = []
    private var lastRound: Int?

    /// Creates a model of a cluster that has not been read yet.
    package init() {}

    /// Whether a process has ended and its successor is not ready yet; the states are then read more often.
    package var isRecovering: Bool { self.clock.isRunning }

    /// Adds a whole round: states and metrics.
    ///
    /// - Parameters:
    ///   - readings: all processes.
    ///   - time: in milliseconds since the dashboard began.
    package mutating func add(_ readings: [ProcessReading], at time: Int) {
        self.observe(readings, at: time)
        self.growth.add(readings)
        self.latency.add(self.growth.latest)
        let seconds = self.lastRound.map { Double(time - $0) / 1000 } ?? 0
        self.ring.append(
            DashboardSample(readings, growth: self.growth, latency: self.latency, at: time, after: seconds))
        self.lastRound = time
    }

    /// Updates the states of processes between two rounds; their metrics remain those of the last round.
    package mutating func observe(_ readings: [ProcessReading], at time: Int) {
        self.clock.observe(readings, at: time)
        let known = Dictionary(self.readings.map { ($0.name, $0.metrics) }) { first, _ in first }
        self.readings = readings.map { reading in
            var reading = reading
            if reading.metrics == nil, reading.isReady { reading.metrics = known[reading.name] ?? nil }
            return reading
        }
    }

    /// Records that the dashboard has killed a process.
    package mutating func killed(_ name: String, pid: Int32, at time: Int) {
        self.clock.killed(name, pid: pid, at: time)
    }

    /// The report for a page.
    ///
    /// - Parameters:
    ///   - number: the number of the first sample that the page lacks.
    ///   - time: in milliseconds since the dashboard began.
    /// - Returns: the state of the cluster, and those samples.
    package func report(from number: Int, at time: Int) -> DashboardReport {
        let shed = self.growth.totals(MetricNames.Gateway.shed, by: ["class"])
        let dropped = self.growth.totals(MetricNames.Barrage.dropped, by: ["class", "reason"])
        return DashboardReport(
            now: time, next: self.ring.count, samples: self.ring.from(number),
            processes: self.readings.map { DashboardReport.Process($0) },
            drops: dropped.merging(shed.map { ("\($0.key) slowReader", $0.value) }) { $0 + $1 },
            refusals: self.growth.totals(MetricNames.Barrage.refused, by: ["reason"]), ledger: self.ledger,
            replays: self.growth.total("gateway_replays_total"),
            replaysRefused: self.growth.totals("gateway_replays_refused_total", by: ["reason"]),
            deadLetters: self.readings.reduce(0) { $0 + ($1.metrics?.sum(MetricNames.Shell.deadLetters) ?? 0) },
            lag: self.lag, recoveries: self.clock.entries)
    }

    /// The two ledgers, as the running processes keep them.
    private var ledger: DashboardReport.Ledger {
        let sum = { (name: String) in self.readings.reduce(0) { $0 + ($1.metrics?.sum(name) ?? 0) } }
        return DashboardReport.Ledger(
            published: sum(MetricNames.Barrage.published), admitted: sum(MetricNames.Barrage.admitted),
            refused: sum(MetricNames.Barrage.refused), dropped: sum(MetricNames.Barrage.dropped),
            due: sum(MetricNames.Gateway.due), delivered: sum(MetricNames.Gateway.delivered),
            shed: sum(MetricNames.Gateway.shed), disconnected: sum(MetricNames.Gateway.disconnected),
            owed: sum("gateway_feed_owed"))
    }

    private var lag: [String: Double] {
        var sums: [String: Double] = [:]
        for reading in self.readings {
            sums.merge(reading.metrics?.sums(MetricNames.Kafka.consumerLag, by: "reader") ?? [:]) { $0 + $1 }
        }
        return sums
    }
}
