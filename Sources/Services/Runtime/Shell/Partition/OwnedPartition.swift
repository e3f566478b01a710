// SPDX-License-Identifier: Apache-2.0
internal import Compression
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel

/// An inbox partition that this instance owns, or that was revoked from it and may be assigned to it again.
final class OwnedPartition {
    let topicPartition: TopicPartition
    let processor: any PartitionProcessor
    /// The rows that changed since the last write to the state topic (see "checkpoint delta" in docs/GLOSSARY.md).
    private(set) var delta: CheckpointDelta
    /// The additional state of a machine that appends batches; nil if each batch is a transaction.
    private(set) var appending: Appending?
    /// When the next tick, the empty record that advances the machine's time, is due.
    var ticks = TickScheduler()
    /// The offset after the last processed record; it becomes the committed offset when the current batch is committed.
    var position: Int64
    /// The offset and metadata that were last made durable; a rollback restores the processor's rows as of this offset.
    var committed: OffsetAndMetadata
    /// The partition's end when the consumer last reached it; 0 before.
    ///
    /// It is greater than `position` if the partition's last entries are transaction markers, which are not records.
    var lastReachedEnd: Int64 = 0
    /// The offset of the tick with which the partition was acquired: a fencing token.
    ///
    /// `init` sets 0, and its caller must then set the offset.
    var generation: Int64
    /// Whether the processor's `acquired` was called with the current `generation`.
    var hasCalledAcquired = false
    /// The end that the feed partition had when the inbox partition was revoked; for a machine that does not append,
    /// the end of the state partition.
    ///
    /// Nil if the rows were not known to be current at that time, or if the end could not be queried. The next owner
    /// writes an epoch claim to the feed partition, or a record of attempts to the state partition. As long as that
    /// partition still has this end, no other owner has written, and the rows and `attempts` are current.
    var endAtRevocation: Int64?
    /// Detects an input that crashes every process that handles it.
    var attempts: ProcessingAttempts

    /// Creates a partition from its committed offset; the caller must then restore the rows of the state topic.
    ///
    /// - Parameters:
    ///   - topicPartition: the inbox partition.
    ///   - processor: the processor that decides the inputs.
    ///   - committed: the group's committed offset.
    ///   - storage: where the changed rows are stored.
    ///   - process: identifies this process in the records of attempts.
    /// - Throws: `InflationError` when the rows in the committed metadata are not valid.
    init(
        _ topicPartition: TopicPartition, _ processor: any PartitionProcessor, committed: OffsetAndMetadata,
        storage: CheckpointDelta.Storage, process: String
    ) throws(InflationError) {
        // The metadata's second line is the delta, or, for a machine that appends, the epoch claims. Such a machine
        // stores its delta in the headers of appended batches, which `restoreAppendedBatches` reads.
        let hasClaims = FeedEpochs(metadata: committed.metadata) != nil
        self.delta = try CheckpointDelta(metadata: hasClaims ? "" : committed.metadata, storage: storage)
        self.topicPartition = topicPartition
        self.processor = processor
        self.position = committed.offset
        self.committed = committed
        self.generation = 0
        self.attempts = ProcessingAttempts(process: process)
    }

    /// The additional state of a partition whose batches are appended to a feed partition.
    ///
    /// An appended batch is written without a transaction; only checkpoints, and batches that cannot be appended, are
    /// transactions.
    struct Appending {
        /// The epoch claims of the feed partition; the next checkpoint stores them in the committed offset's metadata.
        ///
        /// Each owner writes a claim before its first batch; readers ignore later batches of former owners.
        var claims: FeedEpochs
        /// When this owner's last checkpoint began; nil before its first checkpoint.
        var lastCheckpointBeganAt: MonotonicTime?
        /// Whether a batch was appended since the last checkpoint.
        var hasUncheckpointedBatches = false
    }

    /// Whether nothing was written for this partition since it was revoked from this instance.
    ///
    /// - Parameters:
    ///   - committed: the group's committed offset; nil to compare only the ends.
    ///   - end: the present end of the partition that `endAtRevocation` is about; nil if it is not known.
    /// - Returns: whether the rows and the record of attempts are current.
    func isUnchanged(committed: OffsetAndMetadata?, end: Int64?) -> Bool {
        guard let end, end == self.endAtRevocation else { return false }
        return committed.map { $0 == self.committed } ?? true
    }

    /// Handles records of a batch, in order, and advances the position past the decided ones.
    ///
    /// - Returns: how many of the records were decided; see `PartitionProcessor.process`.
    /// - Throws: the processor's error; the batch must then be rolled back.
    func process(_ records: ArraySlice<IncomingRecord>, effects: inout [Effect]) throws(ProcessorError) -> Int {
        guard let first = records.first else { return 0 }
        try self.acquireProcessor(at: first)
        let inputs = records.map(Self.inboxInput)
        let count = try self.processor.process(inputs, effects: &effects)
        guard let last = records.prefix(count).last else { return 0 }
        self.position = last.offset + 1
        self.ticks.brokerTimeObserved(last.timestamp, at: MonotonicClock.now)
        return count
    }

    /// Handles only the earliest row that is due before a record; the position does not change.
    ///
    /// After a failure, each due row is handled in a transaction of its own, to find the row that causes the failure.
    ///
    /// - Returns: whether a row was due.
    /// - Throws: the processor's error.
    func processNextDue(before record: IncomingRecord, effects: inout [Effect]) throws(ProcessorError) -> Bool {
        try self.acquireProcessor(at: record)
        return try self.processor.processNextDue(before: Self.inboxInput(record), effects: &effects)
    }

    /// Removes the earliest row that is due before a record, because it can never be handled; the caller writes it to
    /// the dead letters.
    ///
    /// - Returns: the row and its key; nil when no row is due.
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    func removeNextDue(before record: IncomingRecord) throws(ProcessorError) -> (key: String, row: [UInt8])? {
        try self.acquireProcessor(at: record)
        return self.processor.removeNextDue(before: Self.inboxInput(record))
    }

    /// The key of the earliest row that is due before a record; nil when no row is due.
    func dueRowKey(before record: IncomingRecord) -> String? {
        self.processor.dueRowKey(before: Self.inboxInput(record))
    }

    /// Advances the position past a record without processing the record.
    ///
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    func skip(_ record: IncomingRecord) throws(ProcessorError) {
        try self.acquireProcessor(at: record)
        self.position = record.offset + 1
    }

    /// Calls the processor's `acquired` before the first record that is handled with the current generation.
    ///
    /// - Throws: `.fenced` when a later owner has acquired the partition.
    private func acquireProcessor(at record: IncomingRecord) throws(ProcessorError) {
        guard !self.hasCalledAcquired else { return }
        try self.processor.acquired(
            generation: self.generation,
            committedMetadata: CheckpointDelta.processorMetadata(in: self.committed.metadata),
            at: record.timestamp)
        self.hasCalledAcquired = true
    }

    /// Restores the rows of the delta; must be called after the rows of the state topic have been restored.
    func restoreDelta() {
        for row in self.delta.rows { self.processor.restore(key: row.key, row: row.row) }
    }

    /// Decides where the rows that the last `process` changed are written.
    ///
    /// - Parameter mustWriteRows: whether the rows must be written to the state topic.
    /// - Returns: the plan; it is valid until the next call of this method.
    func planRows(mustWriteRows: Bool = false) -> CheckpointDelta.Plan {
        self.delta.plan(self.processor.changes, metadata: self.processor.offsetMetadata, mustWriteRows: mustWriteRows)
    }

    /// Records that the current batch is durable.
    ///
    /// - Parameter offset: the offset after the batch's last record, with its metadata.
    private func batchCommitted(_ offset: OffsetAndMetadata) {
        self.committed = offset
        self.delta.committed()
        self.processor.committed()
    }

    // MARK: Appending

    /// Restores the delta and the offsets from the batches that were appended since the last checkpoint.
    ///
    /// - Parameters:
    ///   - commits: the commits of the valid batches, in order; empty if none was appended.
    ///   - claims: the epoch claims of the feed partition, including this owner's claim.
    /// - Throws: `InflationError` when the rows of the batches are not valid.
    func restoreAppendedBatches(_ commits: [BatchHeader.Commit], claims: FeedEpochs) throws(InflationError) {
        self.appending = Appending(claims: claims)
        guard let lastCommit = commits.last else { return }
        self.delta = try CheckpointDelta(appended: commits.flatMap(\.rows))
        self.committed = OffsetAndMetadata(offset: lastCommit.nextOffset, metadata: lastCommit.metadata)
        self.position = lastCommit.nextOffset
    }

    /// Whether a batch can be appended: only after this owner's first checkpoint.
    ///
    /// That checkpoint stores the owner's claim with the committed offset, and begins the compressed stream of rows
    /// that the headers of its batches continue.
    var canAppend: Bool { self.appending?.lastCheckpointBeganAt != nil }

    /// Whether a batch was appended since the last checkpoint, and that checkpoint began at least `interval` ago.
    func isCheckpointDue(at now: MonotonicTime, interval: Milliseconds) -> Bool {
        guard let appending = self.appending, let beganAt = appending.lastCheckpointBeganAt else { return false }
        return appending.hasUncheckpointedBatches && now - beganAt >= interval
    }

    /// Records that an appended batch is durable.
    ///
    /// - Parameters:
    ///   - offset: the offset after the batch's last inbox record, with its metadata.
    ///   - lastFeedOffset: the last offset that was written to the feed partition; nil if nothing was written.
    func batchAppended(_ offset: OffsetAndMetadata, lastFeedOffset: Int64?) {
        self.batchCommitted(offset)
        // The next checkpoint includes the rows of this batch, so a restore from it reads only what follows the batch.
        if let lastFeedOffset { self.appending?.claims.checkpointOffset = lastFeedOffset + 1 }
        self.appending?.hasUncheckpointedBatches = true
    }

    /// Records that a batch's transaction is durable; for a machine that appends, this transaction is a checkpoint.
    ///
    /// - Parameters:
    ///   - offset: the offset after the batch's last record, with its metadata.
    ///   - beganAt: when the transaction began.
    func transactionCommitted(_ offset: OffsetAndMetadata, beganAt: MonotonicTime) {
        self.batchCommitted(offset)
        self.appending?.lastCheckpointBeganAt = beganAt
        self.appending?.hasUncheckpointedBatches = false
    }

    /// Undoes the last batch, which did not become durable: restores the position and the rows of the last commit.
    func batchRolledBack() {
        self.position = self.committed.offset
        self.delta.rolledBack()
        self.processor.rolledBack()
    }

    /// Converts a record to an input of the processor.
    private static func inboxInput(_ record: IncomingRecord) -> InboxInput {
        let isTick = record.key == ReplyProducer.tickKey
        return InboxInput(
            moment: Moment(now: record.timestamp, offset: record.offset),
            payload: isTick ? .tick : .record(record.value ?? []),
            trace: record.header(TraceHeader.name).flatMap { TraceContext(parsing: $0) })
    }
}
