// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// Questions to the brokers, and commits without a transaction. All block the consumer's thread.
extension KafkaConsumer {
    /// What the group committed for each partition; nil where it did nothing.
    ///
    /// - Throws: `timedOut`, for a consumer that reads committed also while a transaction with new offsets is open:
    ///   ask again.
    package func committed(_ partitions: [TopicPartition], timeoutMilliseconds: Int) throws(KafkaError)
        -> [TopicPartition: OffsetAndMetadata?]
    {
        guard !partitions.isEmpty else { return [:] }
        let list = PartitionList(partitions)
        try self.client.readCommitted(list, timeoutMilliseconds: timeoutMilliseconds)
        var committed: [TopicPartition: OffsetAndMetadata?] = [:]
        for entry in list.entries {
            let value = entry.offset >= 0 ? OffsetAndMetadata(offset: entry.offset, metadata: entry.metadata) : nil
            committed.updateValue(value, forKey: entry.partition)
        }
        return committed
    }

    /// Commits offsets without a transaction and waits for the answer; for brokers that keep none in transactions.
    package func commit(_ offsets: [TopicPartition: OffsetAndMetadata]) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.commit(list)
    }

    /// Asks for the oldest offset that a partition keeps.
    ///
    /// - Throws: as `offsets(forTimes:timeoutMilliseconds:)`.
    package func beginning(of partition: TopicPartition, timeoutMilliseconds: Int) throws(KafkaError) -> Int64 {
        try self.offset(LogicalOffset.beginning, of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Asks for the offset behind a partition's newest record; for a consumer that reads committed, before open
    /// transactions.
    ///
    /// - Throws: as `offsets(forTimes:timeoutMilliseconds:)`.
    package func end(of partition: TopicPartition, timeoutMilliseconds: Int) throws(KafkaError) -> Int64 {
        try self.offset(LogicalOffset.end, of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The protocol takes both ends of a partition for times.
    ///
    /// The client's own question for both ends goes on for ever while the partition's last known leader is away, whatever
    /// time it is given (librdkafka before 2.3).
    private func offset(
        _ logical: Int64, of partition: TopicPartition, timeoutMilliseconds: Int
    ) throws(KafkaError) -> Int64 {
        let found = try self.offsets(forTimes: [partition: logical], timeoutMilliseconds: timeoutMilliseconds)
        guard let offset = found[partition], offset >= 0 else {
            throw KafkaError(.retriable, "The broker named no offset of \(partition).", isRetriable: true)
        }
        return offset
    }

    /// For each partition the first offset whose time is at or after the given one, in milliseconds since 1970.
    ///
    /// A client that asks seldom knows the leader of before, and would ask it until it is back: so it asks again and
    /// again, each time after learning who leads now.
    ///
    /// - Returns: `LogicalOffset.end` where there is none.
    /// - Throws: `timedOut` or `brokerDown` when no leader answered in time, `unknownTopic`.
    package func offsets(forTimes times: [TopicPartition: Int64], timeoutMilliseconds: Int) throws(KafkaError)
        -> [TopicPartition: Int64]
    {
        guard !times.isEmpty else { return [:] }
        let client = try self.client
        let deadline = MonotonicClock.milliseconds + Int64(timeoutMilliseconds)
        var patience = Self.leaderPatience
        while true {
            let left = deadline - MonotonicClock.milliseconds
            let list = PartitionList(times)
            do {
                try client.readOffsetsForTimes(list, timeoutMilliseconds: Int(max(0, min(left, patience))))
                let pairs = list.entries.map { ($0.partition, $0.offset) }
                return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
            } catch {
                guard error.isRetriable, left > Self.leaderPause else { throw error }
            }
            patience *= 2
            PauseTimer.wait(milliseconds: Self.leaderPause)
            for topic in Set(times.keys.map(\.topic)) {
                _ = try? client.clusterInfo(topic: topic, timeoutMilliseconds: Int(patience))
            }
        }
    }

    /// How long one leader is asked at first before the client learns whether it is still one, twice as long each time,
    /// and the pause before it asks again.
    private static let leaderPatience: Int64 = 150
    private static let leaderPause: Int64 = 20

    /// Who this consumer is in its group now, for `KafkaProducer.sendOffsets`.
    package func groupMetadata() -> GroupMetadata? { (try? self.client)?.groupMetadata }

    /// Asks for a topic's number of partitions, and so makes the client know the topic: a first assignment takes 50 ms
    /// afterwards instead of up to 1 s.
    ///
    /// - Throws: `unknownTopic`, `timedOut`, `brokerDown`.
    package func topicMetadata(_ topic: String, timeoutMilliseconds: Int) throws(KafkaError) -> Int {
        let info = try self.client.clusterInfo(topic: topic, timeoutMilliseconds: timeoutMilliseconds)
        guard let count = info.topics[topic] else { throw KafkaError(.unknownTopic, "No topic \(topic).") }
        return count
    }
}
