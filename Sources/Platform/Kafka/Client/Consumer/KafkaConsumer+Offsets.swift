// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import MachineKit

/// Queries offsets, and commits offsets without a transaction.
///
/// All calls block the consumer's thread.
extension KafkaConsumer {
    /// Queries the committed offset of each partition; the result is nil where the group has committed none.
    ///
    /// - Throws: `timedOut` without a response in time; the call may be repeated. With the isolation level `committed`
    ///   the call also times out while a transaction with new offsets is open.
    package func committedOffsets(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError)
        -> [TopicPartition: OffsetAndMetadata?]
    {
        guard !partitions.isEmpty else { return [:] }
        let list = PartitionList(partitions)
        try self.client.readCommitted(list, timeout: timeout)
        var committed: [TopicPartition: OffsetAndMetadata?] = [:]
        for entry in list.entries {
            let offset = entry.offset >= 0 ? OffsetAndMetadata(offset: entry.offset, metadata: entry.metadata) : nil
            // Assigning nil by subscript would remove the entry.
            committed.updateValue(offset, forKey: entry.partition)
        }
        return committed
    }

    /// Commits offsets without a transaction and waits for the broker's response.
    ///
    /// - Throws: the error of the first partition whose offset was not committed; `closed` after `close`.
    package func commit(_ offsets: [TopicPartition: OffsetAndMetadata]) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.commit(list)
    }

    /// Queries the oldest offset of a partition.
    ///
    /// - Throws: the same errors as `offsets(forTimes:timeout:)`.
    package func beginningOffset(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Int64 {
        try self.offset(LogicalOffset.beginning, of: partition, timeout: timeout)
    }

    /// Queries the offset after a partition's newest record.
    ///
    /// With the isolation level `committed` it is the offset of the first open transaction, if there is one.
    ///
    /// - Throws: the same errors as `offsets(forTimes:timeout:)`.
    package func endOffset(of partition: TopicPartition, timeout: Duration) throws(KafkaError) -> Int64 {
        try self.offset(LogicalOffset.end, of: partition, timeout: timeout)
    }

    /// Queries the end offsets of several partitions, with one request to each leader.
    ///
    /// - Returns: the same offsets as `endOffset(of:timeout:)`.
    /// - Throws: the same errors as `offsets(forTimes:timeout:)`.
    package func endOffsets(
        of partitions: [TopicPartition], timeout: Duration
    ) throws(KafkaError) -> [TopicPartition: Int64] {
        guard !partitions.isEmpty else { return [:] }
        let times = Dictionary(partitions.map { ($0, LogicalOffset.end) }, uniquingKeysWith: { first, _ in first })
        let endOffsets = try self.queryOffsets(times, timeout: timeout)
        for partition in times.keys where (endOffsets[partition] ?? -1) < 0 {
            throw KafkaError(.retriable, "The broker returned no offset of \(partition).", isRetriable: true)
        }
        return endOffsets
    }

    /// Queries the first offset or the end offset of a partition with a query by time, in which a `LogicalOffset`
    /// replaces the time.
    ///
    /// librdkafka's own query for these two offsets is not used. Before version 2.3 it ignores its timeout, and never
    /// returns while the last known leader is unreachable.
    private func offset(
        _ logicalOffset: Int64, of partition: TopicPartition, timeout: Duration
    ) throws(KafkaError) -> Int64 {
        let offsets = try self.queryOffsets([partition: logicalOffset], timeout: timeout)
        guard let offset = offsets[partition], offset >= 0 else {
            throw KafkaError(.retriable, "The broker returned no offset of \(partition).", isRetriable: true)
        }
        return offset
    }

    /// Queries, for each partition, the first offset whose timestamp is at or after the given time.
    ///
    /// A client with old metadata would query a former leader, and wait until that broker is back. Therefore each
    /// attempt has a short timeout, and the metadata are refreshed before the next attempt.
    ///
    /// - Returns: the offsets; `LogicalOffset.end` where no record has such a timestamp.
    /// - Throws: `timedOut` or `brokerDown` if no leader responded in time, or `unknownTopic`.
    package func offsets(forTimes times: [TopicPartition: Timestamp], timeout: Duration) throws(KafkaError)
        -> [TopicPartition: Int64]
    {
        // A negative number would be a `LogicalOffset`.
        try self.queryOffsets(times.mapValues { max(0, $0.milliseconds) }, timeout: timeout)
    }

    /// Queries the first offset at or after a time in milliseconds since 1970, or at a `LogicalOffset`.
    private func queryOffsets(_ times: [TopicPartition: Int64], timeout: Duration) throws(KafkaError)
        -> [TopicPartition: Int64]
    {
        guard !times.isEmpty else { return [:] }
        let client = try self.client
        let deadline = Deadline(after: timeout)
        var attemptTimeout = Self.firstAttemptTimeout
        while true {
            let remaining = deadline.remaining
            let list = PartitionList(times)
            do {
                try client.readOffsetsForTimes(list, timeout: min(remaining, attemptTimeout))
                let pairs = list.entries.map { ($0.partition, $0.offset) }
                return Dictionary(pairs, uniquingKeysWith: { first, _ in first })
            } catch {
                guard error.isRetriable, remaining > Self.retryPause else { throw error }
            }
            // Without the limit, the doubled timeout would overflow after some 60 attempts that are rejected at once.
            attemptTimeout = min(attemptTimeout * 2, timeout)
            DedicatedThread.sleep(for: Self.retryPause)
            for topic in Set(times.keys.map(\.topic)) {
                _ = try? client.clusterInfo(topic: topic, timeout: attemptTimeout)
            }
        }
    }

    /// The timeout of the first attempt of `offsets(forTimes:timeout:)`; each further attempt has twice the timeout, up
    /// to the whole timeout.
    private static let firstAttemptTimeout: Duration = .milliseconds(150)
    /// The pause between two attempts.
    private static let retryPause: Duration = .milliseconds(20)

    /// The consumer's current group membership, for `KafkaProducer.sendOffsets`.
    package func groupMetadata() -> GroupMetadata? { (try? self.client)?.groupMetadata }

    /// Loads a topic's metadata.
    ///
    /// With loaded metadata a first assignment takes 50 ms instead of up to 1 s.
    ///
    /// - Returns: the number of partitions.
    /// - Throws: `unknownTopic` if the topic does not exist; `timedOut` or `brokerDown` if no broker responds in time.
    package func loadTopicMetadata(_ topic: String, timeout: Duration) throws(KafkaError) -> Int {
        let info = try self.client.clusterInfo(topic: topic, timeout: timeout)
        guard let count = info.topics[topic] else { throw KafkaError(.unknownTopic, "No topic \(topic).") }
        return count
    }
}
