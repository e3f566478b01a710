// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import TestSupport
import Testing

@Suite(.serialized, .enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"), .timeLimit(.minutes(2)))
struct TransactionTests {
    static func producer(_ name: String) throws -> KafkaProducer {
        let producer = try KafkaProducer(Server.real.settings(), transactionalID: name)
        try producer.initTransactions(timeout: .seconds(20))
        return producer
    }

    /// Appends one record in a transaction of its own.
    private static func append(_ text: String, to topic: String, with producer: KafkaProducer) throws {
        try producer.beginTransaction()
        try producer.send(OutgoingRecord(topic, 0, text))
        try producer.commitTransaction(timeout: .seconds(10))
    }

    @Test func `an aborted record is invisible to those who read committed, and the end lies behind the marker`()
        async throws
    {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("abort")
            let place = TopicPartition(topic, 0)
            let producer = try Self.producer(topic)
            try Self.append("kept", to: topic, with: producer)
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic, 0, "dropped"))
            try producer.flush(timeout: .seconds(10))
            try producer.abortTransaction(timeout: .seconds(10))

            let all = try Server.real.consumer(isolation: .uncommitted)
            // kept, marker, dropped, marker; the last is written after the abort was answered
            var high: Int64 = 0
            let deadline = ContinuousClock.now + .seconds(10)
            while high < 4, ContinuousClock.now < deadline {
                high = try all.end(of: place, timeout: .seconds(10))
            }
            #expect(high == 4)
            try all.assign([place: 0])
            #expect(try #require(try all.readToEnd([place])).records.map(\.text) == ["kept", "dropped"])

            let committed = try Server.real.consumer()
            try committed.assign([place: 0])
            let read = try #require(try committed.readToEnd([place]))
            #expect(read.records.map(\.text) == ["kept"])
            #expect(read.ends[place] == high)
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `records of an open transaction wait for its commit`() async throws {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("open")
            let place = TopicPartition(topic, 0)
            let producer = try Self.producer(topic)
            let consumer = try Server.real.consumer()
            try consumer.assign([place: 0])
            _ = try #require(try consumer.readToEnd([place]))
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic, 0, "later"))
            try producer.flush(timeout: .seconds(10))
            var records: [IncomingRecord] = []
            _ = try consumer.poll(max: 10, timeout: .milliseconds(300), into: &records)
            #expect(records.isEmpty)
            try producer.commitTransaction(timeout: .seconds(10))
            let read = try #require(try consumer.poll { records, _ in !records.isEmpty })
            #expect(read.records.map(\.text) == ["later"])
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `I15 offsets and their metadata commit with the transaction and come back exactly`() async throws {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("offsets", partitions: 2)
            let places = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let member = try GroupTests.Member(.real, group: "g-\(topic)", topic: topic)
            #expect(try GroupTests.wait([member]) { member.owned.count == 2 })
            let group = try #require(member.consumer.groupMetadata())
            let producer = try Self.producer(topic)

            let longest = OffsetAndMetadata(offset: 9, metadata: String(repeating: "x", count: 4096))
            let plain = OffsetAndMetadata(offset: 3, metadata: #"{"epoch":"é","last":12}"#)
            try producer.beginTransaction()
            try producer.sendOffsets([places[0]: longest, places[1]: plain], group: group, timeout: .seconds(10))
            try producer.commitTransaction(timeout: .seconds(10))
            let reader = try Server.real.consumer("g-\(topic)")
            #expect(
                try reader.committed(places, timeout: .seconds(10)) == [places[0]: longest, places[1]: plain])

            try producer.beginTransaction()
            try producer.sendOffsets(
                [places[0]: OffsetAndMetadata(offset: 100)], group: group, timeout: .seconds(10))
            try producer.abortTransaction(timeout: .seconds(10))
            #expect(try reader.committed([places[0]], timeout: .seconds(10)) == [places[0]: longest])

            // A commit without metadata erases it.
            try producer.beginTransaction()
            try producer.sendOffsets(
                [places[0]: OffsetAndMetadata(offset: 10)], group: group, timeout: .seconds(10))
            try producer.commitTransaction(timeout: .seconds(10))
            #expect(
                try reader.committed([places[0]], timeout: .seconds(10))
                    == [places[0]: OffsetAndMetadata(offset: 10)])
            producer.close(timeout: .seconds(1))
            member.consumer.close()
        }
    }

    @Test func `an older producer of the same id is fenced, and its open transaction is aborted`() async throws {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("fence")
            let place = TopicPartition(topic, 0)
            let older = try Self.producer(topic)
            try older.beginTransaction()
            try older.send(OutgoingRecord(topic, 0, "old"))
            try older.flush(timeout: .seconds(10))

            let newer = try Self.producer(topic)
            let error = #expect(throws: KafkaError.self) { try older.commitTransaction(timeout: .seconds(10)) }
            #expect(error?.kind == .fenced)
            #expect(error?.isFatal == true)
            #expect(older.fatalError?.kind == .fenced)
            #expect(throws: KafkaError.self) { try older.beginTransaction() }
            older.close(timeout: .zero)

            try Self.append("new", to: topic, with: newer)
            let consumer = try Server.real.consumer()
            try consumer.assign([place: 0])
            #expect(try #require(try consumer.readToEnd([place])).records.map(\.text) == ["new"])
            newer.close(timeout: .seconds(1))
        }
    }

    @Test func `a transaction out of turn is refused without harm`() async throws {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("turn")
            let producer = try Self.producer(topic)
            #expect(throws: KafkaError.self) { try producer.commitTransaction(timeout: .seconds(1)) }
            try producer.beginTransaction()
            #expect(throws: KafkaError.self) { try producer.beginTransaction() }
            try producer.abortTransaction(timeout: .seconds(10))
            producer.close(timeout: .seconds(1))
        }
    }
}
