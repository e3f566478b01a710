// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import PlazaModel

/// Reads partitions from their beginning, or from an offset, to their end, as it was when the reading began.
///
/// Two handles: the end is asked for without regard to transactions, the records are read committed. So the last owner's
/// open transaction is waited for: the reading ends only once the reader stands at or behind that end, which it cannot
/// pass while a transaction is open. It never goes by a record's offset: aborted records and markers lie at the end.
final class StateReader {
    private let reader: KafkaConsumer
    private let ends: KafkaConsumer

    /// A reader that has read nothing yet.
    ///
    /// - Parameters:
    ///   - settings: the broker.
    ///   - fetchWaitMilliseconds: how long the broker holds back an empty answer.
    /// - Throws: when a client cannot be made.
    init(_ settings: KafkaSettings, fetchWaitMilliseconds: Int) throws(KafkaError) {
        self.reader = try KafkaConsumer(
            settings, isolation: .committed, fetchWaitMilliseconds: fetchWaitMilliseconds)
        self.ends = try KafkaConsumer(
            settings, isolation: .uncommitted, fetchWaitMilliseconds: fetchWaitMilliseconds)
    }

    /// Makes both handles know the topics, which otherwise costs the first restore up to a second.
    func warmUp(_ topics: [PlazaTopic]) throws(KafkaError) {
        for topic in topics {
            _ = try self.reader.topicMetadata(topic.rawValue, timeoutMilliseconds: 5000)
            _ = try self.ends.topicMetadata(topic.rawValue, timeoutMilliseconds: 5000)
        }
    }

    /// The end of a partition, whatever transactions are open.
    func end(of place: TopicPartition) throws(KafkaError) -> Int64 {
        try self.ends.end(of: place, timeoutMilliseconds: 5000)
    }

    /// Reads all of `partitions`.
    ///
    /// - Parameters:
    ///   - partitions: those that are read, from their beginning to their end.
    ///   - tails: further ones, each read from an offset on.
    ///   - deadline: on `MonotonicClock`; after it `timedOut` is thrown.
    ///   - record: gets each record, in order within its partition.
    /// - Throws: `timedOut` after the deadline, and what the client throws.
    func read(
        _ partitions: [TopicPartition], tails: [TopicPartition: Int64] = [:], deadline: Int64,
        record: (IncomingRecord) -> Void
    ) throws(KafkaError) {
        var waiting: [TopicPartition: Int64] = [:]
        for place in partitions + tails.keys {
            let high = try self.end(of: place)
            if high > tails[place] ?? 0 { waiting[place] = high }
        }
        guard !waiting.isEmpty else { return }
        var starts: [TopicPartition: Int64] = [:]
        for place in waiting.keys { starts[place] = tails[place] ?? LogicalOffset.beginning }
        try self.reader.assign(starts)
        defer { try? self.reader.unassign() }
        var records: [IncomingRecord] = []
        while !waiting.isEmpty {
            let left = deadline - MonotonicClock.milliseconds
            guard left > 0 else {
                throw KafkaError(.timedOut, "the state of \(waiting.keys.sorted()) could not be read in time")
            }
            records.removeAll(keepingCapacity: true)
            let outcome = try self.reader.poll(
                max: 5000, timeoutMilliseconds: Int(min(left, 500)), into: &records)
            for found in records { record(found) }
            for (place, end) in outcome.ends {
                if let wanted = waiting[place], end >= wanted { waiting[place] = nil }
            }
        }
    }

    func close() {
        self.reader.close()
        self.ends.close()
    }
}
