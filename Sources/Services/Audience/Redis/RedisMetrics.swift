// SPDX-License-Identifier: Apache-2.0
package import Observability

/// The metrics of all connections of a process to Redis.
package struct RedisMetrics: Sendable {
    let pipelines: Timing
    let connections: Counter
    let connected: Gauge
    private let done: Counter
    private let failed: Counter

    /// Registers the metrics in `registry`.
    package init(_ registry: MetricsRegistry) {
        typealias Names = MetricNames.Redis
        let help = "Pipelines of scripts, by outcome."
        self.done = registry.counter(Names.pipelines, help: help, labels: ["outcome": "done"])
        self.failed = registry.counter(Names.pipelines, help: help, labels: ["outcome": "failed"])
        self.pipelines = registry.timing(Names.pipeline, help: "Time that a pipeline of scripts took.")
        self.connections = registry.counter(Names.connections, help: "Connections made to Redis.")
        self.connected = registry.gauge(
            Names.connected, help: "Connections to Redis that stand, one for each partition owned.")
    }

    /// Counts a pipeline that has ended.
    func pipelineEnded(done: Bool, microseconds: Int64) {
        (done ? self.done : self.failed).add()
        self.pipelines.record(microseconds: Int(microseconds))
    }
}
