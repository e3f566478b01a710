// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
internal import PlazaModel
package import PlazaWire

/// What one batch writes: effects, rows, and the offsets of the partitions that it touched.
struct BatchOutput {
    /// What effects write, and of which inbox partition's inputs they are.
    struct Item {
        var record: OutgoingRecord
        var from: Int32
    }
    var items: [Item] = []
    /// Rows by inbox partition.
    var rows: [(partition: Int32, key: String, row: [UInt8]?)] = []
    var offsets: [TopicPartition: OffsetAndMetadata] = [:]
}

/// Makes a batch durable, all of it or (as far as the broker can) nothing.
protocol BatchWriter: AnyObject {
    /// Gets ready; called again after a timeout.
    func prepare() throws(KafkaError)
    /// Makes the client know all topics, which otherwise costs the first batch up to a second.
    func warmUp() throws(KafkaError)
    /// Writes and commits.
    ///
    /// - Throws: an error after which nothing of the batch counts and the input must be read again; a fatal one means
    ///   that the writer is of no more use.
    func commit(_ batch: BatchOutput, group: GroupMetadata, consumer: KafkaConsumer) throws(KafkaError)
    /// Learns what stands in a compacted topic that this writer will write.
    func learn(_ topic: String, partition: Int32, key: String, value: [UInt8]?)
    func close()
}

extension BatchOutput {
    /// The records of the batch as they are sent.
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
    /// The record bound to its partition.
    ///
    /// - Parameters:
    ///   - partitions: how many partitions each topic has.
    ///   - trace: the trace context's bytes.
    /// - Returns: the record as the producer takes it.
    package func outgoing(partitions: Int, trace: [UInt8]? = nil) -> OutgoingRecord {
        var headers = self.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        if let trace { headers.append(KafkaHeader(name: TraceHeader.name, value: trace)) }
        return OutgoingRecord(
            topic: self.topic.rawValue,
            partition: Int32(self.partition ?? PlazaTopic.partition(of: self.key, among: partitions)),
            key: Array(self.key.utf8), value: self.value, headers: headers)
    }
}
