// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

// All of these block their thread for as long as they are told, or -1: as long as the transaction may take.
extension ClientHandle {
    func initTransactions(timeoutMilliseconds: Int) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_init_transactions(self.pointer, Int32(clamping: timeoutMilliseconds)))
    }

    func beginTransaction() throws(KafkaError) {
        try unsafe Self.check(rd_kafka_begin_transaction(self.pointer))
    }

    func sendOffsets(_ offsets: borrowing PartitionList, group: GroupMetadata, timeoutMilliseconds: Int)
        throws(KafkaError)
    {
        try unsafe Self.check(
            rd_kafka_send_offsets_to_transaction(
                self.pointer, offsets.pointer, group.pointer, Int32(clamping: timeoutMilliseconds)))
    }

    func commitTransaction(timeoutMilliseconds: Int) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_commit_transaction(self.pointer, Int32(clamping: timeoutMilliseconds)))
    }

    func abortTransaction(timeoutMilliseconds: Int) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_abort_transaction(self.pointer, Int32(clamping: timeoutMilliseconds)))
    }

    func flush(timeoutMilliseconds: Int) throws(KafkaError) {
        try unsafe self.check(rd_kafka_flush(self.pointer, Int32(clamping: timeoutMilliseconds)))
    }

    /// Records in the queue and on their way.
    var queueDepth: Int { Int(unsafe rd_kafka_outq_len(self.pointer)) }

    /// Throws what a librdkafka error says, and frees it; nil says nothing.
    static func check(_ error: OpaquePointer?) throws(KafkaError) {
        if let error = unsafe KafkaError(consuming: error) { throw error }
    }
}
