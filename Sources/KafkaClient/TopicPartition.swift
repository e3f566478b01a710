// SPDX-License-Identifier: Apache-2.0

/// One partition of one topic.
package struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The topic's name.
    package var topic: String
    /// The partition's number, from 0.
    package var partition: Int32

    /// Names a partition.
    package init(_ topic: String, _ partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// The order of names, then of numbers.
    package static func < (left: TopicPartition, right: TopicPartition) -> Bool {
        left.topic == right.topic ? left.partition < right.partition : left.topic < right.topic
    }

    /// The form `topic[3]`.
    package var description: String { "\(self.topic)[\(self.partition)]" }
}

/// A committed offset, with the bytes that were committed beside it.
package struct OffsetAndMetadata: Sendable, Equatable {
    /// The offset of the next record to read.
    package var offset: Int64
    /// At most 4,096 bytes; comes back exactly.
    ///
    /// A commit without it erases it.
    package var metadata: String

    /// Makes one.
    package init(offset: Int64, metadata: String = "") {
        self.offset = offset
        self.metadata = metadata
    }
}

/// Offsets that stand for a place rather than for a record.
package enum LogicalOffset {
    /// The oldest record that is kept.
    package static let beginning: Int64 = -2
    /// Behind the newest record.
    package static let end: Int64 = -1
    /// What the group committed, else the consumer's start position.
    package static let committed: Int64 = -1000
}
