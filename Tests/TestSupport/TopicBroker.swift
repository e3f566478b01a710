// SPDX-License-Identifier: Apache-2.0
package import EmbeddedBroker
package import KafkaClient
package import PlazaModel

/// A broker with all topics of LivePlaza: an in-memory one private to the test, or the real one that all tests share.
package struct TopicBroker {
    /// The number of partitions of each topic; the same in all tests, because they share the real broker's topics.
    package static let partitions = 4

    /// The settings of a client of the broker: its address and the client id.
    package let settings: KafkaSettings
    /// The in-memory broker, for tests that inject faults; nil for the real one.
    package let embedded: EmbeddedBroker?

    /// Creates the topics.
    ///
    /// - Parameters:
    ///   - isReal: whether to use the real Kafka.
    ///   - clientID: the client id in `settings`.
    /// - Throws: an error when no broker can be started.
    package init(isReal: Bool, clientID: String) throws {
        if isReal {
            try self.init(RealKafka.shared(), clientID: clientID)
        } else {
            try self.init(EmbeddedBroker(), clientID: clientID)
        }
    }

    private init(_ broker: EmbeddedBroker, clientID: String) throws {
        for topic in PlazaTopic.allCases { try broker.createTopic(topic.rawValue, partitions: Self.partitions) }
        self.embedded = broker
        self.settings = KafkaSettings(brokers: broker.bootstrap, clientID: clientID) { _, _, _ in }
    }

    /// Creates the topics on a real Kafka.
    ///
    /// - Parameters:
    ///   - kafka: the server.
    ///   - clientID: the client id in `settings`.
    ///   - maxMessageBytes: the maximum size of a message, for topics that shall accept less than LivePlaza needs.
    /// - Throws: `KafkaError` if the server does not create a topic.
    package init(_ kafka: RealKafka, clientID: String, maxMessageBytes: [PlazaTopic: Int] = [:]) throws {
        self.embedded = nil
        self.settings = KafkaSettings(brokers: kafka.bootstrap, clientID: clientID) { _, _, _ in }
        try KafkaAdmin(self.settings).createTopics(
            PlazaTopic.allCases.map { topic in
                let limit = maxMessageBytes[topic].map { ["max.message.bytes": "\($0)"] } ?? [:]
                return TopicSpec(
                    name: topic.rawValue, partitions: Self.partitions, replication: 1,
                    config: topic.configuration.merging(limit) { $1 })
            })
    }
}
