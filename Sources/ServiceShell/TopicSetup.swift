// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import Observability
internal import PlazaModel

/// Makes the topics, or waits for them: the in-memory broker makes its own.
struct TopicSetup {
    private let settings: ServiceSettings
    private let log: Log

    init(_ settings: ServiceSettings, _ log: Log) {
        self.settings = settings
        self.log = log
    }

    /// Tries until the topics are there or `isStopping` says so; waits longer each time, up to a second.
    func run(isStopping: () -> Bool) throws {
        var pause: Int64 = 50
        var hasTold = false
        while !isStopping() {
            do {
                return try self.attempt()
            } catch {
                if error.kind == .invalidConfiguration || error.kind == .fatal { throw error }
                if !hasTold { self.log.warning("waiting for Kafka", [.detail: .string(error.description)]) }
                hasTold = true
                PauseTimer.wait(milliseconds: pause)
                pause = min(2 * pause, 1000)
            }
        }
    }

    private func attempt() throws(KafkaError) {
        let admin = try KafkaAdmin(self.settings.kafka(log: self.log))
        _ = try admin.waitUntilReachable(timeoutMilliseconds: 2000)
        if self.settings.mode == .full {
            try admin.createTopics(
                PlazaTopic.allCases.map {
                    TopicSpec(
                        name: $0.rawValue, partitions: self.settings.partitions,
                        replication: self.settings.replication, config: $0.configuration)
                })
        }
        let consumer = try KafkaConsumer(self.settings.kafka(log: self.log))
        defer { consumer.close() }
        for name in PlazaTopic.allCases.map(\.rawValue) {
            let count = try consumer.topicMetadata(name, timeoutMilliseconds: 5000)
            guard count == self.settings.partitions else {
                throw KafkaError(
                    .invalidConfiguration,
                    "The topic \(name) has \(count) partitions and --partitions says \(self.settings.partitions): the number "
                        + "is chosen when a cluster is made and never changes.")
            }
        }
    }
}
