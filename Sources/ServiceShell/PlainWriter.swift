// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import PlazaModel

/// Writes batches to the in-memory broker, which has no transactions worth the name: records first, then the offset.
///
/// After a crash the input since the last offset is decided again: at least once. That broker also keeps only the last
/// 5 MB of a partition and compacts nothing, so every 2 MB all live keys of a compacted topic are written anew.
final class PlainWriter: BatchWriter {
    private static let rewriteBytes = 2 << 20
    private let producer: KafkaProducer
    private let failures = Locked<KafkaError?>(nil)
    private let state: PlazaTopic
    private var mirrors: [TopicPartition: Mirror] = [:]

    /// The last value of each key of a compacted partition, and the bytes written since all were.
    private struct Mirror {
        var values: [String: [UInt8]] = [:]
        var bytes = 0
    }

    init(_ settings: KafkaSettings, state: PlazaTopic) throws(KafkaError) {
        let failures = self.failures
        self.producer = try KafkaProducer(settings) { delivery in
            if let error = delivery.error { failures.withLock { $0 = error } }
        }
        self.state = state
    }

    func prepare() {}

    func commit(_ batch: BatchOutput, group: GroupMetadata, consumer: KafkaConsumer) throws(KafkaError) {
        self.failures.withLock { $0 = nil }
        for record in batch.records(state: self.state) {
            try self.producer.send(record)
            self.mirror(record)
        }
        try self.rewriteWhatIsLong()
        try self.producer.flush(timeoutMilliseconds: 5000)
        if let error = self.failures.withLock({ $0 }) { throw error }
        try consumer.commit(batch.offsets)
    }

    func warmUp() throws(KafkaError) {
        for topic in PlazaTopic.allCases {
            try self.producer.topicMetadata(topic.rawValue, timeoutMilliseconds: 5000)
        }
    }

    func learn(_ topic: String, partition: Int32, key: String, value: [UInt8]?) {
        self.mirrors[TopicPartition(topic, partition), default: Mirror()].values[key] = value
    }

    func close() { self.producer.close(timeoutMilliseconds: 500) }

    private func mirror(_ record: OutgoingRecord) {
        guard PlazaTopic(rawValue: record.topic)?.retention == .compacted, let key = record.key else { return }
        let place = TopicPartition(record.topic, record.partition)
        let bytes = key.count + (record.value?.count ?? 0)
        self.mirrors[place, default: Mirror()].values[String(decoding: key, as: UTF8.self)] = record.value
        self.mirrors[place]?.bytes += bytes
    }

    private func rewriteWhatIsLong() throws(KafkaError) {
        for (place, mirror) in self.mirrors where mirror.bytes > Self.rewriteBytes {
            for (key, value) in mirror.values {
                try self.producer.send(
                    OutgoingRecord(
                        topic: place.topic, partition: place.partition, key: Array(key.utf8), value: value, headers: []
                    ))
            }
            self.mirrors[place]?.bytes = 0
        }
    }
}
