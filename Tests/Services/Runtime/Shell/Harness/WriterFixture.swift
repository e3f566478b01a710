// SPDX-License-Identifier: Apache-2.0
import EmbeddedBroker
import KafkaClient
import MachineKit
import PlazaModel
import Testing

@testable import ServiceShell

/// A fixture for tests of `TransactionWriter`: an in-memory broker with all topics, and a consumer group.
///
/// The batches of the fixture's writers commit offsets of this group.
final class WriterFixture {
    let broker: EmbeddedBroker
    let settings: KafkaSettings
    private let consumer: KafkaConsumer
    private let group: GroupMetadata

    /// Starts the broker.
    ///
    /// - Parameter overrides: settings of the clients by librdkafka's names.
    /// - Throws: an error when the broker or the consumer cannot be started.
    init(overrides: [String: String] = [:]) throws {
        let topics = Dictionary(uniqueKeysWithValues: PlazaTopic.allCases.map { ($0.rawValue, 1) })
        self.broker = try EmbeddedBroker(topics: topics)
        self.settings = KafkaSettings(
            brokers: self.broker.bootstrap, clientID: "writer", overrides: overrides
        ) { _, _, _ in }
        self.consumer = try KafkaConsumer(self.settings, group: "g", sessionTimeout: EmbeddedBroker.sessionTimeout)
        self.group = try #require(self.consumer.groupMetadata())
    }

    deinit { self.consumer.close() }

    /// A writer on which `prepare` was not called yet; all writers of the fixture have the same transactional id.
    func makeWriter(timeout: Milliseconds = .seconds(10)) throws(KafkaError) -> TransactionWriter {
        try TransactionWriter(self.settings, transactionalID: "writer", state: .directoryState, timeout: timeout)
    }

    /// Commits a batch of one record and an offset of the group.
    func commit(_ value: String, by writer: TransactionWriter) throws(KafkaError) {
        var batch = BatchOutput(value: value)
        batch.offsets[TopicPartition(PlazaTopic.directoryInbox.rawValue, 0)] = OffsetAndMetadata(offset: 1)
        try writer.commit(batch, group: self.group, consumer: self.consumer)
    }
}

extension BatchOutput {
    /// A batch of one record for the feed topic.
    init(value: String) {
        self.init()
        let record = OutgoingRecord(
            topic: PlazaTopic.roomFeed.rawValue, partition: 0, key: Array("k".utf8), value: Array(value.utf8))
        self.items.append(BatchOutput.Item(record: record, inboxPartition: 0))
    }
}
