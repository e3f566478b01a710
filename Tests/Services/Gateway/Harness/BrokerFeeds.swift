// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import TestSupport
import Testing

@testable import Gateway

/// The feeds of a fake cluster on a broker instead of in memory.
///
/// A producer writes the feeds, and the gateway's own readers read them.
final class BrokerFeeds: Sendable {
    /// A broker with the feed topic: an embedded one, or the real Kafka that all tests share.
    struct Broker: Sendable {
        static let partitions = FakeCluster.partitionCount
        let settings: KafkaSettings
        let mode: KafkaMode
        /// The embedded broker, which runs as long as it is referenced; nil if the broker is the real Kafka.
        private let embedded: EmbeddedBroker?

        /// Starts an embedded broker, or creates the feed topic on the real Kafka.
        init(_ mode: KafkaMode) throws {
            self.mode = mode
            switch mode {
            case .embedded:
                let broker = try EmbeddedBroker(topics: [PlazaTopic.roomFeed.rawValue: Self.partitions])
                self.embedded = broker
                self.settings = KafkaSettings(brokers: broker.bootstrap, clientID: "gateway-test") { _, _, _ in }
            case .full:
                self.embedded = nil
                let bootstrap = try RealKafka.shared().bootstrap
                self.settings = KafkaSettings(brokers: bootstrap, clientID: "gateway-test") { _, _, _ in }
                let topic = PlazaTopic.roomFeed
                try KafkaAdmin(self.settings).createTopics([
                    TopicSpec(
                        name: topic.rawValue, partitions: Self.partitions, replication: 1, config: topic.configuration)
                ])
            }
        }
    }

    /// Reads new items for the gateway.
    let feeds: FeedReader
    /// Reads missed items again for clients that resume.
    let replay: ReplayReader
    private let producer: KafkaProducer
    private let threads: [DedicatedThread]

    /// Begins to read the broker's feeds for `gateway`.
    init(_ broker: Broker, _ gateway: Gateway, _ registry: MetricsRegistry) throws {
        let feeds = FeedReader(gateway, kafka: broker.settings, mode: broker.mode)
        let replay = ReplayReader(gateway, kafka: broker.settings, mode: broker.mode, registry: registry)
        self.feeds = feeds
        self.replay = replay
        self.producer = try KafkaProducer(broker.settings)
        self.threads = [DedicatedThread("test") { feeds.run() }, DedicatedThread("test") { replay.run() }]
    }

    /// Writes an item to its feed on the broker; an error is recorded as an issue of the test.
    func write(_ item: FeedItem) {
        do {
            try self.producer.send(TopicRecord(.feed(item)).outgoing(partitions: Broker.partitions))
        } catch {
            Issue.record(error, "the item is not written")
        }
    }

    /// Ends the two threads that read feeds, and closes the producer.
    func stop() {
        self.feeds.stop()
        self.replay.stop()
        for thread in self.threads { _ = thread.join(timeout: .seconds(5)) }
        self.producer.close(timeout: .seconds(1))
    }
}
