// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
package import MachineKit
package import PlazaModel
package import ServiceShell

/// Which records of a topic are read.
package struct TopicScan: Sendable {
    package var topic: PlazaTopic
    /// The partitions to read; nil for all.
    package var partitions: [Int32]?
    /// The earliest time of a record; nil to begin with the topic's oldest record.
    package var from: Timestamp?
    /// Whether a record is returned; all others are dropped at once.
    package var keeps: @Sendable (IncomingRecord) -> Bool

    package init(
        _ topic: PlazaTopic, partitions: [Int32]? = nil, from: Timestamp?,
        keeps: @escaping @Sendable (IncomingRecord) -> Bool
    ) {
        self.topic = topic
        self.partitions = partitions
        self.from = from
        self.keeps = keeps
    }
}

/// Reads windows of topics without a consumer group, up to the ends that the partitions have when the scan begins.
///
/// All methods block their thread.
package final class TopicScanner {
    /// The maximum number of records that one scan reads.
    private let maxRecords: Int
    private let settings: KafkaSettings
    private let mode: KafkaMode
    private let consumer: KafkaConsumer

    /// How long a scan waits for the next record.
    private static let timeout: Milliseconds = .seconds(15)
    /// How many records before its end a partition is read on a broker that cannot look up times: the in-memory one.
    private static let recordsWithoutTimes: Int64 = 100_000

    /// Connects to the brokers.
    ///
    /// - Parameters:
    ///   - brokers: `host:port`, separated by commas.
    ///   - security: how connections to them are secured.
    ///   - mode: the broker's mode; feeds on the in-memory broker have no claims.
    ///   - maxRecords: the maximum number of records that one scan reads.
    /// - Throws: `timedOut` or `brokerDown` when no broker responds within 10 s; `authenticationFailed` or `tlsFailed`
    ///   when one refuses the connection.
    package init(brokers: String, security: KafkaSecurity, mode: KafkaMode, maxRecords: Int) throws(KafkaError) {
        self.settings = KafkaSettings(brokers: brokers, clientID: "plaza-inspect", security: security) { _, _, _ in }
        self.mode = mode
        self.maxRecords = maxRecords
        try KafkaAdmin(self.settings).waitUntilReachable(timeout: .seconds(10))
        self.consumer = try KafkaConsumer(self.settings, fetchWait: .milliseconds(20))
    }

    /// Closes the connections to the brokers.
    package func close() { self.consumer.close() }

    /// The number of partitions of each topic.
    package func partitions() throws(KafkaError) -> Int {
        try self.consumer.topicMetadata(PlazaTopic.barrageInbox.rawValue, timeout: .seconds(10))
    }

    /// Reads the records of a scan.
    ///
    /// - Parameters:
    ///   - scan: the topic, the partitions and the records to read.
    ///   - entries: the records that are kept are appended to it.
    /// - Returns: nil, or a sentence for people when the scan ended before the topic's end.
    /// - Throws: the broker's errors, and `unknownTopic`.
    package func read(_ scan: TopicScan, into entries: inout [TopicEntry]) throws(KafkaError) -> String? {
        let topic = scan.topic.rawValue
        let count = try self.consumer.topicMetadata(topic, timeout: .seconds(10))
        let numbers = scan.partitions ?? (0..<Int32(count)).map(\.self)
        var starts: [TopicPartition: Int64] = [:]
        var ends: [TopicPartition: Int64] = [:]
        var filters: [TopicPartition: BatchFilter] = [:]
        for number in numbers {
            let partition = TopicPartition(topic, number)
            let end = try self.consumer.end(of: partition, timeout: .seconds(10))
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

    private func poll(
        _ scan: TopicScan, ends: [TopicPartition: Int64], filters: [TopicPartition: BatchFilter],
        into entries: inout [TopicEntry]
    ) throws(KafkaError) -> String? {
        var (unread, filters) = (ends, filters)
        var count = 0
        var lastTime = scan.from ?? .distantPast
        var deadline = MonotonicClock.now + Self.timeout
        while !unread.isEmpty {
            guard MonotonicClock.now < deadline else {
                return
                    "\(scan.topic.rawValue) did not reach its end within \(Self.timeout.count / 1000) s without a record; "
                    + "later records are missing."
            }
            var records: [IncomingRecord] = []
            let outcome = try self.consumer.poll(max: 1000, timeout: .milliseconds(500), into: &records)
            if !records.isEmpty { deadline = MonotonicClock.now + Self.timeout }
            for record in records {
                count += 1
                lastTime = max(lastTime, Timestamp(milliseconds: record.timestamp))
                var valid: [IncomingRecord] = []
                if filters[record.topicPartition] != nil {
                    filters[record.topicPartition]?.accept(record, into: &valid)
                } else {
                    valid = [record]
                }
                for record in valid where Self.isInTime(record, scan) && scan.keeps(record) {
                    if let entry = TopicEntry(record) { entries.append(entry) }
                }
                if let end = unread[record.topicPartition], record.offset >= end - 1 {
                    unread[record.topicPartition] = nil
                }
            }
            for partition in outcome.ends.keys { unread[partition] = nil }
            if count >= self.maxRecords, !unread.isEmpty {
                return
                    "\(scan.topic.rawValue) was read up to \(ClockText.time(lastTime)) only, because it has more than "
                    + "\(self.maxRecords) records; later ones are missing. Give a shorter --last or a greater "
                    + "--max-records."
            }
        }
        return nil
    }

    private static func isInTime(_ record: IncomingRecord, _ scan: TopicScan) -> Bool {
        guard let from = scan.from else { return true }
        return record.timestamp >= from.milliseconds
    }

    /// The offset of the first record at or after a time; `end` or more if there is none.
    private func start(of partition: TopicPartition, from time: Timestamp?, end: Int64) throws(KafkaError) -> Int64 {
        let beginning = try self.consumer.beginning(of: partition, timeout: .seconds(10))
        guard let time else { return beginning }
        let offsets = try self.consumer.offsets(
            forTimes: [partition: max(0, time.milliseconds)], timeout: .seconds(10))
        if let offset = offsets[partition], offset >= 0 { return offset }
        // Kafka finds no offset if the partition has no record at or after the time, so there is nothing to read before
        // `end`. The in-memory broker cannot look up times at all, so its last records are read; those before the time
        // are dropped later.
        return self.mode == .full ? end : max(beginning, end - Self.recordsWithoutTimes)
    }

    /// The filter that recognises batches of former owners, and the offset of the first record that it must get.
    private func filter(of partition: Int32, from start: Int64) throws(KafkaError) -> (BatchFilter, Int64) {
        let checkpoints = try AppendedFeed.checkpointClient(self.settings, mode: self.mode)
        defer { checkpoints?.close() }
        let (filter, first) = try AppendedFeed.batchFilter(of: partition, from: start, checkpoints: checkpoints)
        return (filter, first)
    }
}
