// SPDX-License-Identifier: Apache-2.0
import Concurrency
import Foundation
import KafkaClient
import Testing

/// Producers and consumers of the embedded broker, and of a real one if it is installed.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct ProducingAndConsumingTests {
    @Test(arguments: Server.available)
    func `a record is read with the key, headers and value that were sent`(server: Server) async throws {
        try await runOnDedicatedThread {
            let topic = try server.makeTopic("records")
            let producer = try KafkaProducer(server.settings())
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

            let consumer = try server.makeConsumer()
            let partition = TopicPartition(topic, 0)
            try consumer.assign([partition: LogicalOffset.beginning])
            let read = try #require(try consumer.readToEnd([partition]))
            #expect(read.records.map(\.key) == sent.map(\.key))
            #expect(read.records.map(\.value) == sent.map(\.value))
            #expect(read.records.map(\.headers) == sent.map(\.headers))
            #expect(read.records.map(\.offset) == offsets)
            // The timestamps are milliseconds; 1,600,000,000,000 is in the year 2020.
            #expect(read.records.allSatisfy { $0.topicPartition == partition && $0.timestamp > 1_600_000_000_000 })
            #expect(read.ends == [partition: 4])
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: Server.available)
    func `the delivery of each record is reported once, with its token, in order`(server: Server) async throws {
        try await runOnDedicatedThread {
            let topic = try server.makeTopic("tokens")
            let deliveries = Collected<Delivery>()
            let producer = try KafkaProducer(server.settings()) { deliveries.append($0) }
            for token in 1...2000 { try producer.send(OutgoingRecord(topic, 0, "\(token)"), token: UInt64(token)) }
            try producer.flush(timeout: .seconds(20))
            #expect(deliveries.all.map(\.token) == Array(1...2000))
            #expect(deliveries.all.map(\.offset) == Array(0..<2000))
            #expect(deliveries.all.allSatisfy { $0.error == nil && $0.topic == topic && $0.partition == 0 })
            #expect(producer.queueDepth == 0)
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: Server.available)
    func `the end of a partition is reported, and again after a new record was read`(server: Server) async throws {
        try await runOnDedicatedThread {
            let topic = try server.makeTopic("ends", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let producer = try KafkaProducer(server.settings())
            let consumer = try server.makeConsumer()
            try consumer.assign([partitions[0]: 0, partitions[1]: 0])
            let readBefore = try #require(try consumer.readToEnd(partitions))
            #expect(readBefore.ends == [partitions[0]: 0, partitions[1]: 0])

            _ = try producer.sendAndWait(OutgoingRecord(topic, 1, "one"), timeout: .seconds(10))
            let readAfter = try #require(try consumer.readToEnd([partitions[1]]))
            #expect(readAfter.records.map(\.text) == ["one"])
            #expect(readAfter.ends == [partitions[1]: 1])
            #expect(try consumer.beginningOffset(of: partitions[1], timeout: .seconds(5)) == 0)
            #expect(try consumer.endOffset(of: partitions[1], timeout: .seconds(5)) == 1)
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: Server.available)
    func `a seek moves the position of one partition only`(server: Server) async throws {
        try await runOnDedicatedThread {
            let topic = try server.makeTopic("seek", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let producer = try KafkaProducer(server.settings())
            for number in 0..<10 {
                for partition in Int32(0)...1 { try producer.send(OutgoingRecord(topic, partition, "\(number)")) }
            }
            try producer.flush(timeout: .seconds(10))

            let consumer = try server.makeConsumer()
            try consumer.assign([partitions[0]: 0, partitions[1]: 0])
            #expect(try #require(try consumer.readToEnd(partitions)).records.count == 20)
            try consumer.seek([partitions[0]: 7])
            let reread = try #require(try consumer.readToEnd([partitions[0]]))
            #expect(reread.records.map(\.text) == ["7", "8", "9"])
            #expect(reread.records.allSatisfy { $0.partition == 0 })
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: Server.available)
    func `partitions are added to and removed from the assignment without disturbing the others`(server: Server)
        async throws
    {
        try await runOnDedicatedThread {
            let topic = try server.makeTopic("incremental", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let producer = try KafkaProducer(server.settings())
            for number in 0..<5 {
                for partition in Int32(0)...1 { try producer.send(OutgoingRecord(topic, partition, "\(number)")) }
            }
            try producer.flush(timeout: .seconds(10))

            let consumer = try server.makeConsumer()
            #expect(try consumer.loadTopicMetadata(topic, timeout: .seconds(5)) == 2, "the number of partitions")
            try consumer.incrementalAssign([partitions[0]: 0])
            #expect(try #require(try consumer.readToEnd([partitions[0]])).records.count == 5)
            try consumer.incrementalAssign([partitions[1]: 3])
            let added = try #require(try consumer.readToEnd([partitions[1]]))
            #expect(added.records.map(\.topicPartition) == [partitions[1], partitions[1]])
            #expect(added.records.map(\.text) == ["3", "4"])

            try consumer.incrementalUnassign([partitions[0]])
            try producer.send(OutgoingRecord(topic, 0, "unseen"))
            try producer.send(OutgoingRecord(topic, 1, "seen"))
            try producer.flush(timeout: .seconds(10))
            let afterUnassign = try #require(try consumer.readToEnd([partitions[1]]))
            #expect(afterUnassign.records.map(\.text) == ["seen"])
            producer.close(timeout: .seconds(1))
        }
    }

    @Test(arguments: Server.available)
    func `a commit without a transaction stores offset and metadata exactly`(server: Server) async throws {
        try await runOnDedicatedThread {
            let topic = try server.makeTopic("commits", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let consumer = try server.makeConsumer("group-\(topic)")
            let sent = OffsetAndMetadata(offset: 42, metadata: #"{"epoch":"ab","last":17,"name":"é"}"#)
            try consumer.commit([partitions[0]: sent])
            let committed = try consumer.committedOffsets(of: partitions, timeout: .seconds(10))
            #expect(committed == [partitions[0]: sent, partitions[1]: nil])
        }
    }

    @Test(arguments: Server.available)
    func `a wake-up from another thread makes a waiting poll return`(server: Server) async throws {
        let topic = try server.makeTopic("wake")
        let elapsed = try await runOnDedicatedThread {
            let consumer = try server.makeConsumer()
            try consumer.assign([TopicPartition(topic, 0): 0])
            var records: [IncomingRecord] = []
            // No wake-up: the poll returns because the partition's end was reached.
            var outcome = try consumer.poll(max: 10, timeout: .seconds(20), into: &records)
            #expect(!outcome.wasWoken)
            let waker = consumer.waker
            _ = DedicatedThread("test") { waker.wakeUp() }
            let clock = ContinuousClock()
            let elapsed = try clock.measure {
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
