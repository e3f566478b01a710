// SPDX-License-Identifier: Apache-2.0
package import KafkaClient

/// What counts of the records of one partition to which batches are appended (docs/decisions/0007): whole batches of the
/// owner of their time, in order, and what was written in transactions.
///
/// All who read the partition decide alike, from its records alone: a batch counts from its last record on; what an owner
/// left unfinished is dropped at the next one's claim; what a former owner appends behind that claim never counts.
package struct AppendedBatches: Sendable {
    /// The highest epoch seen.
    package private(set) var epoch: Int64
    /// The records of a batch whose last one has not come; no more than a writer's batch.
    private var waiting: [IncomingRecord] = []

    /// A reader that stands at the beginning, or where `epoch` was the last to claim the partition.
    package init(epoch: Int64 = .min) { self.epoch = epoch }

    /// Takes the next record of the partition.
    ///
    /// - Parameters:
    ///   - record: the record, in the order of offsets.
    ///   - counting: what counts now is appended to it.
    /// - Returns: what the batch commits, with its last record.
    @discardableResult
    package mutating func take(_ record: IncomingRecord, counting: inout [IncomingRecord]) -> AppendMark.End? {
        guard let mark = AppendMark(record) else {
            counting.append(record)
            return nil
        }
        guard mark.epoch >= self.epoch else { return nil }
        if mark.epoch > self.epoch {
            self.epoch = mark.epoch
            self.waiting.removeAll(keepingCapacity: true)
        }
        if record.value != nil { self.waiting.append(record) }
        guard let end = mark.end else { return nil }
        counting += self.waiting
        self.waiting.removeAll(keepingCapacity: true)
        return end
    }

    /// Up to where everything that counts has been given out.
    ///
    /// - Parameter offset: the next offset to read.
    /// - Returns: that, or where a batch begins that is not whole yet.
    package func settled(upTo offset: Int64) -> Int64 { self.waiting.first?.offset ?? offset }
}
