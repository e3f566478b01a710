// SPDX-License-Identifier: Apache-2.0
import MachineKit
import Testing

@testable import KafkaClient
@testable import ServiceShell

/// Tests of `ReadWatch`, which decides whether the reader of a topic is stalled.
///
/// A reader is stalled after ten seconds in which it has made no progress although records are unread and the broker
/// answers. To find unread records, the watch queries the end offsets of quiet partitions every ten seconds. All times
/// are in seconds.
@Suite struct ReadWatchTests {
    private static let partition = TopicPartition("rooms", 1)
    private static let otherPartition = TopicPartition("rooms", 2)
    private static let unreachable = KafkaError(.timedOut, "no answer", isRetriable: true)

    /// The end offset of each partition while all records, at the offsets 0 to 4, are read.
    private static let endOfReadRecords: Int64 = 5
    /// The end offset of each partition while the record at the offset 5 is unread.
    private static let endWithUnreadRecord: Int64 = 6

    private static func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(milliseconds: seconds * 1000) }

    private static func record(_ offset: Int64) -> IncomingRecord {
        let partition = Self.partition
        return IncomingRecord(
            topic: partition.topic, partition: partition.partition, offset: offset,
            timestamp: Timestamp(milliseconds: 0), key: nil, value: nil)
    }

    /// The outcome of a poll that has read no records and has reached these ends of partitions.
    private static func pollReaching(_ ends: [TopicPartition: Int64]) -> PollOutcome {
        var outcome = PollOutcome()
        outcome.reachedEnds = ends
        return outcome
    }

    /// The outcome of a poll with a read error in each of these partitions.
    private static func pollFailing(in partitions: TopicPartition...) -> PollOutcome {
        var outcome = PollOutcome()
        for partition in partitions { outcome.partitionErrors[partition] = KafkaError(.other, "not readable") }
        return outcome
    }

    /// A watch whose two partitions were read to `endOfReadRecords` in second 0.
    private static func makeCaughtUpWatch() -> ReadWatch {
        var watch = ReadWatch(at: Self.at(0))
        watch.turnBegan(at: Self.at(0))
        let offsets = [Self.partition: LogicalOffset.beginning, Self.otherPartition: LogicalOffset.beginning]
        watch.partitionsAssigned(offsets, at: Self.at(0))
        let ends = [Self.partition: Self.endOfReadRecords, Self.otherPartition: Self.endOfReadRecords]
        watch.polled([], Self.pollReaching(ends), at: Self.at(0))
        return watch
    }

    /// Answers the queries that the watch makes in these seconds: each partition has this end.
    private static func answerQueries(of watch: inout ReadWatch, in seconds: ClosedRange<Int64>, end: Int64) {
        for second in seconds {
            let partitions = watch.takePartitionsToCheck(at: Self.at(second))
            guard !partitions.isEmpty else { continue }
            let ends = partitions.map { ($0, end) }
            watch.endsReceived(Dictionary(uniqueKeysWithValues: ends), at: Self.at(second))
        }
    }

    /// Lets the queries that the watch makes in these seconds fail, because the broker is unreachable.
    private static func failQueries(of watch: inout ReadWatch, in seconds: ClosedRange<Int64>) {
        for second in seconds {
            let partitions = watch.takePartitionsToCheck(at: Self.at(second))
            guard !partitions.isEmpty else { continue }
            watch.checkFailed(Self.unreachable, of: partitions, at: Self.at(second))
        }
    }

    @Test func `a reader that cannot read further records is stalled after ten seconds, until it reads one`() {
        var watch = Self.makeCaughtUpWatch()
        // The read fails in second 20, and ten seconds later the reader is stalled.
        watch.polled([], Self.pollFailing(in: Self.partition), at: Self.at(20))
        Self.answerQueries(of: &watch, in: 20...29, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(29)) == .reading)
        Self.answerQueries(of: &watch, in: 30...30, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(30)) == .stalled)
        #expect(watch.waitingTime(at: Self.at(30)) >= .seconds(10))
        watch.polled([Self.record(5)], PollOutcome(), at: Self.at(31))
        #expect(watch.state(at: Self.at(31)) == .reading)
        #expect(watch.waitingTime(at: Self.at(31)) == Milliseconds(0))
    }

    @Test func `a reader whose reads fail is not stalled if no record is unread`() {
        var watch = Self.makeCaughtUpWatch()
        for second: Int64 in 1...60 {
            watch.polled([], Self.pollFailing(in: Self.partition, Self.otherPartition), at: Self.at(second))
            Self.answerQueries(of: &watch, in: second...second, end: Self.endOfReadRecords)
            #expect(watch.state(at: Self.at(second)) == .reading)
        }
    }

    @Test func `a reader whose read is never answered and reports no error is stalled within thirty seconds`() {
        var watch = Self.makeCaughtUpWatch()
        // Every ten seconds the watch queries the ends of the partitions from which nothing was read since the last
        // query. In second 10 there are none, because both were read in second 0. The query in second 20 shows that
        // there are more records. Ten seconds later the reader is stalled.
        Self.answerQueries(of: &watch, in: 1...29, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(29)) == .reading)
        Self.answerQueries(of: &watch, in: 30...30, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(30)) == .stalled)
    }

    @Test func `a reader of an unreachable broker is not stalled, and has ten seconds again when the broker is back`() {
        var watch = Self.makeCaughtUpWatch()
        var outage = PollOutcome()
        outage.errors = [KafkaError(.brokerDown, "all brokers are down", isRetriable: true)]
        watch.polled([], outage, at: Self.at(20))
        Self.failQueries(of: &watch, in: 20...90)
        #expect(watch.state(at: Self.at(90)) == .waitingForBroker)
        #expect(watch.reachableSince >= Self.at(80), "expected the time of the last failed query")
        // The broker is back and has records that are not read. It answers the next query, in second 100.
        Self.answerQueries(of: &watch, in: 91...109, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(109)) == .reading)
        Self.answerQueries(of: &watch, in: 110...110, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(110)) == .stalled)
    }

    @Test func `a reader that catches up is not stalled until it has read nothing for ten seconds`() {
        var watch = ReadWatch(at: Self.at(0))
        watch.turnBegan(at: Self.at(0))
        watch.partitionsAssigned([Self.partition: LogicalOffset.beginning], at: Self.at(0))
        // The partition has 1000 records. In each second one is read, until second 60.
        for second: Int64 in 1...60 {
            watch.polled([Self.record(second)], PollOutcome(), at: Self.at(second))
            Self.answerQueries(of: &watch, in: second...second, end: 1000)
            #expect(watch.state(at: Self.at(second)) == .reading)
        }
        Self.answerQueries(of: &watch, in: 61...69, end: 1000)
        #expect(watch.state(at: Self.at(69)) == .reading)
        Self.answerQueries(of: &watch, in: 70...70, end: 1000)
        #expect(watch.state(at: Self.at(70)) == .stalled)
    }

    @Test func `a reader that loads one partition while another waits is not stalled until it reads neither`() {
        var watch = ReadWatch(at: Self.at(0))
        watch.turnBegan(at: Self.at(0))
        let offsets = [Self.partition: LogicalOffset.beginning, Self.otherPartition: LogicalOffset.beginning]
        watch.partitionsAssigned(offsets, at: Self.at(0))
        // Until second 30 a record of one partition is read in each second, and nothing of the other.
        for second: Int64 in 1...30 {
            watch.polled([Self.record(second)], PollOutcome(), at: Self.at(second))
            Self.answerQueries(of: &watch, in: second...second, end: 1000)
            #expect(watch.state(at: Self.at(second)) == .reading)
            #expect(!watch.mustReplaceConsumer(at: Self.at(second)))
        }
        Self.answerQueries(of: &watch, in: 31...40, end: 1000)
        #expect(watch.state(at: Self.at(40)) == .stalled)
    }

    @Test func `a reader of a process that was stopped and continued has ten seconds again`() {
        var watch = Self.makeCaughtUpWatch()
        watch.turnBegan(at: Self.at(20))
        watch.polled([], Self.pollFailing(in: Self.partition), at: Self.at(20))
        // The process was stopped from second 20 to second 95, so the reader's loop had no turn for 75 s.
        watch.turnBegan(at: Self.at(95))
        Self.answerQueries(of: &watch, in: 95...104, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(104)) == .reading)
        Self.answerQueries(of: &watch, in: 105...105, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(105)) == .stalled)
    }

    @Test func `a stalled reader's consumer is replaced every ten seconds, and the stall ends when a record is read`() {
        var watch = Self.makeCaughtUpWatch()
        watch.polled([], Self.pollFailing(in: Self.partition), at: Self.at(20))
        Self.answerQueries(of: &watch, in: 20...30, end: Self.endWithUnreadRecord)
        #expect(watch.mustReplaceConsumer(at: Self.at(30)))
        watch.consumerFailed(KafkaError(.other, "nothing was read"), at: Self.at(30))
        // The new consumer begins in second 31, so it is replaced in second 41.
        watch.turnBegan(at: Self.at(31))
        watch.partitionsAssigned([Self.partition: LogicalOffset.beginning], at: Self.at(31))
        Self.answerQueries(of: &watch, in: 31...40, end: Self.endWithUnreadRecord)
        #expect(watch.state(at: Self.at(40)) == .stalled)
        #expect(!watch.mustReplaceConsumer(at: Self.at(40)))
        Self.answerQueries(of: &watch, in: 41...41, end: Self.endWithUnreadRecord)
        #expect(watch.mustReplaceConsumer(at: Self.at(41)))
        watch.polled([Self.record(5)], Self.pollReaching([Self.partition: 6]), at: Self.at(42))
        #expect(watch.state(at: Self.at(42)) == .reading)
    }

    @Test func `a reader that cannot set up a consumer waits for the broker, or is stalled if the broker answers`() {
        var watch = ReadWatch(at: Self.at(0))
        for second: Int64 in 0...20 { watch.consumerFailed(Self.unreachable, at: Self.at(second)) }
        #expect(watch.state(at: Self.at(9)) == .reading, "less than ten seconds after the first failure")
        #expect(watch.state(at: Self.at(20)) == .waitingForBroker)
        #expect(watch.reachableSince == Self.at(20))
        // The broker answers from second 21 on, so the ten seconds begin again.
        for second: Int64 in 21...31 {
            watch.consumerFailed(KafkaError(.unknownTopic, "no topic"), at: Self.at(second))
        }
        #expect(watch.state(at: Self.at(31)) == .stalled)
        // The first turn of a new consumer.
        watch.turnBegan(at: Self.at(32))
        #expect(watch.state(at: Self.at(32)) == .reading)
    }

    @Test func `a reader without permission is not stalled, because a new process could not read either`() {
        var watch = Self.makeCaughtUpWatch()
        watch.polled([], Self.pollFailing(in: Self.partition), at: Self.at(20))
        let partitions = watch.takePartitionsToCheck(at: Self.at(30))
        #expect(partitions == [Self.partition])
        watch.checkFailed(KafkaError(.accessDenied, "not permitted"), of: partitions, at: Self.at(30))
        #expect(watch.state(at: Self.at(30)) == .waitingForBroker)
    }

    @Test func `a reader whose scans read nothing for ten seconds is stalled until the partition is forgotten`() {
        var watch = ReadWatch(at: Self.at(0))
        watch.turnBegan(at: Self.at(0))
        // A scan is the reading of one range of a partition. Five scans of three seconds each read nothing from the
        // offset 4 on, although the partition has records up to the offset 5.
        for second: Int64 in stride(from: 0, through: 12, by: 3) {
            watch.partitionsAssigned([Self.partition: 4], at: Self.at(second))
            Self.answerQueries(of: &watch, in: second...(second + 2), end: Self.endWithUnreadRecord)
            watch.scanEnded(in: Self.partition)
        }
        #expect(watch.state(at: Self.at(14)) == .stalled)
        watch.forgetUnassigned()
        #expect(watch.state(at: Self.at(14)) == .reading)
        // After a scan that has read something, the partition does not wait.
        watch.partitionsAssigned([Self.partition: 4], at: Self.at(20))
        watch.polled([Self.record(4)], PollOutcome(), at: Self.at(21))
        watch.scanEnded(in: Self.partition)
        #expect(watch.waitingTime(at: Self.at(40)) == Milliseconds(0))
    }

    @Test func `a partition whose scan read nothing is forgotten after three seconds without a request for it`() {
        var watch = ReadWatch(at: Self.at(0))
        watch.turnBegan(at: Self.at(0))
        watch.partitionsAssigned([Self.partition: 4], at: Self.at(0))
        watch.scanEnded(in: Self.partition)
        // The scan has ended, but while a request for a further scan is queued, the partition waits.
        for second: Int64 in 1...12 {
            watch.forgetWithoutScan(queuedPartitions: [Self.partition], at: Self.at(second))
            Self.answerQueries(of: &watch, in: second...second, end: Self.endWithUnreadRecord)
        }
        #expect(watch.state(at: Self.at(12)) == .stalled)
        // The last request was queued in second 12, and 12 + 3 = 15.
        for second: Int64 in 13...15 {
            // The reader continues with scans of another partition.
            watch.partitionsAssigned([Self.otherPartition: 4], at: Self.at(second))
            watch.polled([], Self.pollReaching([Self.otherPartition: 4]), at: Self.at(second))
            watch.scanEnded(in: Self.otherPartition)
            watch.forgetWithoutScan(queuedPartitions: [Self.otherPartition], at: Self.at(second))
        }
        #expect(watch.state(at: Self.at(15)) == .reading)
        #expect(watch.waitingTime(at: Self.at(30)) == Milliseconds(0))
    }

    @Test func `a partition that is no longer read does not wait`() {
        var watch = Self.makeCaughtUpWatch()
        watch.polled([], Self.pollFailing(in: Self.partition), at: Self.at(20))
        watch.partitionsUnassigned([Self.partition])
        #expect(watch.waitingTime(at: Self.at(30)) == Milliseconds(0))
        // A late error of the partition that is no longer read changes nothing.
        watch.polled([], Self.pollFailing(in: Self.partition), at: Self.at(31))
        #expect(watch.waitingTime(at: Self.at(50)) == Milliseconds(0))
    }
}
