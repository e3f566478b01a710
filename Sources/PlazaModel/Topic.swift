// SPDX-License-Identifier: Apache-2.0

/// The Kafka topics (docs/TOPICS.md), and which partition a key belongs to.
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

    /// How records of the topic are kept.
    package enum Retention: Sendable, Equatable {
        /// The last record of each key.
        case compacted
        /// All records, for so many milliseconds.
        case time(milliseconds: Int64)
    }

    /// How long records are kept (design 5).
    package var retention: Retention {
        switch self {
        case .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox, .roomFeed,
            .webhooks:
            .time(milliseconds: 24 * 3_600_000)
        case .directoryState, .audienceState, .barrageState, .seatState, .connectionState, .rooms, .stages,
            .audienceCounts, .apps:
            .compacted
        case .userNotices: .time(milliseconds: 3_600_000)
        case .replies: .time(milliseconds: 600_000)
        }
    }

    /// The topic's settings on a broker: retention, and the broker's own time on each record.
    package var configuration: [String: String] {
        var settings = ["message.timestamp.type": "LogAppendTime"]
        switch self.retention {
        case .compacted:
            // Without these a restart replays minutes of old counts.
            settings["cleanup.policy"] = "compact"
            settings["segment.bytes"] = "16777216"
            settings["segment.ms"] = "60000"
            settings["min.cleanable.dirty.ratio"] = "0.1"
        case .time(let milliseconds):
            settings["cleanup.policy"] = "delete"
            settings["retention.ms"] = "\(milliseconds)"
            settings["segment.bytes"] = "67108864"
        }
        return settings
    }

    /// The partition of `key` among `count`: FNV-1a over the key's bytes, folded and remixed, the same for every writer.
    package static func partition(of key: String, among count: Int) -> Int {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in key.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
        hash ^= hash >> 32
        // The high bits, for a multiplication mixes upwards. (In Swift a shift binds tighter than a product.)
        return Int(((hash &* 0x9E37_79B9_7F4A_7C15) >> 33) % UInt64(max(1, count)))
    }
}
