// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import KafkaClient
internal import Observability
internal import ServiceShell

/// Where the last minute, or as much as is kept in memory, begins in a partition.
struct RecentOffset {
    /// How far back.
    let span: Milliseconds
    let mode: KafkaMode

    /// The first offset of the span, or the partition's end.
    ///
    /// - Throws: as the questions to the broker do; then ask again.
    func find(_ consumer: KafkaConsumer, _ partition: TopicPartition) throws(KafkaError) -> Int64 {
        // The in-memory broker cannot look up times; it keeps little, and what is old is left out when it is read.
        if self.mode == .embedded { return LogicalOffset.beginning }
        // The end is asked for first, or what is written between two questions would be left out.
        let end = try consumer.end(of: partition, timeoutMilliseconds: 5000)
        let since = WallClock.milliseconds() - self.span.count
        let found = try consumer.offsets(forTimes: [partition: since], timeoutMilliseconds: 5000)
        guard let offset = found[partition], offset >= 0 else { return end }
        return min(offset, end)
    }

    /// Whether a record is one of those that reading began with, or a later one, however late it is read.
    func isWanted(_ record: IncomingRecord) -> Bool { self.mode != .embedded || self.isRecent(record) }

    /// Whether a record is of the span, and a bit, for the clocks of brokers differ.
    func isRecent(_ record: IncomingRecord) -> Bool {
        record.timestamp < 0 || WallClock.milliseconds() - record.timestamp < self.span.count + 5000
    }
}
