// SPDX-License-Identifier: Apache-2.0

/// The transactions of a producer: sent records and consumed offsets are committed together or not at all.
///
/// After an error, the flags of the error say what to do:
/// - `isFatal` (such as `fenced`): close the producer and create another.
/// - `requiresAbort`: abort the transaction, roll back, and continue with the next transaction.
/// - `isRetriable`: repeat the call.
extension KafkaProducer {
    /// Registers the producer with the transaction coordinator.
    ///
    /// Older producers with the same transactional id are fenced (the broker rejects whatever they write from now on),
    /// and their open transactions are aborted. Call this method once, before the first transaction.
    ///
    /// - Throws: `timedOut` or a retriable error while the coordinator loads its state or ends an older transaction;
    ///   repeat the call.
    package func initTransactions(timeout: Duration) throws(KafkaError) {
        try self.client.initTransactions(timeout: timeout)
    }

    /// Opens a transaction; records sent from now on belong to it.
    ///
    /// - Throws: an error if a transaction is open already; `fenced` if a newer producer has the same transactional id.
    package func beginTransaction() throws(KafkaError) {
        try self.client.beginTransaction()
    }

    /// Adds the offsets of the next records to read to the open transaction.
    ///
    /// Call it before the first `send` of the transaction if possible. While the broker still writes the markers
    /// of the previous transaction, it rejects offsets and records. librdkafka retries `sendOffsets` after
    /// `retry.backoff.ms`, but the first record of a partition only after a fixed 20 ms. When the offsets come first,
    /// consecutive transactions take 11 ms each instead of 28 ms.
    ///
    /// - Parameters:
    ///   - offsets: the offsets of every partition in the transaction, with at most 4,096 bytes of metadata each.
    ///   - group: the group metadata that were read before the transaction's first input. Newer metadata would hide
    ///     from the broker that the group has rebalanced since then.
    ///   - timeout: how long to wait for the responses.
    /// - Throws: `abortRequired` if the group has rebalanced, or other errors.
    package func sendOffsets(
        _ offsets: [TopicPartition: OffsetAndMetadata], group: GroupMetadata, timeout: Duration
    ) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.sendOffsets(list, group: group, timeout: timeout)
    }

    /// Waits until all records of the transaction are delivered, then commits it.
    ///
    /// - Throws: `timedOut` when the outcome is unknown; repeat the call.
    package func commitTransaction(timeout: Duration) throws(KafkaError) {
        try self.client.commitTransaction(timeout: timeout)
    }

    /// Aborts the open transaction.
    ///
    /// Its unsent records are reported as failed. Consumers with the isolation level `committed` skip its sent records.
    ///
    /// - Throws: `timedOut` when the outcome is unknown; repeat the call. `fenced` if a newer producer has the same
    ///   transactional id.
    package func abortTransaction(timeout: Duration) throws(KafkaError) {
        try self.client.abortTransaction(timeout: timeout)
    }
}
