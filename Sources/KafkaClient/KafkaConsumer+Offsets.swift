// SPDX-License-Identifier: Apache-2.0

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

    /// Asks for the ends of a partition; for a consumer that reads committed, `high` is before open transactions.
    package func watermarks(of partition: TopicPartition, timeoutMilliseconds: Int) throws(KafkaError) -> Watermarks {
        try self.client.watermarks(of: partition, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The ends of an assigned partition as the last fetch told them, without asking; nil before the first.
    package func cachedWatermarks(of partition: TopicPartition) -> Watermarks? {
        (try? self.client)?.cachedWatermarks(of: partition)
    }

    /// For each partition the first offset whose time is at or after the given one, in milliseconds since 1970.
    ///
    /// - Returns: `LogicalOffset.end` where there is none.
    package func offsets(forTimes times: [TopicPartition: Int64], timeoutMilliseconds: Int) throws(KafkaError)
        -> [TopicPartition: Int64]
    {
        guard !times.isEmpty else { return [:] }
        let list = PartitionList(times)
        try self.client.readOffsetsForTimes(list, timeoutMilliseconds: timeoutMilliseconds)
        return Dictionary(list.entries.map { ($0.partition, $0.offset) }, uniquingKeysWith: { first, _ in first })
    }

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
