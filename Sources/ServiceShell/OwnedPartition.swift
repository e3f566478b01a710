// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import KafkaClient
internal import Observability
internal import PlazaModel

/// A partition that this instance owns, or owned and remembers.
final class OwnedPartition {
    let place: TopicPartition
    let processor: any PartitionProcessor
    var ticks = TickPlan()
    /// The next offset to read, once the batch in hand is committed.
    var position: Int64
    /// What stands in the group: the rows here belong to exactly this offset.
    var committed: OffsetAndMetadata
    /// The tick with which it was taken; `take` is called before the first input.
    var generation: Int64
    var isTaken = false
    private var now = Timestamp.distantPast

    init(_ place: TopicPartition, _ processor: any PartitionProcessor, committed: OffsetAndMetadata) {
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
                generation: self.generation, committedMetadata: self.committed.metadata,
                at: Timestamp(milliseconds: first.timestamp))
            self.isTaken = true
        }
        let inputs = records.map(Self.input)
        try self.processor.process(inputs, effects: &effects)
        self.position = last.offset + 1
        self.ticks.learned(Timestamp(milliseconds: last.timestamp), monotonic: MonotonicClock.milliseconds)
    }

    func batchCommitted(_ offset: OffsetAndMetadata) {
        self.committed = offset
        self.processor.committed()
    }

    func batchRolledBack() {
        self.position = self.committed.offset
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
