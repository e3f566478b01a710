// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
internal import PlazaModel
package import PlazaWire

/// The records that one batch writes: effects, rows and offsets.
struct BatchOutput {
    /// The record of an effect, and the inbox partition of the input that caused it.
    struct Item {
        var record: OutgoingRecord
        var inboxPartition: Int32
    }
    /// The records of the effects.
    var items: [Item] = []
    /// The changed rows, each with its inbox partition.
    var rows: [(partition: Int32, key: String, row: [UInt8]?)] = []
    /// The offsets to commit, by inbox partition.
    var offsets: [TopicPartition: OffsetAndMetadata] = [:]
}

/// Makes a batch durable; atomically if the broker supports transactions.
protocol BatchWriter: AnyObject {
    /// The error that made the writer unusable; nil if there is none.
    var fatalError: KafkaError? { get }
    /// Does what must precede the first batch, such as fencing an older writer.
    ///
    /// - Throws: `KafkaError`; after a timeout, the method is called again.
    func prepare() throws(KafkaError)
    /// Loads the metadata of all topics; without it the first batch is delayed by up to a second.
    ///
    /// - Throws: `KafkaError` when the broker does not answer in time.
    func warmUp() throws(KafkaError)
    /// Writes and commits a batch.
    ///
    /// A transaction commits the offsets for `group`; a writer without transactions commits them through `consumer`.
    ///
    /// - Throws: `KafkaError` when the batch was not committed and its inputs must be read again; after a fatal error
    ///   the writer is unusable.
    func commit(_ batch: BatchOutput, group: GroupMetadata, consumer: KafkaConsumer) throws(KafkaError)
    /// Passes the writer a value of a compacted topic that existed before the writer's first batch.
    ///
    /// Only a writer that must write such values again stores them.
    func restoreValue(_ topic: String, partition: Int32, key: String, value: [UInt8]?)
    /// Closes the writer's producer.
    func close()
}

extension BatchOutput {
    /// All records of the batch: rows first, then effects.
    func records(state: PlazaTopic) -> [OutgoingRecord] {
        var records: [OutgoingRecord] = []
        records.reserveCapacity(self.items.count + self.rows.count)
        for row in self.rows {
            records.append(
                OutgoingRecord(
                    topic: state.rawValue, partition: row.partition, key: Array(row.key.utf8), value: row.row,
                    headers: []))
        }
        for item in self.items { records.append(item.record) }
        return records
    }
}

extension TopicRecord {
    /// Converts the record for a producer and chooses its partition.
    ///
    /// - Parameters:
    ///   - partitions: the number of partitions of each topic.
    ///   - trace: the trace context to send as a header, if any.
    /// - Returns: the record for a producer.
    package func outgoing(partitions: Int, trace: [UInt8]? = nil) -> OutgoingRecord {
        var headers = self.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        if let trace { headers.append(KafkaHeader(name: TraceHeader.name, value: trace)) }
        return OutgoingRecord(
            topic: self.topic.rawValue,
            partition: Int32(self.partition ?? PlazaTopic.partition(of: self.key, among: partitions)),
            key: Array(self.key.utf8), value: self.value, headers: headers)
    }
}
