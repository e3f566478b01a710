// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import TestSupport
import Testing

/// Tests of the transactions of Kafka producers, and of what consumers read of them.
@Suite(.serialized, .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"), .timeLimit(.minutes(2)))
struct TransactionTests {
    /// Makes a producer that can begin transactions.
    ///
    /// Earlier producers with the same id are fenced: the broker rejects whatever they write from now on.
    static func makeProducer(transactionalID: String) throws -> KafkaProducer {
        let producer = try KafkaProducer(TestBroker.real.settings(), transactionalID: transactionalID)
        try producer.initTransactions(timeout: .seconds(20))
        return producer
    }

    /// Writes one record in a transaction of its own.
    private static func commitRecord(_ text: String, to topic: String, with producer: KafkaProducer) throws {
        try producer.beginTransaction()
        try producer.send(OutgoingRecord(topic: topic, text: text))
        try producer.commitTransaction(timeout: .seconds(10))
    }

    @Test func `a consumer of committed records skips an aborted record, and reads to the end of the partition`()
        async throws
    {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("abort")
            let partition = TopicPartition(topic, 0)
            let producer = try Self.makeProducer(transactionalID: topic)
            try Self.commitRecord("kept", to: topic, with: producer)
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic: topic, text: "aborted"))
            try producer.flush(timeout: .seconds(10))
            try producer.abortTransaction(timeout: .seconds(10))

            let uncommittedReader = try TestBroker.real.makeConsumer(isolation: .uncommitted)
            // The broker ends each transaction with a marker record, so the partition gets four records: "kept",
            // marker, "aborted", marker. The broker writes the last marker after it has answered the abort, so the test
            // waits.
            var endOffset: Int64 = 0
            let giveUpAt = ContinuousClock.now + .seconds(10)
            while endOffset < 4, ContinuousClock.now < giveUpAt {
                endOffset = try uncommittedReader.endOffset(of: partition, timeout: .seconds(10))
            }
            #expect(endOffset == 4)
            try uncommittedReader.assign([partition: 0])
            let uncommittedRead = try #require(try uncommittedReader.readToEnd([partition]))
            #expect(uncommittedRead.records.map(\.text) == ["kept", "aborted"])

            let committedReader = try TestBroker.real.makeConsumer()
            try committedReader.assign([partition: 0])
            let read = try #require(try committedReader.readToEnd([partition]))
            #expect(read.records.map(\.text) == ["kept"])
            #expect(read.ends[partition] == endOffset, "expected the end behind the last marker")
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `the lag is what a consumer without a group has not read yet, and 0 behind a marker`() async throws {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("lag")
            let partition = TopicPartition(topic, 0)
            let producer = try Self.makeProducer(transactionalID: topic)
            try producer.beginTransaction()
            for _ in 0..<100 { try producer.send(OutgoingRecord(topic: topic, text: "x")) }
            try producer.commitTransaction(timeout: .seconds(10))

            let reported = Collected<KafkaStatistics>()
            var settings = try TestBroker.real.settings()
            settings.statisticsInterval = .milliseconds(50)
            settings.onStatistics = { reported.append($0) }
            let consumer = try KafkaConsumer(settings, fetchWait: .milliseconds(5))
            try consumer.assign([partition: 0])
            var records: [IncomingRecord] = []
            func read(_ count: Int) throws {
                let giveUpAt = ContinuousClock.now + .seconds(10)
                while records.count < count, ContinuousClock.now < giveUpAt {
                    _ = try consumer.poll(max: 1, timeout: .milliseconds(100), into: &records)
                }
                #expect(records.count == count)
            }
            try read(40)
            // Meanwhile librdkafka reports the lag. The consumer gets these reports only after the 60 records that were
            // fetched before.
            DedicatedThread.sleep(for: .milliseconds(1500))
            try read(100)
            let giveUpAt = ContinuousClock.now + .seconds(10)
            while reported.all.last?.lag[partition] != 0, ContinuousClock.now < giveUpAt {
                _ = try consumer.poll(max: 1, timeout: .milliseconds(100), into: &records)
            }
            let lags = reported.all.compactMap { $0.lag[partition] }
            // After the first 40 records, 60 records and the marker were left.
            #expect(lags.contains(61), "\(lags)")
            #expect(lags.last == 0, "\(lags)")
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `records of an open transaction are not read before its commit`() async throws {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("open")
            let partition = TopicPartition(topic, 0)
            let producer = try Self.makeProducer(transactionalID: topic)
            let consumer = try TestBroker.real.makeConsumer()
            try consumer.assign([partition: 0])
            _ = try #require(try consumer.readToEnd([partition]))
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic: topic, text: "later"))
            try producer.flush(timeout: .seconds(10))
            var records: [IncomingRecord] = []
            _ = try consumer.poll(max: 10, timeout: .milliseconds(300), into: &records)
            #expect(records.isEmpty, "the transaction is open")
            try producer.commitTransaction(timeout: .seconds(10))
            let read = try #require(try consumer.poll { records, _ in !records.isEmpty })
            #expect(read.records.map(\.text) == ["later"])
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `I15 offsets and their metadata are committed with their transaction and read exactly as sent`()
        async throws
    {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("offsets", partitions: 2)
            let partitions = [TopicPartition(topic, 0), TopicPartition(topic, 1)]
            let member = try GroupTests.Member(.real, group: "g-\(topic)", topic: topic)
            #expect(try GroupTests.poll([member]) { member.assigned.count == 2 })
            let group = try #require(member.consumer.groupMetadata())
            let producer = try Self.makeProducer(transactionalID: topic)

            // A broker accepts 4096 bytes of metadata unless it is set otherwise.
            let longest = OffsetAndMetadata(offset: 9, metadata: String(repeating: "x", count: 4096))
            let plain = OffsetAndMetadata(offset: 3, metadata: #"{"epoch":"é","last":12}"#)
            try producer.beginTransaction()
            try producer.sendOffsets(
                [partitions[0]: longest, partitions[1]: plain], group: group, timeout: .seconds(10))
            try producer.commitTransaction(timeout: .seconds(10))
            let reader = try TestBroker.real.makeConsumer(group: "g-\(topic)")
            #expect(
                try reader.committedOffsets(of: partitions, timeout: .seconds(10)) == [
                    partitions[0]: longest, partitions[1]: plain,
                ])

            // The offset of an aborted transaction is not committed.
            try producer.beginTransaction()
            try producer.sendOffsets(
                [partitions[0]: OffsetAndMetadata(offset: 100)], group: group, timeout: .seconds(10))
            try producer.abortTransaction(timeout: .seconds(10))
            #expect(try reader.committedOffsets(of: [partitions[0]], timeout: .seconds(10)) == [partitions[0]: longest])

            // A commit without metadata erases the metadata of the earlier commit.
            try producer.beginTransaction()
            try producer.sendOffsets(
                [partitions[0]: OffsetAndMetadata(offset: 10)], group: group, timeout: .seconds(10))
            try producer.commitTransaction(timeout: .seconds(10))
            #expect(
                try reader.committedOffsets(of: [partitions[0]], timeout: .seconds(10))
                    == [partitions[0]: OffsetAndMetadata(offset: 10)])
            producer.close(timeout: .seconds(1))
            member.consumer.close()
        }
    }

    @Test func `an older producer of the same id is fenced, and its open transaction is aborted`() async throws {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("fence")
            let partition = TopicPartition(topic, 0)
            let older = try Self.makeProducer(transactionalID: topic)
            try older.beginTransaction()
            try older.send(OutgoingRecord(topic: topic, text: "old"))
            try older.flush(timeout: .seconds(10))

            let newer = try Self.makeProducer(transactionalID: topic)
            let error = #expect(throws: KafkaError.self) { try older.commitTransaction(timeout: .seconds(10)) }
            #expect(error?.kind == .fenced)
            #expect(error?.isFatal == true)
            #expect(older.fatalError?.kind == .fenced)
            #expect(throws: KafkaError.self) { try older.beginTransaction() }
            older.close(timeout: .zero)

            try Self.commitRecord("new", to: topic, with: newer)
            let consumer = try TestBroker.real.makeConsumer()
            try consumer.assign([partition: 0])
            #expect(try #require(try consumer.readToEnd([partition])).records.map(\.text) == ["new"])
            newer.close(timeout: .seconds(1))
        }
    }

    @Test func `a commit without a transaction and a second begin are rejected, and an abort succeeds afterwards`()
        async throws
    {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("turn")
            let producer = try Self.makeProducer(transactionalID: topic)
            #expect(throws: KafkaError.self) { try producer.commitTransaction(timeout: .seconds(1)) }
            try producer.beginTransaction()
            #expect(throws: KafkaError.self) { try producer.beginTransaction() }
            try producer.abortTransaction(timeout: .seconds(10))
            producer.close(timeout: .seconds(1))
        }
    }
}
