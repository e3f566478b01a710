// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
internal import MachineKit
package import Observability

/// Exports the metrics of a process's Kafka clients.
package struct KafkaClientMetrics: Sendable {
    private let registry: MetricsRegistry

    /// How often a consumer reports its lag.
    private static let statisticsInterval: Duration = .seconds(5)

    /// Exports into `registry`.
    package init(_ registry: MetricsRegistry) { self.registry = registry }

    /// Returns a copy of `settings` that makes a consumer export its lag.
    ///
    /// The lag is the number of offsets that the consumer has not read yet, over all its partitions. The gauge has the
    /// label `reader`.
    package func exportingLag(_ settings: KafkaSettings, as reader: String) -> KafkaSettings {
        let lag = self.registry.gauge(
            MetricNames.Kafka.consumerLag, help: "Messages between partitions' ends and what was read.",
            labels: ["reader": reader])
        var settings = settings
        settings.statisticsInterval = Self.statisticsInterval
        settings.onStatistics = { statistics in lag.set(Int(statistics.lag.values.reduce(0, +))) }
        return settings
    }

    /// The counter of the records that a producer's full queue rejected, with the label `writer`; the caller increments
    /// it.
    package func drops(of writer: String) -> Counter {
        self.registry.counter(
            MetricNames.Kafka.producerQueueDrops, help: "Messages that a producer's full queue did not take.",
            labels: ["writer": writer])
    }

    /// The counter of the records that a producer could not deliver, with the label `writer`; the caller increments it.
    package func failures(of writer: String) -> Counter {
        self.registry.counter(
            MetricNames.Kafka.deliveryFailures, help: "Messages that a producer could not deliver.",
            labels: ["writer": writer])
    }

    /// Exports how long the append in progress has waited for the broker, with the label `machine`.
    ///
    /// `read` returns the time; 0 if no append is in progress.
    func exportAppendWait(of machine: String, read: @escaping @Sendable () -> Milliseconds) {
        self.registry.observe(
            MetricNames.Shell.appendWaiting, help: "How long the append in progress has waited.",
            labels: ["machine": machine]
        ) { Double(read().count) / 1000 }
    }

    /// Exports the length of a producer's queue with the label `writer`; the producer is referenced weakly.
    package func exportQueueDepth(of producer: KafkaProducer, as writer: String) {
        self.registry.observe(
            MetricNames.Kafka.producerQueueDepth, help: "Messages waiting in a producer's queue.",
            labels: ["writer": writer]
        ) { [weak producer] in Double(producer?.queueDepth ?? 0) }
    }
}
