// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

// These calls block the thread for at most their timeout.
extension ClientHandle {
    func initTransactions(timeout: Duration) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_init_transactions(self.pointer, timeout.rdkafkaMilliseconds))
    }

    func beginTransaction() throws(KafkaError) {
        try unsafe Self.check(rd_kafka_begin_transaction(self.pointer))
    }

    func sendOffsets(_ offsets: borrowing PartitionList, group: GroupMetadata, timeout: Duration)
        throws(KafkaError)
    {
        try unsafe Self.check(
            rd_kafka_send_offsets_to_transaction(
                self.pointer, offsets.pointer, group.pointer, timeout.rdkafkaMilliseconds))
    }

    func commitTransaction(timeout: Duration) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_commit_transaction(self.pointer, timeout.rdkafkaMilliseconds))
    }

    func abortTransaction(timeout: Duration) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_abort_transaction(self.pointer, timeout.rdkafkaMilliseconds))
    }

    func flush(timeout: Duration) throws(KafkaError) {
        try unsafe self.check(rd_kafka_flush(self.pointer, timeout.rdkafkaMilliseconds))
    }

    /// The number of records in the queue and in flight.
    var queueDepth: Int { Int(unsafe rd_kafka_outq_len(self.pointer)) }

    /// Throws and frees a librdkafka error; nil means success.
    static func check(_ error: OpaquePointer?) throws(KafkaError) {
        if let error = unsafe KafkaError(consuming: error) { throw error }
    }
}
