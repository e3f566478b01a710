// SPDX-License-Identifier: Apache-2.0

/// What a poll met beside records.
package struct PollOutcome: Sendable, Equatable {
    /// Records appended.
    package var count = 0
    /// Partitions whose end was reached, with the offset behind all that is there, markers of transactions included.
    package var ends: [TopicPartition: Int64] = [:]
    /// Partitions that have a problem; most pass by themselves.
    package var partitionErrors: [TopicPartition: KafkaError] = [:]
    /// Problems of the client as a whole, such as brokers that are away; they pass by themselves.
    package var errors: [KafkaError] = []
    /// True if the group gave or took partitions, and the rebalance handler was called.
    package var rebalanced = false
    /// True if somebody called `wake` since the last poll.
    package var woken = false
}

/// The group's decision about this consumer, told inside `poll` and `close`.
package enum RebalanceEvent: Sendable, Equatable {
    /// These are ours now. Call `assign` when ready to read them, at the latest within five minutes.
    case assigned([TopicPartition])
    /// These are ours no longer when the handler returns. End what is open for them, then call `unassign`.
    ///
    /// With `lost` they already belong to another: whatever is committed for them is refused.
    case revoked([TopicPartition], lost: Bool)
}

/// Which records of transactions a consumer sees.
package enum IsolationLevel: Sendable {
    /// Only those that were committed; records behind an open transaction wait for its end.
    case committed
    /// All, those of aborted transactions too.
    case uncommitted
}

/// Where a consumer starts in a partition that has no committed offset.
package enum StartPosition: Sendable {
    /// At the oldest record.
    case earliest
    /// Behind the newest record.
    case latest
    /// Nowhere: the poll reports the partition's error.
    case fail
}

/// Makes a consumer's `poll` return, from any thread; does nothing once the consumer is closed.
package struct ConsumerWaker: Sendable {
    let target: WakeTarget

    /// Makes the poll that waits, or else the next one that would, return at once.
    package func wake() { self.target.wake() }
}
