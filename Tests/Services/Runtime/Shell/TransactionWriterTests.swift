// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import MachineKit
import PlazaModel
import TestSupport
import Testing

@testable import ServiceShell

/// Tests of transactions whose end gets no response, or reaches the broker late.
@Suite(.serialized, .timeLimit(.minutes(1))) struct TransactionWriterTests {
    /// The API key of `EndTxn` in Kafka's protocol.
    private static let endTransaction: Int16 = 26

    @Test
    func
        `a commit without a response is a fatal error, and a new writer with the same transactional id ends the transaction`()
        async throws
    {
        try await runOnDedicatedThread {
            let fixture = try WriterFixture()
            let firstWriter = try fixture.makeWriter(timeout: Milliseconds(500))
            try firstWriter.prepare()
            try fixture.commit("before", by: firstWriter)
            try fixture.broker.injectFault(intoRequests: Self.endTransaction, count: 1, delay: .seconds(5))
            // The writer must not abort here: librdkafka rejects every abort while the outcome of a commit is unknown.
            let error = #expect(throws: KafkaError.self) { try fixture.commit("unanswered", by: firstWriter) }
            #expect(error?.isFatal == true)
            firstWriter.close()
            let secondWriter = try fixture.makeWriter()
            try secondWriter.prepare()
            try fixture.commit("after", by: secondWriter)
            secondWriter.close()
        }
    }

    @Test(.enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 the late end of one transaction never ends the next one`() async throws {
        try await runOnDedicatedThread {
            let proxy = try KafkaProxy()
            defer { proxy.stop() }
            let kafka = try LiveKafka(settings: ["advertised.listeners": "PLAINTEXT://127.0.0.1:\(proxy.port)"])
            proxy.forward(to: try #require(kafka.bootstrap.split(separator: ":").last.flatMap { UInt16($0) }))
            let settings = KafkaSettings(brokers: "127.0.0.1:\(proxy.port)", clientID: "late") { _, _, _ in }
            let topics = PlazaTopic.allCases.map { topic in
                // The broker refuses the larger records of this topic.
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
            proxy.holdNextRequest(ofKind: Self.endTransaction)
            // The client repeats the request that is held, and the repetition is answered.
            try writer.commit(BatchOutput(value: "second"), group: group, consumer: consumer)
            #expect(proxy.isHolding)
            proxy.deliverBeforeNextRequest()
            // The broker accepts the first record of this batch and rejects the second one, so the writer aborts. The
            // proxy delivers the held commit before the batch's next request.
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

    /// Reads the committed values of the feed, up to `lastValue`.
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
