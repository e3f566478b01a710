// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import Observability
internal import PlazaModel

/// Appends batches to the partition of a public topic that has the inbox partition's number (docs/decisions/0007).
///
/// One request and one write of the broker instead of a transaction's ten. What it cannot write for certain ends the
/// shell's life: the next one reads what came of it.
final class AppendWriter {
    /// What one partition's part of a batch appends.
    struct Part {
        var partition: Int32
        var records: [OutgoingRecord]
        var epoch: Int64
        var end: AppendMark.End
    }

    let topic: PlazaTopic
    private let producer: KafkaProducer
    private let fates = Locked(Fates())
    private let patience: @Sendable () -> Int

    private struct Fates {
        var error: KafkaError?
        var last: [Int32: Int64] = [:]
    }

    init(
        _ settings: KafkaSettings, topic: PlazaTopic, patienceMilliseconds: @escaping @Sendable () -> Int,
        machine: String, meter: KafkaMeter
    ) throws(KafkaError) {
        let fates = self.fates
        let failures = meter.failures(of: "\(machine)-append")
        self.topic = topic
        self.patience = patienceMilliseconds
        var settings = settings
        // A batch goes in several requests: one that fails for good must take those behind it with it.
        settings.overrides["enable.gapless.guarantee"] = "true"
        self.producer = try KafkaProducer(settings) { delivery in
            if delivery.error != nil { failures.add() }
            fates.withLock { fates in
                fates.last[delivery.partition] = max(fates.last[delivery.partition] ?? 0, delivery.offset)
                if let error = delivery.error { fates.error = error }
            }
        }
        meter.show(self.producer, as: "\(machine)-append")
    }

    /// Makes the client know the topic, which otherwise costs the first record up to a second.
    func warmUp() throws(KafkaError) {
        try self.producer.topicMetadata(self.topic.rawValue, timeoutMilliseconds: 5000)
    }

    /// What makes everything void that older owners append behind it; to be written in a transaction.
    func claim(_ partition: Int32, epoch: Int64) -> OutgoingRecord {
        OutgoingRecord(
            topic: self.topic.rawValue, partition: partition, value: nil, headers: AppendMark(epoch: epoch).headers)
    }

    /// Appends a batch and waits until it is durable.
    ///
    /// - Returns: the last offset written in each partition.
    /// - Throws: `fatal` when it is not certain what was written.
    func append(_ parts: consuming [Part]) throws(KafkaError) -> [Int32: Int64] {
        do throws(KafkaError) {
            self.fates.withLock { $0 = Fates() }
            for var part in parts {
                let last = AppendMark(epoch: part.epoch, end: part.end).headers
                let others = AppendMark(epoch: part.epoch).headers
                if part.records.isEmpty {
                    part.records = [OutgoingRecord(topic: self.topic.rawValue, partition: part.partition, value: nil)]
                }
                for index in part.records.indices {
                    part.records[index].headers += index == part.records.indices.last ? last : others
                    try self.producer.send(part.records[index])
                }
            }
            try self.producer.flush(timeoutMilliseconds: self.patience())
            let fates = self.fates.withLock { $0 }
            if let error = fates.error { throw error }
            return fates.last
        } catch {
            throw KafkaError(
                .fatal, "A batch may have been appended in part: \(error.description)", codeName: error.codeName,
                isFatal: true)
        }
    }

    func close() { self.producer.close(timeoutMilliseconds: 500) }
}
