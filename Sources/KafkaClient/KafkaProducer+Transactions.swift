// SPDX-License-Identifier: Apache-2.0

/// Transactions: what is sent and the offsets that were read commit together or not at all.
///
/// Decide by the error's flags: `isFatal` (also `fenced`): close and make another; `requiresAbort`: abort, put back what
/// was done, go on; `isRetriable`: make the same call again.
extension KafkaProducer {
    /// Registers with the coordinator, fences older producers of the same id and ends what they left open.
    ///
    /// Once, before the first transaction.
    ///
    /// - Throws: `timedOut` or retriable while the coordinator loads or still ends the older transaction: call again.
    package func initTransactions(timeoutMilliseconds: Int) throws(KafkaError) {
        try self.client.initTransactions(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Opens a transaction; what is sent from now on belongs to it.
    ///
    /// - Throws: if one is open, or `fenced`.
    package func beginTransaction() throws(KafkaError) {
        try self.client.beginTransaction()
    }

    /// Adds the offsets of the next records to read to the open transaction.
    ///
    /// Call it before the first `send` of the transaction where that can be: while the broker still writes the last
    /// transaction's markers, this is tried again after `retry.backoff.ms`, but a partition's first record only after
    /// a fixed 20 ms. Back to back that makes 11 ms a transaction instead of 28.
    ///
    /// - Parameters:
    ///   - offsets: of every partition that the transaction touches, metadata of at most 4,096 bytes each.
    ///   - group: taken before the transaction's first input, never refreshed.
    ///   - timeoutMilliseconds: how long to wait for the answers.
    /// - Throws: `abortRequired` if the group has moved on, among others.
    package func sendOffsets(
        _ offsets: [TopicPartition: OffsetAndMetadata], group: GroupMetadata, timeoutMilliseconds: Int
    ) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.sendOffsets(list, group: group, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Waits for the records of the transaction and commits it.
    ///
    /// - Throws: after `timedOut` the outcome is not known: call again.
    package func commitTransaction(timeoutMilliseconds: Int) throws(KafkaError) {
        try self.client.commitTransaction(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Drops the open transaction; its records are reported as failed or stay invisible to those who read committed.
    ///
    /// - Throws: `timedOut`: call again; `fenced`.
    package func abortTransaction(timeoutMilliseconds: Int) throws(KafkaError) {
        try self.client.abortTransaction(timeoutMilliseconds: timeoutMilliseconds)
    }
}
