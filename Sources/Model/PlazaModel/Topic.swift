// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The Kafka topics (docs/TOPICS.md), their retention, and the partitioner.
package enum PlazaTopic: String, CaseIterable, Sendable {
    case directoryInbox = "directory.inbox"
    case audienceInbox = "audience.inbox"
    case barrageInbox = "barrage.inbox"
    case seatInbox = "seat.inbox"
    case connectionInbox = "connection.inbox"
    case directoryState = "directory.state"
    case audienceState = "audience.state"
    case barrageState = "barrage.state"
    case seatState = "seat.state"
    case connectionState = "connection.state"
    case rooms
    case stages
    case audienceCounts = "audience.counts"
    case apps
    case roomFeed = "room.feed"
    case userNotices = "user.notices"
    case replies
    case webhooks
    case deadLetters = "dead.letters"

    /// The largest size of a record or a batch of records in bytes, in every topic and for every Kafka client.
    ///
    /// Rows and records are limited to less than half of this size (R17.6). The default of a Kafka broker is 12 bytes
    /// higher, so a topic that was created without this setting accepts the same records.
    package static let maxMessageBytes = 1024 * 1024

    /// How long the broker keeps the topic's records.
    package enum Retention: Sendable, Equatable {
        /// The last record of each key.
        case compacted
        /// All records, for this time.
        case time(milliseconds: Int64)
    }

    /// The topic's retention.
    package var retention: Retention {
        switch self {
        case .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox, .roomFeed,
            .webhooks:
            .time(milliseconds: 24 * 3_600_000)
        case .directoryState, .audienceState, .barrageState, .seatState, .connectionState, .rooms, .stages,
            .audienceCounts, .apps:
            .compacted
        case .deadLetters: .time(milliseconds: 14 * 24 * 3_600_000)
        case .userNotices: .time(milliseconds: 3_600_000)
        case .replies: .time(milliseconds: 10 * 60_000)
        }
    }

    /// The topic's settings on a broker: retention, record size, and timestamps set by the broker.
    package var configuration: [String: String] {
        var settings = [
            "message.timestamp.type": "LogAppendTime", "max.message.bytes": "\(Self.maxMessageBytes)",
        ]
        switch self.retention {
        case .compacted:
            // Compact frequently; otherwise a restart would replay minutes of old counts.
            settings["cleanup.policy"] = "compact"
            // 16 MiB.
            settings["segment.bytes"] = "16777216"
            settings["segment.ms"] = "60000"
            settings["min.cleanable.dirty.ratio"] = "0.1"
        case .time(let milliseconds):
            settings["cleanup.policy"] = "delete"
            settings["retention.ms"] = "\(milliseconds)"
            // 64 MiB.
            settings["segment.bytes"] = "67108864"
        }
        return settings
    }

    /// The partition of `key` among `count` partitions: FNV-1a over the key's bytes, folded and mixed.
    ///
    /// All writers must compute the same partition.
    package static func partition(of key: String, among count: Int) -> Int {
        var hash = FNV1a.hash(key)
        hash ^= hash >> 32
        // The factor, 2^64 divided by the golden ratio, spreads the bits. The high bits decide, because a
        // multiplication carries bits only upwards.
        return Int(((hash &* 0x9E37_79B9_7F4A_7C15) >> 33) % UInt64(max(1, count)))
    }
}
