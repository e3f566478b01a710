// SPDX-License-Identifier: Apache-2.0
package import Observability

/// The metrics of all connections of a process to Redis.
package struct RedisMetrics: Sendable {
    private let pipelineTime: Timing
    /// The number of connections made so far.
    let madeConnections: Counter
    /// The number of connections that are open now.
    let openConnections: Gauge
    private let succeededPipelines: Counter
    private let failedPipelines: Counter

    /// Registers the metrics in `registry`.
    package init(_ registry: MetricsRegistry) {
        typealias Names = MetricNames.Redis
        let help = "Pipelines of scripts, by outcome."
        self.succeededPipelines = registry.counter(Names.pipelines, help: help, labels: ["outcome": "done"])
        self.failedPipelines = registry.counter(Names.pipelines, help: help, labels: ["outcome": "failed"])
        self.pipelineTime = registry.timing(Names.pipeline, help: "Time that a pipeline of scripts took.")
        self.madeConnections = registry.counter(Names.connections, help: "Connections made to Redis.")
        self.openConnections = registry.gauge(
            Names.connected, help: "Connections to Redis that stand, one for each partition owned.")
    }

    /// Counts a pipeline that has ended, and records how long it took.
    func recordPipeline(hasSucceeded: Bool, microseconds: Int64) {
        (hasSucceeded ? self.succeededPipelines : self.failedPipelines).add()
        self.pipelineTime.record(microseconds: Int(microseconds))
    }
}
