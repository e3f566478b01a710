// SPDX-License-Identifier: Apache-2.0
package import KafkaClient
package import MachineKit
package import PlazaModel
internal import PlazaWire

/// A record of a topic, as the replay of a live or of a user reads it.
package struct TopicEntry: Equatable, Sendable {
    package var topic: PlazaTopic
    package var partition: Int32
    package var offset: Int64
    /// When the broker appended the record.
    package var time: Timestamp
    package var key: String
    /// The value; nil in a tombstone.
    package var value: [UInt8]?
    package var headers: [String: [UInt8]]

    package init(
        _ topic: PlazaTopic, partition: Int32 = 0, offset: Int64, time: Timestamp, key: String, value: [UInt8]?,
        headers: [String: [UInt8]] = [:]
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.time = time
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The entry of a record that was read from Kafka; nil if its topic does not belong to LivePlaza.
    package init?(_ record: IncomingRecord) {
        guard let topic = PlazaTopic(rawValue: record.topic) else { return nil }
        self.init(
            topic, partition: record.partition, offset: record.offset,
            time: record.timestamp,
            key: record.key.map { String(decoding: $0, as: UTF8.self) } ?? "", value: record.value,
            headers: Dictionary(record.headers.map { ($0.name, $0.value) }) { first, _ in first })
    }

    /// Where the record is: `topic partition:offset`.
    package var location: String { "\(self.topic.rawValue) \(self.partition):\(self.offset)" }

    /// Decodes the value; nil for a tombstone, and for a value that this program cannot decode, for example one of a
    /// newer version.
    package func decode<Value: Decodable>(_ type: Value.Type) -> Value? {
        self.value.flatMap { try? Wire.decode(type, from: $0) }
    }

    /// Whether this entry comes before another in a replay.
    ///
    /// Entries are sorted by the broker's time. Of entries with the same time, those of the feed come last, so that a
    /// state comes before the feed item that announces it. Entries of one partition are sorted by offset.
    static func isBefore(_ first: TopicEntry, _ second: TopicEntry) -> Bool {
        let firstRank = first.topic == .roomFeed ? 1 : 0
        let secondRank = second.topic == .roomFeed ? 1 : 0
        return (first.time.milliseconds, firstRank, first.topic.rawValue, first.partition, first.offset)
            < (second.time.milliseconds, secondRank, second.topic.rawValue, second.partition, second.offset)
    }
}
