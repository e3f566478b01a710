// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import Deflate
internal import KafkaClient
internal import Observability
internal import PlazaModel

/// A partition that this instance owns, or owned and remembers.
final class OwnedPartition {
    let place: TopicPartition
    let processor: any PartitionProcessor
    /// The rows that ride beside the state topic.
    private(set) var tail: RowTail
    /// How its batches are appended; nil where each is a transaction.
    private(set) var appending: Appending?
    var ticks = TickPlan()
    /// The next offset to read, once the batch in hand is committed.
    var position: Int64
    /// What is durable: the rows here belong to exactly this offset.
    var committed: OffsetAndMetadata
    /// The tick with which it was taken; `take` is called before the first input.
    var generation: Int64
    var isTaken = false
    private var now = Timestamp.distantPast

    /// A partition as its last owner left it; the state topic's rows are still to be restored.
    ///
    /// - Parameters:
    ///   - place: the inbox partition.
    ///   - processor: what decides.
    ///   - committed: what stands in the group.
    ///   - carrier: what its rows ride in.
    /// - Throws: when the committed metadata carries rows that cannot be read.
    init(
        _ place: TopicPartition, _ processor: any PartitionProcessor, committed: OffsetAndMetadata,
        carrier: RowTail.Carrier
    ) throws(InflationError) {
        let isAppended = AppendClaims(metadata: committed.metadata) != nil
        self.tail = try RowTail(metadata: isAppended ? "" : committed.metadata, carrier: carrier)
        self.place = place
        self.processor = processor
        self.position = committed.offset
        self.committed = committed
        self.generation = 0
    }

    /// Between two transactions batches are appended.
    struct Appending {
        var claims: AppendClaims
        /// When the last transaction was; nil before the first, which proves that the claim was in time.
        var checkpointAt: Int64?
        /// Whether something was committed since then.
        var isAhead = false
    }

    /// Decides the records of a batch, in order.
    func process(_ records: ArraySlice<IncomingRecord>, effects: inout [Effect]) throws(ProcessorError) {
        guard let first = records.first, let last = records.last else { return }
        if !self.isTaken {
            try self.processor.take(
                generation: self.generation, committedMetadata: RowTail.processorMetadata(in: self.committed.metadata),
                at: Timestamp(milliseconds: first.timestamp))
            self.isTaken = true
        }
        let inputs = records.map(Self.input)
        try self.processor.process(inputs, effects: &effects)
        self.position = last.offset + 1
        self.ticks.learned(Timestamp(milliseconds: last.timestamp), monotonic: MonotonicClock.milliseconds)
    }

    /// Restores the rows that are newer than the state topic's; to be called after those.
    func restoreTail() {
        for row in self.tail.rows { self.processor.restore(key: row.key, row: row.row) }
    }

    /// Where the rows go that the last `process` changed.
    ///
    /// - Parameter mustWrite: the rows may not ride.
    /// - Returns: the plan, until the next.
    func planRows(mustWrite: Bool = false) -> RowTail.Plan {
        self.tail.plan(self.processor.changes, metadata: self.processor.offsetMetadata, mustWrite: mustWrite)
    }

    func batchCommitted(_ offset: OffsetAndMetadata) {
        self.committed = offset
        self.tail.committed()
        self.processor.committed()
    }

    // MARK: Appending

    /// Goes on from what the last owner appended since its last transaction.
    ///
    /// - Parameters:
    ///   - claims: those of before, with this owner's.
    ///   - ends: what the batches committed that count, in order.
    /// - Throws: when their rows cannot be read.
    func claimed(_ claims: AppendClaims, after ends: [AppendMark.End]) throws(InflationError) {
        self.appending = Appending(claims: claims)
        guard let last = ends.last else { return }
        self.tail = try RowTail(appended: ends.flatMap(\.rows))
        self.committed = OffsetAndMetadata(offset: last.next, metadata: last.metadata)
        self.position = last.next
    }

    /// Whether a batch may be appended: the owner has had a transaction.
    var mayAppend: Bool { self.appending?.checkpointAt != nil }

    /// Whether something was appended, and the last transaction was no later than `limit`.
    func isCheckpointDue(since limit: Int64) -> Bool {
        guard let appending = self.appending, let since = appending.checkpointAt else { return false }
        return appending.isAhead && since <= limit
    }

    /// A batch is durable; `last` is where it ends in the partition, if it wrote something there.
    func batchAppended(_ offset: OffsetAndMetadata, last: Int64?) {
        self.batchCommitted(offset)
        if let last { self.appending?.claims.start = last + 1 }
        self.appending?.isAhead = true
    }

    /// A transaction with all rows is durable.
    func checkpointed(_ offset: OffsetAndMetadata, at now: Int64) {
        self.batchCommitted(offset)
        self.appending?.checkpointAt = now
        self.appending?.isAhead = false
    }

    func batchRolledBack() {
        self.position = self.committed.offset
        self.tail.rolledBack()
        self.processor.rolledBack()
    }

    private static func input(_ record: IncomingRecord) -> InboxInput {
        let isTick = record.key == SideProducer.tickKey
        return InboxInput(
            moment: Moment(now: Timestamp(milliseconds: record.timestamp), offset: record.offset),
            payload: isTick ? .tick : .record(record.value ?? []),
            trace: record.header(TraceHeader.name).flatMap { TraceContext(parsing: $0) })
    }
}
