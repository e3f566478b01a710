// SPDX-License-Identifier: Apache-2.0
internal import Observability

/// The figures of a cluster in one round, as the charts show them.
package struct DashboardSample: Sendable, Equatable, Encodable {
    /// The time of the round, in milliseconds since the dashboard began.
    package var at: Int
    /// Connections that are logged in.
    package var connections = 0.0
    /// Feed items written to viewers, per second.
    package var deliveries = 0.0
    /// Messages that entered a feed, per second.
    package var messages = 0.0
    /// The median time of a call in milliseconds, over the last 10 rounds; nil without calls.
    package var p50: Double?
    /// The 99th percentile of the time of a call in milliseconds, over the same rounds; nil without calls.
    package var p99: Double?
    /// Messages dropped by the feed budget or shed for slow readers, per second, by class; only what is not 0.
    package var dropsByClass: [String: Double] = [:]
    /// The same drops by reason.
    package var dropsByReason: [String: Double] = [:]
    /// Records that wait to be read, summed over all readers.
    package var lag = 0.0
    /// Resumes that were replayed exactly, per second.
    package var replays = 0.0
    /// Resumes whose client had to load a snapshot instead, per second.
    package var replaysRefused = 0.0
    /// Dead letters of all processes so far.
    package var deadLetters = 0.0
    /// The gap of the ledger of messages.
    package var feedGap = 0.0
    /// The gap of the ledger of deliveries.
    package var deliveryGap = 0.0
    /// Processes that are ready.
    package var ready = 0

    /// Computes the figures of a round.
    ///
    /// - Parameters:
    ///   - readings: all processes.
    ///   - growth: the counters after this round.
    ///   - ledger: the ledgers after this round.
    ///   - latency: the durations of calls after this round.
    ///   - time: in milliseconds since the dashboard began.
    ///   - seconds: the time since the previous round; 0 for the first round, whose rates are 0.
    init(
        _ readings: [ProcessReading], growth: CounterGrowth, ledger: ClusterLedger, latency: LatencyWindow,
        at time: Int, after seconds: Double
    ) {
        let pages = readings.compactMap(\.metrics)
        let rate = { (name: String) in seconds > 0 ? growth.lastRoundGrowth(of: name) / seconds : 0 }
        self.at = time
        self.connections = pages.reduce(0) { $0 + $1.sum(MetricNames.Gateway.connections) }
        self.deliveries = rate(MetricNames.Gateway.delivered)
        self.messages = rate(MetricNames.Barrage.admitted)
        self.p50 = latency.milliseconds(atQuantile: 0.5)
        self.p99 = latency.milliseconds(atQuantile: 0.99)
        if seconds > 0 {
            self.dropsByClass = growth.lastRoundDrops(by: "class").mapValues { $0 / seconds }
            self.dropsByReason = growth.lastRoundDrops(by: "reason").mapValues { $0 / seconds }
        }
        self.lag = pages.reduce(0) { $0 + $1.sum(MetricNames.Kafka.consumerLag) }
        self.replays = rate("gateway_replays_total")
        self.replaysRefused = rate("gateway_replays_refused_total")
        self.deadLetters = ledger.deadLetters
        let ledgers = ledger.report
        self.feedGap = ledgers.feedGap
        self.deliveryGap = ledgers.deliveryGap
        self.ready = readings.count { $0.isReady }
    }
}
