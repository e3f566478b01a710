// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel

/// Creates the topics in Kafka and checks their settings; on the in-memory broker, waits until the topics exist.
struct TopicSetup {
    private let settings: ServiceSettings
    private let log: Log

    init(_ settings: ServiceSettings, _ log: Log) {
        self.settings = settings
        self.log = log
    }

    /// Retries until the topics exist or `isStopping` returns true; the pause between attempts doubles up to one
    /// second.
    ///
    /// - Throws: an error that only the operator can correct, such as a rejected password. Further attempts would fill
    ///   the brokers' logs, and brokers may lock the user out.
    func run(isStopping: () -> Bool) throws {
        var backOff = ExponentialBackOff(firstPause: Milliseconds(50), longestPause: .seconds(1))
        var hasLogged = false
        while !isStopping() {
            do {
                return try self.createAndCheckTopics()
            } catch {
                if error.needsOperator || error.kind == .fatal { throw error }
                if !hasLogged { self.log.warning("waiting for Kafka", [.detail: .string(error.description)]) }
                hasLogged = true
                DedicatedThread.sleep(for: Duration(backOff.nextPause()))
            }
        }
    }

    /// Creates missing topics, and checks the topics' settings and numbers of partitions.
    ///
    /// - Throws: `invalidConfiguration` when a topic is not as configured, or an error of a Kafka client.
    private func createAndCheckTopics() throws(KafkaError) {
        let admin = try KafkaAdmin(self.settings.kafka(log: self.log))
        _ = try admin.waitUntilReachable(timeout: .seconds(2))
        if self.settings.mode != .embedded {
            try admin.createTopics(
                PlazaTopic.allCases.map {
                    TopicSpec(
                        name: $0.rawValue, partitions: self.settings.partitions,
                        replication: self.settings.replication, config: $0.configuration)
                })
            try self.checkSettings(admin)
        }
        let consumer = try KafkaConsumer(self.settings.kafka(log: self.log))
        defer { consumer.close() }
        for name in PlazaTopic.allCases.map(\.rawValue) {
            let count = try consumer.loadTopicMetadata(name, timeout: .seconds(5))
            guard count == self.settings.partitions else {
                throw KafkaError(
                    .invalidConfiguration,
                    "The topic \(name) has \(count) partitions and --partitions says \(self.settings.partitions): "
                        + "the number is chosen when a cluster is made and never changes.")
            }
        }
    }

    /// Checks that existing topics accept the largest records that services write, and that the brokers set the times
    /// of records.
    ///
    /// If a topic accepted only smaller records, an input whose records are too large for it would be set aside as a
    /// dead letter. If producers set the times, one record with a time in the far future would stop all timers of its
    /// partition. The partition's time never goes back. It would therefore stand still until that time.
    ///
    /// - Throws: `invalidConfiguration`, with the setting to correct.
    private func checkSettings(_ admin: KafkaAdmin) throws(KafkaError) {
        let topics: [TopicDescription]
        do throws(KafkaError) {
            topics = try admin.describeTopics(PlazaTopic.allCases.map(\.rawValue))
        } catch {
            // The Kafka user of this service is perhaps not authorized to read the settings.
            return self.log.warning("topics' settings are unknown", [.detail: .string(error.description)])
        }
        for topic in topics {
            if let clock = topic.config["message.timestamp.type"], clock != "LogAppendTime" {
                throw KafkaError(
                    .invalidConfiguration,
                    "The topic \(topic.name) has message.timestamp.type \(clock), and services need "
                        + "LogAppendTime: set it with kafka-configs.sh.")
            }
            guard let bytes = topic.config["max.message.bytes"].flatMap({ Int($0) }), bytes < PlazaTopic.maxMessageBytes
            else { continue }
            throw KafkaError(
                .invalidConfiguration,
                "The topic \(topic.name) has max.message.bytes \(bytes), and services write up to "
                    + "\(PlazaTopic.maxMessageBytes): set it with kafka-configs.sh.")
        }
    }
}
