// SPDX-License-Identifier: Apache-2.0

/// One partition of one topic.
package struct TopicPartition: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// The topic's name.
    package var topic: String
    /// The partition's number, from 0.
    package var partition: Int32

    /// Creates the pair of a topic and a partition number.
    package init(_ topic: String, _ partition: Int32) {
        self.topic = topic
        self.partition = partition
    }

    /// Orders by topic name, then by partition number.
    package static func < (left: TopicPartition, right: TopicPartition) -> Bool {
        left.topic == right.topic ? left.partition < right.partition : left.topic < right.topic
    }

    /// The form `topic[3]`.
    package var description: String { "\(self.topic)[\(self.partition)]" }
}

/// A committed offset with its metadata.
package struct OffsetAndMetadata: Sendable, Equatable {
    /// The offset of the next record to read.
    package var offset: Int64
    /// A text of at most 4,096 bytes, which the broker stores unchanged.
    ///
    /// A commit without metadata erases the stored metadata.
    package var metadata: String

    /// Creates an offset with its metadata.
    package init(offset: Int64, metadata: String = "") {
        self.offset = offset
        self.metadata = metadata
    }
}

/// Special offsets that stand for a position in any partition.
package enum LogicalOffset {
    /// The position of the oldest record that the broker still has.
    package static let beginning: Int64 = -2
    /// The position after the newest record.
    package static let end: Int64 = -1
}
