// SPDX-License-Identifier: Apache-2.0
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import ServiceShell

/// Finds the offset at which a partition's recent records begin: those of the last minute, or of another span of time
/// for which the gateway keeps the topic's records.
struct RecentOffsetFinder {
    /// The length of the span.
    let span: Milliseconds
    /// Whether the broker is a real one or the in-memory broker.
    let mode: KafkaMode
    /// `includes` accepts records up to this much older than the span, because a record is read some time after it was
    /// written.
    private static let tolerance = Milliseconds.seconds(5)
    /// Returns the time by this host's clock, which may be wrong.
    var wallClock: @Sendable () -> WallTime = { WallClock.now }

    /// Returns the first offset of the span, or the partition's end if the span is empty.
    ///
    /// - Throws: The broker's error; the caller must then try again.
    func find(_ consumer: KafkaConsumer, _ partition: TopicPartition) throws(KafkaError) -> Int64 {
        // The in-memory broker cannot look up times. It stores few records, so everything is read, and `includes` drops
        // old records.
        if self.mode == .embedded { return LogicalOffset.beginning }
        // The end is looked up first. In the other order, records that are written between the two requests would be
        // skipped.
        let end = try consumer.endOffset(of: partition, timeout: .seconds(5))
        let since = Timestamp(milliseconds: (self.wallClock() - self.span).milliseconds)
        let offsets = try consumer.offsets(forTimes: [partition: since], timeout: .seconds(5))
        // The offset is negative if all records are older than `since`.
        guard let offset = offsets[partition], offset >= 0 else { return end }
        // If the first record of the span was written after `end` was looked up, reading begins at `end`.
        return min(offset, end)
    }

    /// Returns whether a record belongs to the span, for a reader that may have begun to read before `first`.
    ///
    /// `first` is the offset that `find` has returned.
    func includes(_ record: IncomingRecord, from first: Int64) -> Bool {
        record.offset >= first && self.includes(record)
    }

    /// Returns whether a record belongs to the span, for a reader that began at the offset that `find` has returned.
    ///
    /// On a real broker, every record from that offset on belongs to the span. Their times are not checked: if the
    /// gateway's clock is wrong, or if the gateway was suspended for longer than the span, recent records look old.
    func includes(_ record: IncomingRecord) -> Bool {
        guard self.mode == .embedded else { return true }
        // A negative timestamp means that the record has none; such a record counts as recent.
        return record.timestamp.milliseconds < 0
            || self.wallClock() - WallTime(milliseconds: record.timestamp.milliseconds) < self.span + Self.tolerance
    }
}
