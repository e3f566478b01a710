// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import PlazaModel
import ServiceShell
import TestSupport
import Testing

@testable import Gateway

/// The offset at which a starting gateway begins to read a feed partition: the offset of the first record that is
/// younger than 60 s.
@Suite(.serialized, .timeLimit(.minutes(2))) struct RecentOffsetTests {
    /// A record that was written at `milliseconds` since 1970.
    private static func record(at milliseconds: Int64, offset: Int64) -> IncomingRecord {
        IncomingRecord(
            topic: PlazaTopic.roomFeed.rawValue, partition: 0, offset: offset,
            timestamp: Timestamp(milliseconds: milliseconds), key: nil,
            value: nil, headers: [])
    }

    /// Each argument is by how many milliseconds the gateway's clock is ahead of the record's time.
    @Test(arguments: [-80_000, -10_000, 0, 10_000, 80_000, 3_600_000] as [Int64])
    func `I8 every item from the start offset on is included, whatever the gateway's clock says`(
        clockOffset: Int64
    ) {
        var recent = RecentOffsetFinder(span: .seconds(60), mode: .full)
        let recordTime: Int64 = 1_000_000_000
        recent.wallClock = { WallTime(milliseconds: recordTime + clockOffset) }
        let startOffset: Int64 = 7
        #expect(recent.includes(Self.record(at: recordTime, offset: 7), from: startOffset))
        #expect(!recent.includes(Self.record(at: recordTime, offset: 6), from: startOffset))
    }

    /// Each argument is by how many milliseconds the gateway's clock is ahead of the right time.
    @Test(
        .enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"), arguments: [-3_600_000, 70_000, 3_600_000] as [Int64])
    func `a wrong clock changes how many old records are read, but every new record is read`(clockOffset: Int64)
        async throws
    {
        try await runOnDedicatedThread {
            let kafka = try RealKafka.shared()
            let settings = KafkaSettings(brokers: kafka.bootstrap, clientID: "recent-offset") { _, _, _ in }
            let producer = try KafkaProducer(settings)
            defer { producer.close(timeout: .seconds(1)) }
            let topic = try kafka.makeTopic("recent")
            for _ in 0..<5 { try producer.send(OutgoingRecord(topic: topic, partition: 0, value: [1])) }
            try producer.flush(timeout: .seconds(10))
            let consumer = try KafkaConsumer(settings)
            defer { consumer.close() }
            var recent = RecentOffsetFinder(span: .seconds(60), mode: .full)
            let now = recent.wallClock()
            recent.wallClock = { now + Milliseconds(clockOffset) }
            let feedPartition = TopicPartition(topic, 0)
            let end = try consumer.endOffset(of: feedPartition, timeout: .seconds(5))
            let startOffset = try recent.find(consumer, feedPartition)
            // If the clock is more than 60 s ahead, all five records seem too old. Then the gateway begins to read at
            // the partition's end, so every new record is read. Otherwise it begins at the first of the five records.
            #expect(startOffset == (clockOffset > 60_000 ? end : end - 5))
        }
    }
}
