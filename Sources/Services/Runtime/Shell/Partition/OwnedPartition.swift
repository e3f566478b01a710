// SPDX-License-Identifier: Apache-2.0
internal import Compression
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel

/// A partition that this instance owns, or that was revoked and may be assigned again.
final class OwnedPartition {
    let topicPartition: TopicPartition
    let processor: any PartitionProcessor
    /// The rows that changed since the last write to the state topic.
    private(set) var delta: CheckpointDelta
    /// The state for appending batches; nil if each batch is a transaction.
    private(set) var appending: Appending?
    var ticks = TickScheduler()
    /// The offset after the last processed record; it becomes the committed offset when the current batch is committed.
    var position: Int64
    /// The offset that was last made durable; a rollback restores the processor's rows as of this offset.
    var committed: OffsetAndMetadata
    /// The offset after the last record or transaction marker, when the consumer last reached the partition's end.
    var reachedEnd: Int64 = 0
    /// The offset of the tick with which the partition was acquired.
    var generation: Int64
    /// Whether the processor's `acquired` was called.
    var isAcquired = false
    /// The end of the feed partition when the inbox partition was revoked; nil if the rows may not be current.
    var feedEnd: Int64?
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
        let isAppended = FeedEpochs(metadata: committed.metadata) != nil
        self.delta = try CheckpointDelta(metadata: isAppended ? "" : committed.metadata, storage: storage)
        self.topicPartition = topicPartition
        self.processor = processor
        self.position = committed.offset
        self.committed = committed
        self.generation = 0
        self.attempts = ProcessingAttempts(process: process)
    }

    /// The state of a partition whose batches are appended between two transactions.
    struct Appending {
        var claims: FeedEpochs
        /// When this owner last committed a transaction; nil before its first transaction.
        ///
        /// The first transaction proves that the owner's claim is valid.
        var checkpointAt: MonotonicTime?
        /// Whether a batch was appended since the last transaction.
        var hasUncheckpointedBatches = false
    }

    /// Decides the records of a batch, in order.
    func process(_ records: ArraySlice<IncomingRecord>, effects: inout [Effect]) throws(ProcessorError) {
        guard let first = records.first, let last = records.last else { return }
        try self.acquireProcessor(at: first)
        let inputs = records.map(Self.inboxInput)
        try self.processor.process(inputs, effects: &effects)
        self.position = last.offset + 1
        self.ticks.brokerTimeObserved(Timestamp(milliseconds: last.timestamp), at: MonotonicClock.now)
    }

    /// Handles only the earliest row that is due before a record; the position does not change.
    ///
    /// - Returns: whether a row was due.
    func processNextDue(before record: IncomingRecord, effects: inout [Effect]) throws(ProcessorError) -> Bool {
        try self.acquireProcessor(at: record)
        return self.processor.processNextDue(before: Self.inboxInput(record), effects: &effects)
    }

    /// Removes the earliest row that is due before a record.
    ///
    /// - Returns: the row and its key; nil when no row is due.
    func removeNextDue(before record: IncomingRecord) throws(ProcessorError) -> (key: String, row: [UInt8])? {
        try self.acquireProcessor(at: record)
        return self.processor.removeNextDue(before: Self.inboxInput(record))
    }

    /// Whether a row is due before a record.
    func isRowDue(before record: IncomingRecord) -> Bool {
        self.processor.isRowDue(before: Self.inboxInput(record))
    }

    /// Advances the position past a record without processing the record.
    func skip(_ record: IncomingRecord) throws(ProcessorError) {
        try self.acquireProcessor(at: record)
        self.position = record.offset + 1
    }

    /// Calls the processor's `acquired`, once after each assignment.
    private func acquireProcessor(at first: IncomingRecord) throws(ProcessorError) {
        guard !self.isAcquired else { return }
        try self.processor.acquired(
            generation: self.generation,
            committedMetadata: CheckpointDelta.processorMetadata(in: self.committed.metadata),
            at: Timestamp(milliseconds: first.timestamp))
        self.isAcquired = true
    }

    /// Restores the rows of the delta; must be called after the rows of the state topic have been restored.
    func restoreDelta() {
        for row in self.delta.rows { self.processor.restore(key: row.key, row: row.row) }
    }

    /// Decides where the rows that the last `process` changed are written.
    ///
    /// - Parameter mustWriteRows: whether the rows must be written to the state topic.
    /// - Returns: the plan; it is valid until the next call.
    func planRows(mustWriteRows: Bool = false) -> CheckpointDelta.Plan {
        self.delta.plan(self.processor.changes, metadata: self.processor.offsetMetadata, mustWriteRows: mustWriteRows)
    }

    /// Records that a batch is durable up to `offset`.
    func batchCommitted(_ offset: OffsetAndMetadata) {
        self.committed = offset
        self.delta.committed()
        self.processor.committed()
    }

    // MARK: Appending

    /// Restores the batches that the previous owner appended since its last transaction.
    ///
    /// - Parameters:
    ///   - claims: all claims, this owner's included.
    ///   - commits: the commits of the valid batches, in order.
    /// - Throws: `InflationError` when the rows of the batches are not valid.
    func feedClaimed(_ claims: FeedEpochs, after commits: [BatchHeader.Commit]) throws(InflationError) {
        self.appending = Appending(claims: claims)
        guard let lastCommit = commits.last else { return }
        self.delta = try CheckpointDelta(appended: commits.flatMap(\.rows))
        self.committed = OffsetAndMetadata(offset: lastCommit.nextOffset, metadata: lastCommit.metadata)
        self.position = lastCommit.nextOffset
    }

    /// Whether a batch can be appended: only after this owner's first transaction.
    var canAppend: Bool { self.appending?.checkpointAt != nil }

    /// Whether a batch was appended since the last transaction, which was committed at `limit` or before.
    func isCheckpointDue(since limit: MonotonicTime) -> Bool {
        guard let appending = self.appending, let checkpointAt = appending.checkpointAt else { return false }
        return appending.hasUncheckpointedBatches && checkpointAt <= limit
    }

    /// Records that an appended batch is durable.
    ///
    /// - Parameters:
    ///   - offset: the inbox's new offset.
    ///   - lastFeedOffset: the last offset that was written to the feed partition; nil if the batch has no record.
    func batchAppended(_ offset: OffsetAndMetadata, lastFeedOffset: Int64?) {
        self.batchCommitted(offset)
        if let lastFeedOffset { self.appending?.claims.checkpointOffset = lastFeedOffset + 1 }
        self.appending?.hasUncheckpointedBatches = true
    }

    /// Records that a transaction with all changed rows is durable.
    func checkpointCommitted(_ offset: OffsetAndMetadata, at now: MonotonicTime) {
        self.batchCommitted(offset)
        self.appending?.checkpointAt = now
        self.appending?.hasUncheckpointedBatches = false
    }

    /// Restores the state before the last batch, which did not become durable.
    func batchRolledBack() {
        self.position = self.committed.offset
        self.delta.rolledBack()
        self.processor.rolledBack()
    }

    /// The record as the input of a processor.
    private static func inboxInput(_ record: IncomingRecord) -> InboxInput {
        let isTick = record.key == ReplyProducer.tickKey
        return InboxInput(
            moment: Moment(now: Timestamp(milliseconds: record.timestamp), offset: record.offset),
            payload: isTick ? .tick : .record(record.value ?? []),
            trace: record.header(TraceHeader.name).flatMap { TraceContext(parsing: $0) })
    }
}
