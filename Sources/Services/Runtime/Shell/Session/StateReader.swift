// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import PlazaModel

/// Reads partitions from their beginning, or from an offset, to the end that each has when the read starts.
///
/// A partition may only be restored after the previous owner's open transaction has ended. Therefore there are two
/// consumers. One has the isolation level `uncommitted` and queries the ends. The other has the level `committed` and
/// reads the records; it cannot read past an open transaction, so it reaches the end only after the transaction. The
/// read is complete when this consumer reports the end of the partition. The last record's offset cannot show that the
/// read is complete, because the last entries of the partition may be aborted records and markers.
final class StateReader {
    private let committedReader: KafkaConsumer
    private let endReader: KafkaConsumer

    /// How long the broker may delay an empty fetch response.
    ///
    /// The end of a partition is reported by such a response, so each restore lasts this much longer. The consumers
    /// fetch nothing between restores.
    private static let fetchWait = Duration.milliseconds(5)
    /// The maximum number of records that one poll returns.
    private static let maxRecords = 5000
    /// The longest time that one poll waits for records.
    private static let maxPollTimeout = Milliseconds(500)

    /// Creates the two consumers.
    ///
    /// - Parameter settings: the brokers' addresses and the client id.
    /// - Throws: `invalidConfiguration`.
    init(_ settings: KafkaSettings) throws(KafkaError) {
        self.committedReader = try KafkaConsumer(settings, isolation: .committed, fetchWait: Self.fetchWait)
        self.endReader = try KafkaConsumer(settings, isolation: .uncommitted, fetchWait: Self.fetchWait)
    }

    /// Loads the topics' metadata; without it the first restore is delayed by up to a second.
    ///
    /// - Throws: `KafkaError` when the broker does not answer within 5 s.
    func warmUp(_ topics: [PlazaTopic]) throws(KafkaError) {
        for topic in topics {
            _ = try self.committedReader.loadTopicMetadata(topic.rawValue, timeout: .seconds(5))
            _ = try self.endReader.loadTopicMetadata(topic.rawValue, timeout: .seconds(5))
        }
    }

    /// Queries the ends of partitions, including records of open transactions.
    ///
    /// - Throws: `KafkaError` when the broker does not answer within 5 s.
    func ends(of partitions: [TopicPartition]) throws(KafkaError) -> [TopicPartition: Int64] {
        try self.endReader.endOffsets(of: partitions, timeout: .seconds(5))
    }

    /// Reads partitions completely.
    ///
    /// - Parameters:
    ///   - partitions: the partitions to read from their beginning.
    ///   - tails: further partitions, with the offset from which each is read.
    ///   - deadline: the time after which `timedOut` is thrown.
    ///   - recordRead: called with each record that was read; records of one partition are in order.
    /// - Throws: `timedOut` after the deadline, or any error of the client.
    func read(
        _ partitions: [TopicPartition], tails: [TopicPartition: Int64] = [:], deadline: MonotonicTime,
        recordRead: (IncomingRecord) -> Void
    ) throws(KafkaError) {
        // The ends of the partitions that have something to read.
        var unreadEnds: [TopicPartition: Int64] = [:]
        for (partition, end) in try self.ends(of: partitions + tails.keys) where end > tails[partition] ?? 0 {
            unreadEnds[partition] = end
        }
        guard !unreadEnds.isEmpty else { return }
        var starts: [TopicPartition: Int64] = [:]
        for partition in unreadEnds.keys { starts[partition] = tails[partition] ?? LogicalOffset.beginning }
        try self.committedReader.assign(starts)
        defer { try? self.committedReader.unassign() }
        var records: [IncomingRecord] = []
        while !unreadEnds.isEmpty {
            let remaining = deadline - MonotonicClock.now
            guard remaining > Milliseconds(0) else {
                throw KafkaError(.timedOut, "the state of \(unreadEnds.keys.sorted()) could not be read in time")
            }
            records.removeAll(keepingCapacity: true)
            let outcome = try self.committedReader.poll(
                max: Self.maxRecords, timeout: Duration(min(remaining, Self.maxPollTimeout)), into: &records)
            for record in records { recordRead(record) }
            for (partition, end) in outcome.reachedEnds {
                if let target = unreadEnds[partition], end >= target { unreadEnds[partition] = nil }
            }
        }
    }

    /// Closes both consumers.
    func close() {
        self.committedReader.close()
        self.endReader.close()
    }
}
