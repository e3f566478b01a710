// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
package import MachineKit
package import PlazaModel
package import ServiceShell

/// Describes which records of a topic to read.
package struct TopicScan: Sendable {
    package var topic: PlazaTopic
    /// The partitions to read; nil for all.
    package var partitions: [Int32]?
    /// The time of the first records to return; nil to begin with the topic's oldest record.
    package var from: Timestamp?
    /// Whether a record is returned; the other records are read, but not stored.
    package var isIncluded: @Sendable (IncomingRecord) -> Bool

    package init(
        _ topic: PlazaTopic, partitions: [Int32]? = nil, from: Timestamp?,
        isIncluded: @escaping @Sendable (IncomingRecord) -> Bool
    ) {
        self.topic = topic
        self.partitions = partitions
        self.from = from
        self.isIncluded = isIncluded
    }
}

/// Reads parts of topics without a consumer group, up to the ends that the partitions have when the scan begins.
///
/// All methods block their thread.
package final class TopicScanner {
    /// The number of records after which a scan stops; it still returns those of its last poll.
    private let maxRecords: Int
    private let settings: KafkaSettings
    private let mode: KafkaMode
    private let consumer: KafkaConsumer

    /// How long a scan waits for the next record before it stops.
    private static let recordTimeout: Milliseconds = .seconds(15)
    /// How many of a partition's last records are read from the in-memory broker, which cannot look up times.
    private static let embeddedTailRecords: Int64 = 100_000

    /// Connects to the brokers.
    ///
    /// - Parameters:
    ///   - brokers: `host:port`, separated by commas.
    ///   - security: how the connections to the brokers are secured.
    ///   - mode: `full` for Kafka, `embedded` for the in-memory broker.
    ///   - maxRecords: the maximum number of records that one scan reads.
    /// - Throws: `timedOut` or `brokerDown` when no broker responds within 10 s; `authenticationFailed` or `tlsFailed`
    ///   when a broker refuses the connection.
    package init(brokers: String, security: KafkaSecurity, mode: KafkaMode, maxRecords: Int) throws(KafkaError) {
        // The closure drops the log lines of the Kafka client, because the caller gets the client's errors.
        self.settings = KafkaSettings(brokers: brokers, clientID: "plaza-inspect", security: security) { _, _, _ in }
        self.mode = mode
        self.maxRecords = maxRecords
        try KafkaAdmin(self.settings).waitUntilReachable(timeout: .seconds(10))
        self.consumer = try KafkaConsumer(self.settings, fetchWait: .milliseconds(20))
    }

    /// Closes the connections to the brokers.
    package func close() { self.consumer.close() }

    /// The number of partitions of each topic.
    ///
    /// - Throws: `unknownTopic` when the brokers have no topics of LivePlaza, or the broker's error.
    package func partitions() throws(KafkaError) -> Int {
        try self.consumer.loadTopicMetadata(PlazaTopic.barrageInbox.rawValue, timeout: .seconds(10))
    }

    /// Reads the records of a scan.
    ///
    /// - Parameters:
    ///   - scan: the topic, the partitions and the records to read.
    ///   - entries: the array to which the records are appended for which `isIncluded` is true.
    /// - Returns: a sentence for people when the scan stopped before the topic's end, otherwise nil.
    /// - Throws: `unknownTopic` when the topic does not exist, or the broker's error.
    package func read(_ scan: TopicScan, into entries: inout [TopicEntry]) throws(KafkaError) -> String? {
        let topic = scan.topic.rawValue
        let partitionCount = try self.consumer.loadTopicMetadata(topic, timeout: .seconds(10))
        let partitionNumbers = scan.partitions ?? (0..<Int32(partitionCount)).map(\.self)
        var starts: [TopicPartition: Int64] = [:]
        var ends: [TopicPartition: Int64] = [:]
        var filters: [TopicPartition: BatchFilter] = [:]
        for number in partitionNumbers {
            let partition = TopicPartition(topic, number)
            let end = try self.consumer.endOffset(of: partition, timeout: .seconds(10))
            let start = try self.start(of: partition, from: scan.from, end: end)
            guard start < end else { continue }
            ends[partition] = end
            starts[partition] = start
            if scan.topic == .roomFeed {
                let (filter, filteredStart) = try self.filter(of: number, from: start)
                filters[partition] = filter
                starts[partition] = filteredStart
            }
        }
        guard !ends.isEmpty else { return nil }
        try self.consumer.assign(starts)
        defer { try? self.consumer.unassign() }
        return try self.poll(scan, ends: ends, filters: filters, into: &entries)
    }

    /// Polls until the partitions' ends are reached, too many records were read, or no record arrives in time.
    private func poll(
        _ scan: TopicScan, ends: [TopicPartition: Int64], filters: [TopicPartition: BatchFilter],
        into entries: inout [TopicEntry]
    ) throws(KafkaError) -> String? {
        var (unreadEnds, filters) = (ends, filters)
        var readCount = 0
        var latestTime = scan.from ?? .distantPast
        var deadline = MonotonicClock.now + Self.recordTimeout
        while !unreadEnds.isEmpty {
            guard MonotonicClock.now < deadline else {
                return
                    "\(scan.topic.rawValue) did not reach its end within \(Self.recordTimeout.count / 1000) s without "
                    + "a record; later records are missing."
            }
            var records: [IncomingRecord] = []
            let outcome = try self.consumer.poll(max: 1000, timeout: .milliseconds(500), into: &records)
            if !records.isEmpty { deadline = MonotonicClock.now + Self.recordTimeout }
            for record in records {
                readCount += 1
                latestTime = max(latestTime, record.timestamp)
                // A batch filter drops incomplete batches, and batches that a former owner of the partition appended
                // too late. So it returns the records of a batch only when it gets the last one of them.
                var acceptedRecords: [IncomingRecord] = []
                if filters[record.topicPartition] != nil {
                    filters[record.topicPartition]?.accept(record, into: &acceptedRecords)
                } else {
                    acceptedRecords = [record]
                }
                for accepted in acceptedRecords where Self.isInTime(accepted, scan) && scan.isIncluded(accepted) {
                    if let entry = TopicEntry(accepted) { entries.append(entry) }
                }
                if let end = unreadEnds[record.topicPartition], record.offset >= end - 1 {
                    unreadEnds[record.topicPartition] = nil
                }
            }
            // A partition's last offset may have no record, for example after an aborted transaction.
            for partition in outcome.reachedEnds.keys { unreadEnds[partition] = nil }
            if readCount >= self.maxRecords, !unreadEnds.isEmpty {
                return
                    "\(scan.topic.rawValue) was read up to \(ClockText.time(latestTime)) only, because it has more "
                    + "than \(self.maxRecords) records; later ones are missing. Give a shorter --last or a greater "
                    + "--max-records."
            }
        }
        return nil
    }

    /// Whether a record is not older than the scan's earliest time.
    ///
    /// A scan may begin before that time: a batch filter needs earlier records, and the in-memory broker cannot look
    /// up times.
    private static func isInTime(_ record: IncomingRecord, _ scan: TopicScan) -> Bool {
        guard let from = scan.from else { return true }
        return record.timestamp >= from
    }

    /// The offset at which a scan of the partition begins.
    ///
    /// It is the offset of the first record at or after `time`, or of the partition's first record if `time` is nil. If
    /// there is no such record, it is `end` or more. The in-memory broker cannot look up times, so with this broker the
    /// scan begins `embeddedTailRecords` records before `end`, or with the partition's first record.
    private func start(of partition: TopicPartition, from time: Timestamp?, end: Int64) throws(KafkaError) -> Int64 {
        let beginning = try self.consumer.beginningOffset(of: partition, timeout: .seconds(10))
        guard let time else { return beginning }
        let offsets = try self.consumer.offsets(
            forTimes: [partition: time], timeout: .seconds(10))
        if let offset = offsets[partition], offset >= 0 { return offset }
        switch self.mode {
        // The partition has no record at or after the time, so there is nothing to read.
        case .full: return end
        // The in-memory broker cannot look up times. So its last records are read, and `isInTime` drops the older ones.
        case .embedded: return max(beginning, end - Self.embeddedTailRecords)
        }
    }

    /// The filter that drops batches of former owners, and the first offset that the filter must get.
    ///
    /// That offset is `start` or an earlier one; the filter must get all records from there on.
    private func filter(
        of partition: Int32, from start: Int64
    ) throws(KafkaError) -> (filter: BatchFilter, firstOffset: Int64) {
        let checkpointClient = try AppendedFeed.makeCheckpointClient(self.settings, mode: self.mode)
        defer { checkpointClient?.close() }
        let (filter, firstOffset) = try AppendedFeed.batchFilter(
            of: partition, from: start, checkpointClient: checkpointClient)
        return (filter, firstOffset)
    }
}
