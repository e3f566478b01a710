// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
package import Observability

/// Shows what a process's Kafka clients tell of themselves.
package struct KafkaMeter: Sendable {
    private let registry: MetricsRegistry

    /// How often a consumer tells how far it is behind.
    private static let statisticsMilliseconds = 5000

    /// A meter that shows its numbers in `registry`.
    package init(_ registry: MetricsRegistry) { self.registry = registry }

    /// Settings for a consumer whose lag is shown under the name `reader`.
    package func reading(_ settings: KafkaSettings, as reader: String) -> KafkaSettings {
        let lag = self.registry.gauge(
            MetricNames.Kafka.consumerLag, help: "Messages between partitions' ends and what was read.",
            labels: ["reader": reader])
        var settings = settings
        settings.statisticsIntervalMilliseconds = Self.statisticsMilliseconds
        settings.onStatistics = { statistics in lag.set(Int(statistics.lag.values.reduce(0, +))) }
        return settings
    }

    /// Counts what a producer's queue does not take, under the name `writer`.
    package func drops(of writer: String) -> Counter {
        self.registry.counter(
            MetricNames.Kafka.producerQueueDrops, help: "Messages that a producer's full queue did not take.",
            labels: ["writer": writer])
    }

    /// Counts what a producer could not deliver, under the name `writer`.
    package func failures(of writer: String) -> Counter {
        self.registry.counter(
            MetricNames.Kafka.deliveryFailures, help: "Messages that a producer could not deliver.",
            labels: ["writer": writer])
    }

    /// Shows how full a producer's queue is, under the name `writer`, for as long as the producer lives.
    package func show(_ producer: KafkaProducer, as writer: String) {
        self.registry.observe(
            MetricNames.Kafka.producerQueueDepth, help: "Messages waiting in a producer's queue.",
            labels: ["writer": writer]
        ) { [weak producer] in Double(producer?.queueDepth ?? 0) }
    }
}
