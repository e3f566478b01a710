// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka
internal import Glibc

/// Owns a librdkafka list of partitions with offsets.
@safe struct PartitionList: ~Copyable {
    let pointer: UnsafeMutablePointer<rd_kafka_topic_partition_list_t>

    init(capacity: Int) { unsafe self.pointer = rd_kafka_topic_partition_list_new(Int32(clamping: capacity)) }

    /// Lists partitions, all with the same offset; by default without an offset.
    init(_ partitions: some Collection<TopicPartition>, offset: Int64 = Int64(RD_KAFKA_OFFSET_INVALID)) {
        self.init(capacity: partitions.count)
        for partition in partitions { self.add(partition, offset: offset) }
    }

    init(_ offsets: [TopicPartition: Int64]) {
        self.init(capacity: offsets.count)
        for (partition, offset) in offsets { self.add(partition, offset: offset) }
    }

    init(_ offsets: [TopicPartition: OffsetAndMetadata]) {
        self.init(capacity: offsets.count)
        for (partition, committed) in offsets {
            self.add(partition, offset: committed.offset, metadata: committed.metadata)
        }
    }

    deinit { unsafe rd_kafka_topic_partition_list_destroy(self.pointer) }

    private func add(_ partition: TopicPartition, offset: Int64, metadata: String = "") {
        guard let entry = unsafe rd_kafka_topic_partition_list_add(self.pointer, partition.topic, partition.partition)
        else { return }
        unsafe entry.pointee.offset = offset
        guard !metadata.isEmpty else { return }
        // The list will release the metadata with `free`, so the memory comes from `malloc`.
        let bytes = Array(metadata.utf8)
        guard let copy = unsafe malloc(bytes.count) else { return }
        unsafe UnsafeMutableRawBufferPointer(start: copy, count: bytes.count).copyBytes(from: bytes)
        unsafe entry.pointee.metadata = unsafe copy
        unsafe entry.pointee.metadata_size = bytes.count
    }

    /// Copies of the list's entries.
    var entries: [Entry] { unsafe Self.entries(of: self.pointer) }

    /// Copies the entries of any list, even of a list that librdkafka owns, such as the list of a rebalance.
    static func entries(of list: UnsafePointer<rd_kafka_topic_partition_list_t>) -> [Entry] {
        (0..<Int(unsafe list.pointee.cnt)).map { index in
            let entry = unsafe list.pointee.elems[index]
            let metadata =
                if let bytes = unsafe entry.metadata, unsafe entry.metadata_size > 0 {
                    unsafe String(
                        decoding: UnsafeRawBufferPointer(start: bytes, count: entry.metadata_size), as: UTF8.self)
                } else {
                    ""
                }
            let code = unsafe entry.err
            return unsafe Entry(
                partition: TopicPartition(String(cString: entry.topic), entry.partition), offset: entry.offset,
                metadata: metadata, error: code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code: code))
        }
    }

    /// Throws the first error among the entries, if there is one.
    func check() throws(KafkaError) {
        for entry in self.entries {
            if let error = entry.error { throw error }
        }
    }

    /// A copied entry; the error is nil if librdkafka reported success for the partition.
    struct Entry {
        var partition: TopicPartition
        var offset: Int64
        var metadata: String
        var error: KafkaError?
    }
}
