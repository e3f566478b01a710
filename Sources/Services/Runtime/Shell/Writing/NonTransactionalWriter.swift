// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import PlazaModel

/// Writes batches to the in-memory broker without transactions: first the records, then the offset.
///
/// The in-memory broker does not fully support transactions. After a crash the inputs after the last committed offset
/// are decided again, so effects are written at least once.
///
/// The in-memory broker keeps only the last 5 MB of a partition and does not compact, so old values would be lost. The
/// writer therefore writes all values of a compacted partition again after every 2 MB.
final class NonTransactionalWriter: BatchWriter {
    /// The number of bytes written to a compacted partition after which all its values are written again.
    private static let rewriteBytes = 2 << 20
    private let producer: KafkaProducer
    /// The failed deliveries of the batch in progress.
    private let failures = Locked(Failures())
    private let stateTopic: PlazaTopic
    private var mirrors: [TopicPartition: Mirror] = [:]

    private struct Failures {
        /// The error of the last failed delivery; nil if there is none.
        var lastError: KafkaError?
        var rejectedRecords = RejectedRecords()
    }

    /// The last value of each key of a compacted partition.
    private struct Mirror {
        var values: [String: [UInt8]] = [:]
        /// The number of bytes written since all values were last written again.
        var bytesSinceRewrite = 0
    }

    init(_ settings: KafkaSettings, state: PlazaTopic) throws(KafkaError) {
        let failures = self.failures
        self.producer = try KafkaProducer(settings) { delivery in
            guard let error = delivery.error else { return }
            failures.withLock { failures in
                failures.lastError = error
                failures.rejectedRecords.add(delivery)
            }
        }
        self.stateTopic = state
    }

    var fatalError: KafkaError? { self.producer.fatalError }

    func prepare() {}

    func commit(_ batch: BatchOutput, group: GroupMetadata, consumer: KafkaConsumer) throws(KafkaError) {
        self.failures.withLock { $0 = Failures() }
        let records = batch.records(state: self.stateTopic)
        try self.producer.send(batch: records)
        for record in records { self.mirror(record) }
        try self.rewriteLargePartitions()
        try self.producer.flush(timeout: .seconds(5))
        let failures = self.failures.withLock { $0 }
        if let error = failures.rejectedRecords.reason ?? failures.lastError { throw error }
        try consumer.commit(batch.offsets)
    }

    func warmUp() throws(KafkaError) {
        for topic in PlazaTopic.allCases {
            try self.producer.loadTopicMetadata(topic.rawValue, timeout: .seconds(5))
        }
    }

    func restoreValue(_ topic: String, partition: Int32, key: String, value: [UInt8]?) {
        self.mirrors[TopicPartition(topic, partition), default: Mirror()].values[key] = value
    }

    func close() { self.producer.close(timeout: .milliseconds(500)) }

    /// Stores the record's value in `mirrors`, if the record's topic is compacted.
    private func mirror(_ record: OutgoingRecord) {
        guard PlazaTopic(rawValue: record.topic)?.retention == .compacted, let key = record.key else { return }
        let partition = TopicPartition(record.topic, record.partition)
        let bytes = key.count + (record.value?.count ?? 0)
        self.mirrors[partition, default: Mirror()].values[String(decoding: key, as: UTF8.self)] = record.value
        self.mirrors[partition]?.bytesSinceRewrite += bytes
    }

    /// Writes all values of a partition again if more than `rewriteBytes` were written to it since the last time.
    private func rewriteLargePartitions() throws(KafkaError) {
        for (partition, mirror) in self.mirrors where mirror.bytesSinceRewrite > Self.rewriteBytes {
            for (key, value) in mirror.values {
                try self.producer.send(
                    OutgoingRecord(
                        topic: partition.topic, partition: partition.partition, key: Array(key.utf8), value: value,
                        headers: []
                    ))
            }
            self.mirrors[partition]?.bytesSinceRewrite = 0
        }
    }
}
