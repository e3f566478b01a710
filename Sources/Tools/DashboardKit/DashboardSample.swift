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
    /// Messages dropped by the feed budget or shed for slow readers, per second.
    package var drops = 0.0
    /// Records that wait to be read, summed over all readers.
    package var lag = 0.0
    /// Resumes that were replayed exactly, per second.
    package var replays = 0.0
    /// Processes that are ready.
    package var ready = 0

    /// Computes the figures of a round.
    ///
    /// - Parameters:
    ///   - readings: all processes.
    ///   - growth: the counters after this round.
    ///   - latency: the durations of calls after this round.
    ///   - time: in milliseconds since the dashboard began.
    ///   - seconds: the time since the previous round; 0 for the first round, whose rates are 0.
    package init(
        _ readings: [ProcessReading], growth: CounterGrowth, latency: LatencyWindow, at time: Int, after seconds: Double
    ) {
        let pages = readings.compactMap(\.metrics)
        let rate = { (name: String) in seconds > 0 ? growth.lastRoundGrowth(of: name) / seconds : 0 }
        self.at = time
        self.connections = pages.reduce(0) { $0 + $1.sum(MetricNames.Gateway.connections) }
        self.deliveries = rate(MetricNames.Gateway.delivered)
        self.messages = rate(MetricNames.Barrage.admitted)
        self.p50 = latency.milliseconds(atQuantile: 0.5)
        self.p99 = latency.milliseconds(atQuantile: 0.99)
        self.drops = rate(MetricNames.Barrage.dropped) + rate(MetricNames.Gateway.shed)
        self.lag = pages.reduce(0) { $0 + $1.sum(MetricNames.Kafka.consumerLag) }
        self.replays = rate("gateway_replays_total")
        self.ready = readings.count { $0.isReady }
    }
}
