// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import MachineKit
import Testing

/// Tests of Kafka producers and consumers, with the embedded (in-memory) broker and, if installed, with a real Kafka.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct ProducingAndConsumingTests {
    @Test(arguments: TestBroker.available)
    func `a record is read with the key, headers and value that were sent`(broker: TestBroker) async throws {
        try await runOnDedicatedThread {
            let topic = try broker.makeTopic("records")
            let producer = try KafkaProducer(broker.settings())
            let headers = [
                KafkaHeader(name: "request", text: "a-1"), KafkaHeader(name: "request", text: "a-2"),
                KafkaHeader(name: "empty", value: []), KafkaHeader(name: "bytes", value: [0, 255, 10]),
            ]
            let sent = [
                OutgoingRecord(
                    topic: topic, partition: 0, key: Array("ключ".utf8), value: Array("{}".utf8), headers: headers),
                OutgoingRecord(topic: topic, partition: 0, key: [1], value: nil),
                OutgoingRecord(topic: topic, partition: 0, key: [], value: []),
                OutgoingRecord(topic: topic, partition: 0, key: nil, value: [7]),
            ]
            var offsets: [Int64] = []
            for record in sent { offsets.append(try producer.sendAndWait(record, timeout: .seconds(10))) }
            #expect(offsets == [0, 1, 2, 3])

            let consumer = try broker.makeConsumer()
            let partition = TopicPartition(topic, 0)
            try consumer.assign([partition: LogicalOffset.beginning])
            let read = try #require(try consumer.readToEnd([partition]))
            #expect(read.records.map(\.key) == sent.map(\.key))
            #expect(read.records.map(\.value) == sent.map(\.value))
            #expect(read.records.map(\.headers) == sent.map(\.headers))
            #expect(read.records.map(\.offset) == offsets)
            #expect(read.records.allSatisfy { $0.topicPartition == partition })
            let timeIn2020 = Timestamp(milliseconds: 1_600_000_000_000)
            #expect(read.records.allSatisfy { $0.timestamp > timeIn2020 }, "timestamps are in milliseconds")
            #expect(read.ends == [partition: 4])
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: TestBroker.available)
    func `the delivery of each record is reported once, with its token, in order`(broker: TestBroker) async throws {
        try await runOnDedicatedThread {
            let topic = try broker.makeTopic("tokens")
            let deliveries = Collected<DeliveryReport>()
            let producer = try KafkaProducer(broker.settings()) { deliveries.append($0) }
            for token in 1...2000 {
                try producer.send(OutgoingRecord(topic: topic, text: "\(token)"), token: UInt64(token))
            }
            try producer.flush(timeout: .seconds(20))
            #expect(deliveries.all.map(\.token) == Array(1...2000))
            #expect(deliveries.all.map(\.offset) == Array(0..<2000))
            #expect(deliveries.all.allSatisfy { $0.error == nil && $0.topic == topic && $0.partition == 0 })
            #expect(producer.queueDepth == 0)
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: TestBroker.available)
    func `the end of a partition is reported, and again after a new record was read`(broker: TestBroker) async throws {
        try await runOnDedicatedThread {
            let topic = try broker.makeTopic("ends", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let producer = try KafkaProducer(broker.settings())
            let consumer = try broker.makeConsumer()
            try consumer.assign([partitions[0]: 0, partitions[1]: 0])
            let readBefore = try #require(try consumer.readToEnd(partitions))
            #expect(readBefore.ends == [partitions[0]: 0, partitions[1]: 0])

            _ = try producer.sendAndWait(OutgoingRecord(topic: topic, partition: 1, text: "one"), timeout: .seconds(10))
            // The other partition has no new record, so its end is not reported again.
            let readAfter = try #require(try consumer.readToEnd([partitions[1]]))
            #expect(readAfter.records.map(\.text) == ["one"])
            #expect(readAfter.ends == [partitions[1]: 1])
            #expect(try consumer.beginningOffset(of: partitions[1], timeout: .seconds(5)) == 0)
            #expect(try consumer.endOffset(of: partitions[1], timeout: .seconds(5)) == 1)
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: TestBroker.available)
    func `a seek moves the position of one partition only`(broker: TestBroker) async throws {
        try await runOnDedicatedThread {
            let topic = try broker.makeTopic("seek", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let producer = try KafkaProducer(broker.settings())
            for number in 0..<10 {
                for partition in Int32(0)...1 {
                    try producer.send(OutgoingRecord(topic: topic, partition: partition, text: "\(number)"))
                }
            }
            try producer.flush(timeout: .seconds(10))

            let consumer = try broker.makeConsumer()
            try consumer.assign([partitions[0]: 0, partitions[1]: 0])
            #expect(try #require(try consumer.readToEnd(partitions)).records.count == 20)
            try consumer.seek([partitions[0]: 7])
            // Only the three records from the offset 7 on are read again.
            let reread = try #require(try consumer.readToEnd([partitions[0]]))
            #expect(reread.records.map(\.text) == ["7", "8", "9"])
            #expect(reread.records.allSatisfy { $0.partition == 0 })
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: TestBroker.available)
    func `adding or removing an assigned partition does not change the positions of the others`(broker: TestBroker)
        async throws
    {
        try await runOnDedicatedThread {
            let topic = try broker.makeTopic("incremental", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let producer = try KafkaProducer(broker.settings())
            for number in 0..<5 {
                for partition in Int32(0)...1 {
                    try producer.send(OutgoingRecord(topic: topic, partition: partition, text: "\(number)"))
                }
            }
            try producer.flush(timeout: .seconds(10))

            let consumer = try broker.makeConsumer()
            let partitionCount = try consumer.loadTopicMetadata(topic, timeout: .seconds(5))
            #expect(partitionCount == 2)
            try consumer.incrementalAssign([partitions[0]: 0])
            #expect(try #require(try consumer.readToEnd([partitions[0]])).records.count == 5)
            try consumer.incrementalAssign([partitions[1]: 3])
            let added = try #require(try consumer.readToEnd([partitions[1]]))
            #expect(added.records.map(\.topicPartition) == [partitions[1], partitions[1]])
            #expect(added.records.map(\.text) == ["3", "4"])

            try consumer.incrementalUnassign([partitions[0]])
            try producer.send(OutgoingRecord(topic: topic, text: "unseen"))
            try producer.send(OutgoingRecord(topic: topic, partition: 1, text: "seen"))
            try producer.flush(timeout: .seconds(10))
            let afterUnassign = try #require(try consumer.readToEnd([partitions[1]]))
            #expect(afterUnassign.records.map(\.text) == ["seen"])
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: TestBroker.available)
    func `a commit without a transaction stores offset and metadata exactly`(broker: TestBroker) async throws {
        try await runOnDedicatedThread {
            let topic = try broker.makeTopic("commits", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let consumer = try broker.makeConsumer(group: "group-\(topic)")
            let sent = OffsetAndMetadata(offset: 42, metadata: #"{"epoch":"ab","last":17,"name":"é"}"#)
            try consumer.commit([partitions[0]: sent])
            let committed = try consumer.committedOffsets(of: partitions, timeout: .seconds(10))
            #expect(committed == [partitions[0]: sent, partitions[1]: nil])
        }
    }

    @Test(arguments: TestBroker.available)
    func `a wake-up from another thread makes a waiting poll return`(broker: TestBroker) async throws {
        let topic = try broker.makeTopic("wake")
        let elapsed = try await runOnDedicatedThread {
            let consumer = try broker.makeConsumer()
            try consumer.assign([TopicPartition(topic, 0): 0])
            var records: [IncomingRecord] = []
            // This poll returns without a wake-up, because the partition's end is reached.
            var outcome = try consumer.poll(max: 10, timeout: .seconds(20), into: &records)
            #expect(!outcome.wasWoken)
            let waker = consumer.waker
            _ = DedicatedThread("test") { waker.wakeUp() }
            let clock = ContinuousClock()
            let elapsed = try clock.measure {
                // The timeout of 60 s is longer than the 10 s that are expected below.
                repeat {
                    outcome = try consumer.poll(max: 10, timeout: .seconds(60), into: &records)
                } while !outcome.wasWoken
            }
            consumer.close()
            // A wake-up of a closed consumer does nothing.
            waker.wakeUp()
            return elapsed
        }
        #expect(elapsed < .seconds(10))
    }
}
