// SPDX-License-Identifier: Apache-2.0

/// The result of a poll, besides the records.
package struct PollOutcome: Sendable, Equatable {
    /// The number of records that were appended to the caller's array.
    package var recordCount = 0
    /// The partitions whose end was reached, each with the offset after its last record or transaction marker.
    package var reachedEnds: [TopicPartition: Int64] = [:]
    /// The partitions with an error; most of these errors are transient.
    package var partitionErrors: [TopicPartition: KafkaError] = [:]
    /// Errors of the whole client, such as unreachable brokers; they are transient.
    package var errors: [KafkaError] = []
    /// True if the group assigned or revoked partitions and the rebalance handler was called.
    package var hasRebalanced = false
    /// True if `ConsumerWaker.wakeUp` was called since the last poll.
    package var wasWoken = false

    /// Creates the result of a poll in which nothing happened.
    package init() {}
}

/// A change of the consumer's assignment, reported inside `poll` and `close`.
package enum RebalanceEvent: Sendable, Equatable {
    /// These partitions are assigned.
    ///
    /// To choose where to begin, the handler calls `assign`. If it does not, the consumer assigns the partitions when
    /// the handler returns. The handler may take up to five minutes (`max.poll.interval.ms`).
    case assigned([TopicPartition])
    /// These partitions are about to be revoked.
    ///
    /// The handler finishes all work on them, and then calls `unassign`. If it does not, the consumer unassigns the
    /// partitions when the handler returns. If `lost` is true, another member may already own them, and commits for
    /// them fail.
    case revoked([TopicPartition], lost: Bool)
}

/// Which records of transactions a consumer reads.
package enum IsolationLevel: Sendable {
    /// Only committed records. Records after the beginning of an open transaction are returned only after its end.
    case committed
    /// All records, including those of aborted transactions.
    case uncommitted
}
