// SPDX-License-Identifier: Apache-2.0
import Concurrency
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import TestSupport
import Testing

@testable import KafkaClient
@testable import ServiceShell

/// Tests of who is at fault when the broker rejects the records that a machine has written for an input.
///
/// The input is at fault if one of the records is too large or invalid. Then the input is set aside: it is written to
/// the dead letter topic instead. The deployment is at fault if a topic rejects small records, too.
@Suite struct RejectedRecordsTests {
    /// The report about a record that failed with an error of this kind, or was delivered if the kind is nil.
    private static func delivery(_ kind: KafkaError.Kind?, _ topic: String = "room.feed", bytes: Int = 100)
        -> DeliveryReport
    {
        DeliveryReport(
            token: 0, topic: topic, partition: 0, offset: -1, bytes: bytes,
            error: kind.map { KafkaError($0, "the reason") })
    }

    /// The reason for the rejection in these deliveries; nil if the broker has rejected none of the records.
    private static func rejection(_ deliveries: [DeliveryReport]) -> KafkaError? {
        var records = RejectedRecords()
        for delivery in deliveries { records.add(delivery) }
        return records.reason
    }

    @Test func `deliveries that failed for other reasons, or did not fail, are not a rejection`() {
        #expect(Self.rejection([]) == nil)
        #expect(Self.rejection([Self.delivery(nil), Self.delivery(.timedOut), Self.delivery(.other)]) == nil)
    }

    @Test func `I16 a large record that is rejected as too large is the fault of its input`() {
        let error = Self.rejection([
            Self.delivery(.other), Self.delivery(.messageTooLarge, bytes: RejectedRecords.alwaysAcceptedBytes + 1),
        ])
        #expect(error?.kind == .messageTooLarge)
        #expect(error.flatMap { InputFailure($0) }?.replyCode == .overLimit)
        #expect(error?.message.contains("room.feed") == true, "the message names the topic")
    }

    @Test func `I16 many small records that are rejected as one too large batch are the fault of their inputs`() {
        // 200 records of 100 bytes are 20,000 bytes, which is more than `alwaysAcceptedBytes`, 16,384.
        let batch = (0..<200).map { _ in Self.delivery(.messageTooLarge) }
        #expect(Self.rejection(batch)?.kind == .messageTooLarge)
        // Records of another topic are not part of the batch. The record of 100 bytes is then rejected alone, so the
        // topic is configured wrongly.
        let recordsOfOtherTopic = batch.map { Self.delivery(.messageTooLarge, "replies", bytes: $0.bytes) }
        #expect(Self.rejection([Self.delivery(.messageTooLarge)] + recordsOfOtherTopic)?.kind == .invalidConfiguration)
    }

    @Test func `I16 an invalid record is the fault of its input`() {
        let error = Self.rejection([Self.delivery(.invalidRecord)])
        #expect(error.flatMap { InputFailure($0) }?.replyCode == .failed)
    }

    @Test(arguments: [KafkaError.Kind.accessDenied, .messageTooLarge])
    func `I16 the input is not at fault if a topic rejects even small records`(_ kind: KafkaError.Kind) {
        let error = Self.rejection([Self.delivery(kind)])
        #expect(error?.needsOperator == true)
        #expect(error.map { InputFailure($0) == nil } == true)
    }

    // The number of records in a batch, and the bytes in the value of each. A request may have 900,000 bytes. The
    // commit has 10,000 bytes, and each record counts as 100 bytes more than its value. Therefore each of these batches
    // fits into one request, for example 800 * (1000 + 100) + 10,000 = 890,000. With twice as many records, no batch
    // fits.
    @Test(arguments: [(1, 880_000), (80, 10_000), (800, 1000)])
    func `I8 a batch that does not fit into one request is recognized`(count: Int, bytes: Int) {
        let record = OutgoingRecord(topic: "room.feed", value: [UInt8](repeating: UInt8(ascii: "a"), count: bytes))
        let commit = BatchHeader.Commit(nextOffset: 1, metadata: "", rows: [UInt8](repeating: 0, count: 10_000))
        var batch = AppendWriter.PartitionBatch(
            partition: 0, records: Array(repeating: record, count: count), epoch: 1, commit: commit)
        #expect(batch.fitsOneRequest)
        batch.records += batch.records
        #expect(!batch.fitsOneRequest)
    }
}

/// Tests of a shell (the loop that consumes inputs, decides and commits) with a topic whose size limit is too low.
///
/// All tests use the same consumer group, so they run one at a time.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
struct RejectingTopicTests {
    @Test(arguments: [false, true])
    func `I16 an input whose record is too large for one topic is set aside and answered`(
        startsBeforeInput: Bool
    ) async throws {
        try await runOnDedicatedThread {
            let kafka = try RealKafka()
            defer { withExtendedLifetime(kafka) {} }
            let broker = try TopicBroker(
                kafka, clientID: "rejecting", maxMessageBytes: [.roomFeed: 100_000, .deadLetters: 100_000])
            let harness = try ShellHarness(.full, on: broker)
            let lives = MachineShellTests.newLives("large", count: 3)
            // A new shell writes its first batch in a transaction. A shell that has processed a batch before the large
            // input appends its further batches.
            var shell = startsBeforeInput ? harness.startShell("one") : nil
            for live in lives { try harness.sendText("before", in: live) }
            try harness.flush()
            if startsBeforeInput { _ = try harness.readItemNumbers(of: Set(lives)) { $0.count == lives.count } }
            try harness.sendText(String(repeating: "l", count: 150_000), in: lives[1])
            for live in lives { try harness.sendText("after", in: live) }
            try harness.flush()
            if !startsBeforeInput { shell = harness.startShell("one") }
            let numbers = try harness.readItemNumbers(of: Set(lives)) { found in
                lives.allSatisfy { found[$0]?.contains(2) ?? false }
            }
            for live in lives { #expect(numbers[live] == [1, 2]) }
            let deadLetters = try harness.readRecords(of: .deadLetters, in: nil) { !$0.isEmpty }
            #expect(deadLetters.count == 1)
            // The dead letter topic has the same limit, so the dead letter does not have the content of the input.
            let letter = try #require(deadLetters.first)
            #expect(letter.value == nil)
            #expect(DeadLetterOrigin { letter.header($0) }?.omittedBytes ?? 0 > 150_000)
            let replies = try harness.readReplies { replies in replies.contains { Self.failureCode($0) == .overLimit } }
            #expect(replies.compactMap(Self.failureCode) == [.overLimit])
            #expect(shell?.stop() == true)
        }
    }

    @Test func `I8 no record of a batch is appended if the broker rejects one of them`() async throws {
        try await runOnDedicatedThread {
            let kafka = try RealKafka()
            defer { withExtendedLifetime(kafka) {} }
            let topic = PlazaTopic.roomFeed
            let broker = try TopicBroker(kafka, clientID: "rejecting", maxMessageBytes: [topic: 100_000])
            let reader = try KafkaConsumer(broker.settings)
            defer { reader.close() }
            // Each record of a writer has a sequence number, and the broker accepts any number as the first one of a
            // new writer. Therefore the broker would store the small records if they came in a second request, after
            // the rejected record. Each of the 20 repetitions has a new writer.
            for _ in 0..<20 {
                let writer = try AppendWriter(
                    broker.settings, topic: topic, timeout: { .seconds(20) }, machine: "barrage",
                    metrics: KafkaClientMetrics(MetricsRegistry()))
                try writer.warmUp()
                let records = [150_000, 100, 100, 100].map { size in
                    OutgoingRecord(
                        topic: topic.rawValue, partition: 0, value: [UInt8](repeating: UInt8(ascii: "a"), count: size))
                }
                let batch = AppendWriter.PartitionBatch(
                    partition: 0, records: records, epoch: 1,
                    commit: BatchHeader.Commit(nextOffset: 1, metadata: "", rows: []))
                #expect(batch.fitsOneRequest)
                let error = #expect(throws: KafkaError.self) { try writer.append([batch]) }
                #expect(error?.kind == .messageTooLarge && error?.isFatal == true, "\(error.debugDescription)")
                writer.close()
            }
            let endOffset = try reader.endOffset(of: TopicPartition(topic.rawValue, 0), timeout: .seconds(10))
            #expect(endOffset == 0, "no record was stored")
        }
    }

    @Test func `I16 a topic that rejects every record stops its partitions, and no input is set aside`() async throws {
        try await runOnDedicatedThread {
            let kafka = try RealKafka()
            defer { withExtendedLifetime(kafka) {} }
            // The epoch claim of a new owner fits into 400 bytes; the item of a text of 1000 bytes does not.
            let broker = try TopicBroker(kafka, clientID: "rejecting", maxMessageBytes: [.roomFeed: 400])
            let harness = try ShellHarness(.full, on: broker)
            let lives = MachineShellTests.newLives("all", count: 3)
            let lines = LogLines()
            let shell = harness.startShell("one", log: lines.log)
            for live in lives { try harness.sendText(String(repeating: "t", count: 1000), in: live) }
            try harness.flush()
            #expect(shell.waitUntilNotLive(timeout: .seconds(40)))
            let deadLetters = try harness.readRecords(of: .deadLetters, in: nil, timeout: .seconds(1)) { !$0.isEmpty }
            #expect(deadLetters.isEmpty)
            // The shell tries again and again to commit the batch, and each attempt aborts one transaction. The pauses
            // between attempts grow up to a second, so there are not many more than 40 attempts in 40 s.
            let abortedTransactions = shell.metrics.counter(
                MetricNames.Shell.transactions, help: "", labels: ["machine": "barrage", "outcome": "aborted"]
            ).value
            #expect((1...60).contains(abortedTransactions))
            _ = shell.stop()
        }
    }

    /// The code of a reply that is a failure; nil for any other reply.
    private static func failureCode(_ reply: Reply) -> ReplyCode? {
        if case .failure(let error) = reply.outcome { error.code } else { nil }
    }
}
