// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of `TransactionWriter`, which writes each batch of a shell in a transaction.
///
/// In two tests the request that ends the transaction gets no response, or reaches the broker late. In another one the
/// batch is too large.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TransactionWriterTests {
    /// The API key of the request `EndTxn` in Kafka's protocol.
    private static let endTransactionKey: Int16 = 26

    @Test
    func
        `a commit without a response is a fatal error, and a new writer of the same transactional id can commit`()
        async throws
    {
        try await runOnDedicatedThread {
            let fixture = try WriterFixture()
            let firstWriter = try fixture.makeWriter(timeout: Milliseconds(500))
            try firstWriter.prepare()
            try fixture.commit("before", by: firstWriter)
            try fixture.broker.injectFault(intoRequests: Self.endTransactionKey, count: 1, delay: .seconds(5))
            // The response comes after 5 s, but the writer waits only for 0.5 s. The writer must not try to abort,
            // because librdkafka rejects every abort while the outcome of a commit is unknown.
            let error = #expect(throws: KafkaError.self) { try fixture.commit("unanswered", by: firstWriter) }
            #expect(error?.isFatal == true)
            firstWriter.close()
            let secondWriter = try fixture.makeWriter()
            try secondWriter.prepare()
            try fixture.commit("after", by: secondWriter)
            secondWriter.close()
        }
    }

    @Test func `I16 a batch larger than the producer's queue is too large, and the next batch is committed`()
        async throws
    {
        try await runOnDedicatedThread {
            let fixture = try WriterFixture(overrides: ["queue.buffering.max.kbytes": "100"])
            let writer = try fixture.makeWriter()
            defer { writer.close() }
            try writer.prepare()
            try fixture.commit("before", by: writer)
            let error = #expect(throws: KafkaError.self) {
                try fixture.commit(String(repeating: "l", count: 200_000), by: writer)
            }
            #expect(error?.kind == .messageTooLarge && error?.isFatal == false, "\(error.debugDescription)")
            try fixture.commit("after", by: writer)
        }
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 a commit that reaches the broker late never commits the next transaction`() async throws {
        try await runOnDedicatedThread {
            let proxy = try KafkaProxy()
            defer { proxy.stop() }
            let kafka = try RealKafka(settings: ["advertised.listeners": "PLAINTEXT://127.0.0.1:\(proxy.port)"])
            proxy.forward(to: try #require(kafka.bootstrap.split(separator: ":").last.flatMap { UInt16($0) }))
            let settings = KafkaSettings(brokers: "127.0.0.1:\(proxy.port)", clientID: "late") { _, _, _ in }
            let topics = PlazaTopic.allCases.map { topic in
                // The broker rejects records of more than 1000 bytes in the topic `replies`.
                TopicSpec(
                    name: topic.rawValue, partitions: 1,
                    config: topic == .replies ? ["max.message.bytes": "1000"] : [:])
            }
            try KafkaAdmin(settings).createTopics(topics)
            let consumer = try KafkaConsumer(settings, group: "g", sessionTimeout: .seconds(6))
            defer { consumer.close() }
            let group = try #require(consumer.groupMetadata())
            let writer = try TransactionWriter(settings, transactionalID: "late", state: .directoryState)
            defer { writer.close() }
            try writer.prepare()
            try writer.warmUp()
            try writer.commit(BatchOutput(value: "first"), group: group, consumer: consumer)
            // The proxy holds back the commit of this batch. The client repeats the commit, and the repetition is
            // answered.
            proxy.holdNextRequest(ofKind: Self.endTransactionKey)
            try writer.commit(BatchOutput(value: "second"), group: group, consumer: consumer)
            #expect(proxy.isHolding)
            proxy.deliverBeforeNextRequest()
            // The broker accepts the first record of the next batch and rejects the second one, so the writer aborts.
            // The proxy delivers the held commit in between. If it committed this batch, "half" would be read below.
            var rejectedBatch = BatchOutput(value: "half")
            let tooLargeRecord = OutgoingRecord(
                topic: PlazaTopic.replies.rawValue, partition: 0, value: Array(repeating: 1, count: 5000))
            rejectedBatch.items.append(BatchOutput.Item(record: tooLargeRecord, inboxPartition: 0))
            #expect(throws: KafkaError.self) { try writer.commit(rejectedBatch, group: group, consumer: consumer) }
            #expect(proxy.hasDelivered)
            try writer.commit(BatchOutput(value: "last"), group: group, consumer: consumer)
            #expect(try Self.readFeedValues(settings, until: "last") == ["first", "second", "last"])
        }
    }

    /// Reads the committed values of the feed until `lastValue`, or for at most 20 s.
    private static func readFeedValues(_ settings: KafkaSettings, until lastValue: String) throws -> [String] {
        let reader = try KafkaConsumer(settings, fetchWait: .milliseconds(20))
        defer { reader.close() }
        try reader.assign([TopicPartition(PlazaTopic.roomFeed.rawValue, 0): LogicalOffset.beginning])
        var values: [String] = []
        let deadline = MonotonicClock.now + .seconds(20)
        while values.last != lastValue, MonotonicClock.now < deadline {
            var records: [IncomingRecord] = []
            _ = try reader.poll(max: 100, timeout: .milliseconds(200), into: &records)
            values += records.compactMap { $0.value.map { String(decoding: $0, as: UTF8.self) } }
        }
        return values
    }
}
