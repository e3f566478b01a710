// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel

/// Appends batches, the output of a machine, to a public topic without a transaction (docs/decisions/0007).
///
/// An appended batch costs the broker one request and one write; a transaction costs about ten requests and eight
/// writes. A batch is written to the feed partition with the same number as the inbox partition. When the outcome of a
/// write is unknown, the shell's session ends; the next session reads back which records were written.
///
/// All records of a batch are in one request, so the broker stores all or none of them. With two requests, the broker
/// could reject the first one and store the second one, because it accepts any sequence number of a producer that has
/// not yet written to the partition. The second request would then commit a batch whose first records are missing.
final class AppendWriter {
    /// The maximum size in bytes of a batch that certainly fits into one request.
    ///
    /// The number is below the services' `batch.size` (`PlazaTopic.maxMessageBytes`), because the format of a request
    /// also needs space.
    private static let maxBatchBytes = 900_000
    /// An upper bound for the bytes that the record format and the header of the epoch add to a record.
    private static let recordOverheadBytes = 100
    /// An upper bound for the bytes that the record format adds to each other header of a record.
    private static let headerOverheadBytes = 10

    /// The records of a batch that belong to one partition.
    struct PartitionBatch {
        var partition: Int32
        var records: [OutgoingRecord]
        /// The epoch of the partition's owner, written into each record.
        var epoch: Int64
        /// The commit, written into the last record.
        var commit: BatchHeader.Commit

        /// Whether one request is enough; a larger batch must be written in a transaction.
        var fitsOneRequest: Bool {
            let commitBytes =
                self.commit.metadata.utf8.count + self.commit.rows.count + AppendWriter.recordOverheadBytes
            let bytes = self.records.reduce(commitBytes) { sum, record in
                sum + record.bytes + AppendWriter.recordOverheadBytes
                    + record.headers.count * AppendWriter.headerOverheadBytes
            }
            return bytes <= AppendWriter.maxBatchBytes
        }
    }

    let topic: PlazaTopic
    private let producer: KafkaProducer
    private let reports = Locked(DeliveryReports())
    /// How long an append may take until all its batches are durable; called for each append.
    private let timeout: @Sendable () -> Duration

    /// The delivery reports of the append in progress.
    private struct DeliveryReports {
        var error: KafkaError?
        var rejectedRecords = RejectedRecords()
        /// The last offset that was written to each partition.
        var lastOffsets: [Int32: Int64] = [:]
    }

    /// When the append in progress began; nil between appends.
    private let beganAt = Locked<MonotonicTime?>(nil)

    init(
        _ settings: KafkaSettings, topic: PlazaTopic, timeout: @escaping @Sendable () -> Duration,
        machine: String, metrics: KafkaClientMetrics
    ) throws(KafkaError) {
        let reports = self.reports
        let failures = metrics.failures(of: "\(machine)-append")
        self.topic = topic
        self.timeout = timeout
        var settings = settings
        // The flush at the end of `append` sends all records in one request. Without a flush, the producer would send
        // them only after 10 s, or when there are a million.
        settings.overrides["linger.ms"] = "10000"
        settings.overrides["batch.num.messages"] = "1000000"
        // When a request fails permanently, the producer must not write to the partition again.
        settings.overrides["enable.gapless.guarantee"] = "true"
        self.producer = try KafkaProducer(settings) { delivery in
            if delivery.error != nil { failures.add() }
            reports.withLock { reports in
                reports.lastOffsets[delivery.partition] = max(
                    reports.lastOffsets[delivery.partition] ?? 0, delivery.offset)
                if let error = delivery.error { reports.error = error }
                reports.rejectedRecords.add(delivery)
            }
        }
        metrics.exportQueueDepth(of: self.producer, as: "\(machine)-append")
        metrics.exportAppendWait(of: machine) { [beganAt] in
            beganAt.withLock { $0 }.map { MonotonicClock.now - $0 } ?? Milliseconds(0)
        }
    }

    /// The error that made the producer unusable; nil if there is none.
    var fatalError: KafkaError? { self.producer.fatalError }

    /// Loads the topic's metadata; without it the first record is delayed by up to a second.
    ///
    /// - Throws: `KafkaError` when the broker does not answer within 5 s.
    func warmUp() throws(KafkaError) {
        try self.producer.loadTopicMetadata(self.topic.rawValue, timeout: .seconds(5))
    }

    /// Makes the record with which a new owner claims a partition; the caller writes it in a transaction.
    ///
    /// Readers ignore all records that earlier owners append after this record.
    func claimRecord(_ partition: Int32, epoch: Int64) -> OutgoingRecord {
        OutgoingRecord(
            topic: self.topic.rawValue, partition: partition, value: nil, headers: BatchHeader(epoch: epoch).headers)
    }

    /// Appends one batch to each partition, and waits until all batches are durable.
    ///
    /// - Parameter batches: batches for which `fitsOneRequest` is true.
    /// - Returns: the last offset that was written to each partition.
    /// - Throws: a fatal error after any failure, because it is then unknown which records were written. If a record
    ///   was rejected, the error is the reason (`RejectedRecords.reason`); otherwise it is `unanswered`. The next
    ///   session begins with a transaction, in which the shell finds the input of a rejected record.
    func append(_ batches: consuming [PartitionBatch]) throws(KafkaError) -> [Int32: Int64] {
        self.beganAt.withLock { $0 = MonotonicClock.now }
        defer { self.beganAt.withLock { $0 = nil } }
        do throws(KafkaError) {
            self.reports.withLock { $0 = DeliveryReports() }
            for var batch in batches {
                let lastRecordHeaders = BatchHeader(epoch: batch.epoch, commit: batch.commit).headers
                let otherRecordHeaders = BatchHeader(epoch: batch.epoch).headers
                if batch.records.isEmpty {
                    // The commit is in a record's headers, so a batch without effects has one record without a value.
                    batch.records = [OutgoingRecord(topic: self.topic.rawValue, partition: batch.partition, value: nil)]
                }
                for index in batch.records.indices {
                    let isLast = index == batch.records.indices.last
                    batch.records[index].headers += isLast ? lastRecordHeaders : otherRecordHeaders
                    try self.producer.send(batch.records[index])
                }
            }
            try self.producer.flush(timeout: self.timeout())
            let reports = self.reports.withLock { $0 }
            if let error = reports.error { throw error }
            return reports.lastOffsets
        } catch {
            // The delivery reports are more specific than `error`, which may be only the timeout of the flush.
            let rejection = self.reports.withLock { $0.rejectedRecords.reason } ?? (error.isRejection ? error : nil)
            if var rejection {
                rejection.isFatal = true
                throw rejection
            }
            throw KafkaError(
                .unanswered, "A batch may have been appended in part: \(error.description)", codeName: error.codeName,
                isFatal: true)
        }
    }

    /// Closes the producer; waits up to 500 ms for records in flight.
    func close() { self.producer.close(timeout: .milliseconds(500)) }
}
