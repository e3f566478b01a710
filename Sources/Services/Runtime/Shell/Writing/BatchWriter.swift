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
    /// The size in bytes of the decided effects, replies included.
    var effectBytes = 0

    /// Once the effects of a batch have this size, 8 MiB, no further input is decided for the batch.
    ///
    /// With the effects of the last input and the changed rows, a batch may be larger, but rarely exceeds `maxBytes`.
    static let maxEffectBytes = 8 << 20
    /// The maximum size of a batch of several inputs, 32 MiB; a larger one is divided.
    ///
    /// A batch of this size is written in less than the 2 s after which the broker would abort the transaction. It
    /// fills a quarter of the producer's queue (`KafkaSettings`).
    static let maxBytes = 32 << 20
    /// An upper bound for the bytes that the record format adds to a record.
    private static let recordOverheadBytes = 100

    /// The size of a record in a batch, in bytes.
    static func size(of record: OutgoingRecord) -> Int { record.bytes + Self.recordOverheadBytes }

    /// The size in bytes of what is written: the records of the effects, without replies, and the rows.
    var writtenBytes: Int {
        let itemBytes = self.items.reduce(0) { $0 + Self.size(of: $1.record) }
        return self.rows.reduce(itemBytes) { sum, row in
            sum + row.key.utf8.count + (row.row?.count ?? 0) + Self.recordOverheadBytes
        }
    }
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

extension KafkaProducer {
    /// Puts the records of a batch into the producer's queue.
    ///
    /// - Parameter records: all records of the batch.
    /// - Throws: the errors of `send`. If a batch does not even fit into the empty queue, the error is
    ///   `messageTooLarge` instead of `queueFull`: the batch would never fit, so its inputs are the cause.
    func send(batch records: [OutgoingRecord]) throws(KafkaError) {
        let wasEmpty = self.queueDepth == 0
        do throws(KafkaError) {
            for record in records { try self.send(record) }
        } catch {
            guard error.kind == .queueFull, wasEmpty else { throw error }
            let bytes = records.reduce(0) { $0 + BatchOutput.size(of: $1) }
            throw KafkaError(
                .messageTooLarge,
                "A batch of \(records.count) records and \(bytes) bytes does not fit into the producer's queue.",
                codeName: error.codeName)
        }
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
