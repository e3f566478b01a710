// SPDX-License-Identifier: Apache-2.0
internal import EmbeddedBroker
package import KafkaClient
internal import PlazaModel

/// A broker on which all of LivePlaza's topics are: an in-memory one of the test's own, or the real one that tests share.
package struct TopicBroker {
    /// Where it is, and who asks.
    package let settings: KafkaSettings
    /// Kept while the in-memory one is used.
    private let broker: EmbeddedBroker?

    /// Makes the topics.
    ///
    /// - Parameters:
    ///   - isReal: whether it is the real Kafka.
    ///   - clientID: what its clients are called.
    ///   - partitions: of each topic.
    /// - Throws: when there is no broker to be had.
    package init(isReal: Bool, clientID: String, partitions: Int) throws {
        if isReal {
            try self.init(LiveKafka.shared(), clientID: clientID, partitions: partitions)
        } else {
            try self.init(EmbeddedBroker(), clientID: clientID, partitions: partitions)
        }
    }

    private init(_ broker: EmbeddedBroker, clientID: String, partitions: Int) throws {
        for topic in PlazaTopic.allCases { try broker.createTopic(topic.rawValue, partitions: partitions) }
        self.broker = broker
        self.settings = KafkaSettings(brokers: broker.bootstrap, clientID: clientID) { _, _, _ in }
    }

    /// Makes the topics on a real Kafka.
    package init(_ kafka: LiveKafka, clientID: String, partitions: Int) throws {
        self.broker = nil
        self.settings = KafkaSettings(brokers: kafka.bootstrap, clientID: clientID) { _, _, _ in }
        try KafkaAdmin(self.settings).createTopics(
            PlazaTopic.allCases.map {
                TopicSpec(name: $0.rawValue, partitions: partitions, replication: 1, config: $0.configuration)
            })
    }
}
