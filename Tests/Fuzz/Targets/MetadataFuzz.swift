// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import MachineKit
internal import PlazaModel
internal import Presence
internal import ServiceShell
internal import Webhooks

/// The metadata of committed offsets, and the headers of appended batches.
///
/// The whole input is read as each kind of metadata, and its first three lines also as the headers.
public enum MetadataFuzz: FuzzTarget {
    /// Handles one input.
    public static func run(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        if let delta = try? CheckpointDelta(metadata: text) { _ = delta.rows }
        if let delta = try? CheckpointDelta(appended: input) { _ = delta.rows }
        if var epochs = FeedEpochs(metadata: text) {
            precondition(FeedEpochs(metadata: epochs.line) == epochs)
            for offset in [0, epochs.checkpointOffset, .max] { _ = epochs.epoch(before: offset) }
            epochs.add(epoch: 5, offset: epochs.checkpointOffset)
        }
        if let checkpoint = ReadingProgress.Checkpoint(offset: 5, metadata: text) { _ = checkpoint.metadata }
        let cursor = OutboxCursor(text: text)
        precondition(OutboxCursor(text: cursor.text) == cursor)
        let lines = input.split(separator: UInt8(ascii: "\n"), maxSplits: 2, omittingEmptySubsequences: false)
        // The headers `e`, `b` and `r` are a batch's epoch, next offset and rows.
        let names = ["e", "b", "r"]
        let record = IncomingRecord(
            topic: "room.feed", partition: 0, offset: 7, timestamp: Timestamp(milliseconds: 1), key: nil, value: [1],
            headers: zip(names, lines).map { KafkaHeader(name: $0, value: Array($1)) })
        var filter = BatchFilter()
        var acceptedRecords: [IncomingRecord] = []
        if let commit = filter.accept(record, into: &acceptedRecords) {
            _ = try? CheckpointDelta(appended: commit.rows)
            _ = filter.completeOffset(upTo: commit.nextOffset)
        }
    }
}
