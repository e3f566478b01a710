// SPDX-License-Identifier: Apache-2.0
package import KafkaClient

/// Selects the valid records of a partition to which batches are appended (docs/decisions/0007).
///
/// Each owner of a partition has an epoch, a number above those of all former owners. It claims the partition by a
/// record with its epoch. A slow owner may still append after another owner's claim, and an owner may crash in the
/// middle of a batch. All readers must nevertheless accept the same records. They therefore decide from the partition's
/// records alone:
///
/// - A batch becomes valid as a whole when its last record is read.
/// - A batch without its last record is dropped when the next claim is read.
/// - Records of an older epoch that follow a newer claim are ignored.
/// - Records without an epoch, which were written in a transaction, are always valid.
package struct BatchFilter: Sendable {
    /// The highest epoch that has been read; `Int64.min` if none is known.
    package private(set) var epoch: Int64
    /// The records of a batch whose last record has not been read yet.
    private var incompleteBatch: [IncomingRecord] = []

    /// Creates a filter for reading from the partition's beginning, or, with `epoch`, from an offset after the claim of
    /// that epoch.
    package init(epoch: Int64 = .min) { self.epoch = epoch }

    /// Filters the next record of the partition.
    ///
    /// - Parameters:
    ///   - record: the record, in the order of offsets.
    ///   - valid: the array to which this method appends the records that have become valid.
    /// - Returns: the batch's commit if `record` is the last one of a valid batch; otherwise nil.
    @discardableResult
    package mutating func accept(_ record: IncomingRecord, into valid: inout [IncomingRecord]) -> BatchHeader.Commit? {
        guard let header = BatchHeader(record) else {
            valid.append(record)
            return nil
        }
        guard header.epoch >= self.epoch else { return nil }
        if header.epoch > self.epoch {
            self.epoch = header.epoch
            self.incompleteBatch.removeAll(keepingCapacity: true)
        }
        // A claim has no value, and neither has the only record of a batch without effects; readers skip both.
        if record.value != nil { self.incompleteBatch.append(record) }
        guard let commit = header.commit else { return nil }
        valid += self.incompleteBatch
        self.incompleteBatch.removeAll(keepingCapacity: true)
        return commit
    }

    /// The offset up to which all valid records have been returned.
    ///
    /// - Parameter offset: the next offset to read.
    /// - Returns: `offset`, or the first offset of the incomplete batch if there is one.
    package func completeOffset(upTo offset: Int64) -> Int64 { self.incompleteBatch.first?.offset ?? offset }
}
