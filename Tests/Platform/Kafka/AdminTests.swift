// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import Foundation
import KafkaClient
import MachineKit
import TestSupport
import Testing

/// Tests of `KafkaAdmin`, which creates and describes topics, and of the topics of the embedded (in-memory) broker.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct AdminTests {
    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `topics are created and described, and a repeated request is not an error`() async throws {
        try await runOnDedicatedThread {
            let admin = try KafkaAdmin(TestBroker.real.settings())
            #expect(try admin.waitUntilReachable(timeout: .seconds(10)).brokers.count == 1)
            let name = "admin-\(UUID().uuidString.prefix(8))"
            let spec = TopicSpec(
                name: name, partitions: 3, config: ["cleanup.policy": "compact", "segment.ms": "60000"])
            try admin.createTopics([spec])
            // A repeated request is not an error.
            try admin.createTopics([spec])
            let description = try #require(try admin.describeTopics([name]).first)
            #expect(description.partitions == 3)
            #expect(description.config["cleanup.policy"] == "compact")
            #expect(description.config["segment.ms"] == "60000")
            #expect(try admin.clusterInfo(timeout: .seconds(5)).topics[name] == 3)

            let error = #expect(throws: KafkaError.self) {
                try admin.createTopics([TopicSpec(name: name + "-bad", partitions: 1, config: ["no.such": "1"])])
            }
            #expect(error?.codeName == "INVALID_CONFIG")

            let missingTopicError = #expect(throws: KafkaError.self) {
                _ = try admin.describeTopics([name + "-missing"])
            }
            #expect(missingTopicError?.kind == .unknownTopic)
        }
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `the first offset at or after a time is found, or the end of the partition`() async throws {
        try await runOnDedicatedThread {
            let topic = try RealKafka.shared().makeTopic(
                "times", config: ["message.timestamp.type": "LogAppendTime"])
            let partition = TopicPartition(topic, 0)
            let producer = try KafkaProducer(TestBroker.real.settings())
            _ = try producer.sendAndWait(OutgoingRecord(topic: topic, text: "first"), timeout: .seconds(10))
            let consumer = try TestBroker.real.makeConsumer()
            try consumer.assign([partition: 0])
            let first = try #require(try consumer.poll { records, _ in records.count == 1 }).records[0]
            // A query for a time finds the first record with this timestamp, in milliseconds. The query below must find
            // the last record, so the timestamp of the last record must be later than that of the first one.
            var last = first
            while last.timestamp == first.timestamp {
                _ = try producer.sendAndWait(OutgoingRecord(topic: topic, text: "later"), timeout: .seconds(10))
                last = try #require(try consumer.poll { records, _ in !records.isEmpty }?.records.last)
            }
            let offsetsOfLast = try consumer.offsets(forTimes: [partition: last.timestamp], timeout: .seconds(10))
            #expect(offsetsOfLast == [partition: last.offset])
            let offsetsAfterEnd = try consumer.offsets(
                forTimes: [partition: last.timestamp + .seconds(100)], timeout: .seconds(10))
            #expect(offsetsAfterEnd == [partition: LogicalOffset.end])
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `the embedded broker has its topics from the start and rejects requests to create topics`() async throws
    {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(brokers: 2, topics: ["rooms": 12, "feed": 3])
            let settings = FailureTests.silentSettings(broker.bootstrap)
            let admin = try KafkaAdmin(settings)
            let info = try admin.waitUntilReachable(timeout: .seconds(10))
            #expect(info.brokers.count == 2)
            #expect(info.topics == ["rooms": 12, "feed": 3])
            // A request to create a topic that exists is not an error.
            try admin.createTopics([TopicSpec(name: "rooms", partitions: 12)])
            let error = #expect(throws: KafkaError.self) {
                try admin.createTopics([TopicSpec(name: "x", partitions: 1)])
            }
            #expect(error?.kind == .unsupported)
            #expect(throws: EmbeddedBrokerError.self) { try broker.createTopic("rooms", partitions: 1) }
        }
    }

    @Test func `the embedded broker answers requests for several partitions without delay`() async throws {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["feed": 4])
            let producer = try KafkaProducer(FailureTests.silentSettings(broker.bootstrap))
            defer { producer.close(timeout: .milliseconds(500)) }
            func writeToEachPartition() throws {
                for partition in 0..<4 as Range<Int32> {
                    try producer.send(
                        OutgoingRecord(topic: "feed", partition: partition, key: nil, value: [1], headers: []))
                }
                try producer.flush(timeout: .seconds(5))
            }
            try writeToEachPartition()
            let times = try (1...100).map { _ in try ContinuousClock().measure { try writeToEachPartition() } }
            // Without TCP_NODELAY, in most batches the second of two small responses would wait 40 ms, until the client
            // has acknowledged the first one. A busy machine makes some batches slow, but not most of them.
            let median = times.sorted()[times.count / 2]
            #expect(median < .milliseconds(30), "half of the batches took at least \(median)")
        }
    }
}
