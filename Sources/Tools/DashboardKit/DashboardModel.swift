// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// All that the dashboard knows about a cluster.
///
/// It is a value without IO: the caller passes in what it has read, so that tests need no cluster.
package struct DashboardModel: Sendable {
    /// The maximum number of stored samples: 15 minutes, at one sample a second.
    package static let maxSamples = 900

    private var growth = CounterGrowth()
    private var ledger = ClusterLedger()
    private var partitions = PartitionTable()
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
    ///   - readings: all processes; empty if the cluster's state cannot be read.
    ///   - partitionCount: the number of partitions of each topic; 0 if it is unknown.
    ///   - time: in milliseconds since the dashboard began.
    package mutating func addRound(_ readings: [ProcessReading], partitionCount: Int = 0, at time: Int) {
        self.observe(readings, at: time)
        // A process that is ready, but has not sent its metrics this time, keeps its previous metrics.
        self.readings = self.fillingInMetrics(of: readings) { known, current in
            current.isReady && known.pid == current.pid
        }
        self.partitions.update(readings, partitionCount: partitionCount)
        self.growth.add(readings)
        self.latency.addRound(self.growth.lastRoundGrowth)
        let seconds = self.lastRoundTime.map { Double(time - $0) / 1000 } ?? 0
        self.samples.append(
            DashboardSample(
                readings, growth: self.growth, ledger: self.ledger, latency: self.latency, at: time, after: seconds))
        self.lastRoundTime = time
    }

    /// Updates the states of processes between two rounds; their metrics stay as they were in the last round.
    package mutating func updateStates(_ readings: [ProcessReading], at time: Int) {
        self.observe(readings, at: time)
        self.readings = self.fillingInMetrics(of: readings) { known, current in
            current.pid != nil && known.pid == current.pid
        }
    }

    private mutating func observe(_ readings: [ProcessReading], at time: Int) {
        self.recoveryClock.observe(readings, at: time)
        self.ledger.add(readings, at: time)
    }

    /// Returns the readings, with the previous metrics of each process that was read without metrics.
    ///
    /// `areValid` says whether the previous metrics of a process are still valid; if not, they are left out.
    private func fillingInMetrics(
        of readings: [ProcessReading], areValid: (_ known: ProcessReading, _ current: ProcessReading) -> Bool
    ) -> [ProcessReading] {
        let knownReadings = Dictionary(self.readings.map { ($0.name, $0) }) { first, _ in first }
        return readings.map { reading in
            var reading = reading
            if reading.metrics == nil, let known = knownReadings[reading.name], areValid(known, reading) {
                reading.metrics = known.metrics
            }
            return reading
        }
    }

    /// Records that the dashboard has killed a process.
    ///
    /// - Parameters:
    ///   - name: the name of the process.
    ///   - pid: its process id.
    ///   - lastMetrics: its metrics just before the kill, and when they were asked for; nil if it did not answer.
    ///   - time: when it was killed, in milliseconds since the dashboard began.
    package mutating func processKilled(
        _ name: String, pid: Int32, lastMetrics: (table: MetricsTable, at: Int)? = nil, at time: Int
    ) {
        self.recoveryClock.processKilled(name, pid: pid, at: time)
        self.ledger.processKilled(name, pid: pid, lastMetrics: lastMetrics, at: time)
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
            owners: self.partitions.owners(in: self.readings),
            drops: dropped.merging(shed.map { ("\($0.key) \(CounterGrowth.slowReader)", $0.value) }) { $0 + $1 },
            refusals: self.growth.totalGrowth(of: MetricNames.Barrage.refused, by: ["reason"]),
            ledger: self.ledger.report,
            replays: self.growth.totalGrowth(of: "gateway_replays_total"),
            replaysRefused: self.growth.totalGrowth(of: "gateway_replays_refused_total", by: ["reason"]),
            deadLetters: self.ledger.deadLetters, lag: self.lag, recoveries: self.recoveryClock.entries)
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
