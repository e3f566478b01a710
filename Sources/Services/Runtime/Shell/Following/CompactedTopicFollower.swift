// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
internal import MachineKit
package import PlazaModel

/// Receives the records that a `CompactedTopicFollower` reads, to maintain the latest value of each key.
///
/// All methods are called on the follower's thread. The follower runs in turns: each turn polls once and passes on the
/// records of that poll.
package protocol CompactedTopicSubscriber: AnyObject {
    /// Returns further partitions that the same consumer must read, with the start offset of each.
    ///
    /// - Throws: an error of the consumer; the follower then reads all topics again with a new consumer.
    func additionalPartitions(_ consumer: KafkaConsumer) throws(KafkaError) -> [TopicPartition: Int64]

    /// Whether `topicsLoaded` is called only after this topic has been read to its end.
    func mustLoadFirst(topic: String) -> Bool

    /// Called before the poll of each turn.
    ///
    /// - Returns: how long this poll may wait for a record.
    func preparePoll() -> Duration

    /// Called for each record; records of one partition arrive in order.
    func recordReceived(_ record: IncomingRecord)

    /// Called once for each consumer, when all topics for which `mustLoadFirst` is true have been read to their ends.
    func topicsLoaded()

    /// Called at the end of each turn, after its records have been received.
    func turnFinished()

    /// Called after an error that makes the consumer unusable. A new consumer then reads all topics again.
    func readFailed(_ error: KafkaError)
}

extension CompactedTopicSubscriber {
    package func additionalPartitions(_ consumer: KafkaConsumer) throws(KafkaError) -> [TopicPartition: Int64] { [:] }
    package func mustLoadFirst(topic: String) -> Bool { true }
    package func preparePoll() -> Duration { .milliseconds(500) }
    package func turnFinished() {}
}

/// Reads all partitions of compacted topics from the beginning and continues with new records as they are appended.
package final class CompactedTopicFollower: Sendable {
    private let loop: ConsumerLoop
    private let topics: [PlazaTopic]
    private let partitions: Int
    private let maxRecords: Int

    /// Creates a follower; `run` starts reading.
    ///
    /// - Parameters:
    ///   - topics: the compacted topics.
    ///   - partitions: how many partitions each topic has.
    ///   - kafka: the brokers' addresses and the client id.
    ///   - fetchWait: how long a broker may delay an empty fetch response.
    ///   - maxRecords: the maximum number of records that one poll returns.
    package init(
        _ topics: [PlazaTopic], partitions: Int, kafka: KafkaSettings, fetchWait: Duration, maxRecords: Int
    ) {
        self.loop = ConsumerLoop(kafka, fetchWait: fetchWait)
        self.topics = topics
        self.partitions = partitions
        self.maxRecords = maxRecords
    }

    /// Whether a turn has begun within the last 30 s, or `recordProgress` was called.
    package var isTurning: Bool { self.loop.isTurning }

    /// The progress of reading, for health checks.
    package var status: ReadStatus { self.loop.status }

    /// Records that the follower is not hung; a subscriber calls this method during work that may take long.
    package func recordProgress() { self.loop.recordProgress() }

    /// Makes `run` return.
    ///
    /// May be called from any thread.
    package func stop() { self.loop.stop() }

    /// Reads on the calling thread until `stop` is called.
    package func run(_ subscriber: some CompactedTopicSubscriber) {
        self.loop.run { (consumer) throws(KafkaError) in
            try self.read(consumer, subscriber)
        } failed: { error in
            subscriber.readFailed(error)
        }
    }

    /// Reads all partitions with one consumer until the follower is stopped.
    ///
    /// - Throws: the error that makes the consumer unusable.
    private func read(_ consumer: KafkaConsumer, _ subscriber: some CompactedTopicSubscriber) throws(KafkaError) {
        let offsets = try self.startOffsets(consumer, subscriber)
        try consumer.assign(offsets)
        self.status.report { $0.partitionsAssigned(offsets, at: MonotonicClock.now) }
        // The partitions that must still be read to their ends before `topicsLoaded` is called.
        var unreadPartitions = Set(offsets.keys.filter { subscriber.mustLoadFirst(topic: $0.topic) })
        var records: [IncomingRecord] = []
        while self.loop.beginTurn() {
            records.removeAll(keepingCapacity: true)
            let outcome = try self.status.poll(
                consumer, max: self.maxRecords, timeout: subscriber.preparePoll(), into: &records)
            for record in records { subscriber.recordReceived(record) }
            if !unreadPartitions.isEmpty {
                unreadPartitions.subtract(outcome.reachedEnds.keys)
                if unreadPartitions.isEmpty { subscriber.topicsLoaded() }
            }
            subscriber.turnFinished()
        }
    }

    /// The partitions to read, with the offset at which each begins.
    private func startOffsets(
        _ consumer: KafkaConsumer, _ subscriber: some CompactedTopicSubscriber
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        // Without the topic's metadata the first fetch is delayed by up to a second.
        for topic in self.topics { _ = try consumer.loadTopicMetadata(topic.rawValue, timeout: .seconds(10)) }
        var offsets = try subscriber.additionalPartitions(consumer)
        for topic in self.topics {
            for number in 0..<Int32(self.partitions) {
                offsets[TopicPartition(topic.rawValue, number)] = LogicalOffset.beginning
            }
        }
        return offsets
    }
}
