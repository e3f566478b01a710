// SPDX-License-Identifier: Apache-2.0
package import KafkaClient

/// The headers of a record in a partition to which batches are appended without a transaction (docs/decisions/0007).
///
/// Each record of a batch contains its writer's epoch; the last one also contains the batch's commit. A new owner's
/// claim, which is written in a transaction, contains only the owner's epoch and has no value. After the claim, records
/// of older epochs are ignored.
package struct BatchHeader: Equatable, Sendable {
    /// The state that becomes durable with the last record of a batch.
    package struct Commit: Equatable, Sendable {
        /// The offset of the next inbox record to read.
        package var nextOffset: Int64
        /// The processor's metadata for the offset.
        package var metadata: String
        /// The changed rows: the next part of the compressed stream that began at the last checkpoint (see
        /// `CheckpointDelta`).
        package var rows: [UInt8]

        package init(nextOffset: Int64, metadata: String, rows: [UInt8]) {
            self.nextOffset = nextOffset
            self.metadata = metadata
            self.rows = rows
        }
    }

    /// The generation of the partition's owner: the offset of the tick with which the owner acquired the inbox
    /// partition.
    package var epoch: Int64
    /// The batch's commit; nil unless this is the batch's last record.
    package var commit: Commit?

    /// The header with the epoch, which each record has.
    private static let epochHeader = "e"
    /// The header of a batch's last record: the next offset, a blank, and the metadata.
    private static let commitHeader = "b"
    /// The header of a batch's last record with the changed rows.
    private static let rowsHeader = "r"

    package init(epoch: Int64, commit: Commit? = nil) {
        self.epoch = epoch
        self.commit = commit
    }

    /// Reads the headers of a record; nil if the record has no epoch, because it was written in a transaction and is no
    /// claim.
    package init?(_ record: IncomingRecord) {
        guard let text = record.header(Self.epochHeader), let epoch = Int64(String(decoding: text, as: UTF8.self))
        else { return nil }
        self.epoch = epoch
        guard let commitText = record.header(Self.commitHeader) else { return }
        let words = String(decoding: commitText, as: UTF8.self).split(
            separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
        // A malformed commit counts as a missing one.
        guard words.count == 2, let nextOffset = Int64(words[0]) else { return }
        self.commit = Commit(
            nextOffset: nextOffset, metadata: String(words[1]), rows: record.header(Self.rowsHeader) ?? [])
    }

    /// The headers as Kafka stores them.
    package var headers: [KafkaHeader] {
        var headers = [KafkaHeader(name: Self.epochHeader, text: "\(self.epoch)")]
        guard let commit = self.commit else { return headers }
        headers.append(KafkaHeader(name: Self.commitHeader, text: "\(commit.nextOffset) \(commit.metadata)"))
        if !commit.rows.isEmpty { headers.append(KafkaHeader(name: Self.rowsHeader, value: commit.rows)) }
        return headers
    }
}
