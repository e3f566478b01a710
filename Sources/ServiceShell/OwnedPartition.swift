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
    /// The rows that ride in the offset's metadata.
    private(set) var tail: RowTail
    var ticks = TickPlan()
    /// The next offset to read, once the batch in hand is committed.
    var position: Int64
    /// What stands in the group: the rows here belong to exactly this offset.
    var committed: OffsetAndMetadata
    /// The tick with which it was taken; `take` is called before the first input.
    var generation: Int64
    var isTaken = false
    private var now = Timestamp.distantPast

    /// A partition as its last owner left it; the state topic's rows are still to be restored.
    ///
    /// - Throws: when the committed metadata carries rows that cannot be read.
    init(
        _ place: TopicPartition, _ processor: any PartitionProcessor, committed: OffsetAndMetadata
    ) throws(InflationError) {
        self.tail = try RowTail(metadata: committed.metadata)
        self.place = place
        self.processor = processor
        self.position = committed.offset
        self.committed = committed
        self.generation = 0
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
    func planRows() -> RowTail.Plan {
        self.tail.plan(self.processor.changes, metadata: self.processor.offsetMetadata)
    }

    func batchCommitted(_ offset: OffsetAndMetadata) {
        self.committed = offset
        self.tail.committed()
        self.processor.committed()
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
