// SPDX-License-Identifier: Apache-2.0

/// Sets which partitions a consumer reads, and from which offset.
///
/// If a rebalance handler calls one of these methods, `markRebalanceHandled()` records that the handler has changed the
/// assignment itself. Then the consumer does not change it after the handler.
///
/// All methods throw `closed` after `close`, and librdkafka's error when it rejects the change.
extension KafkaConsumer {
    /// Replaces the assignment: reads exactly these partitions, each from its offset or from a `LogicalOffset`.
    package func assign(_ offsets: [TopicPartition: Int64]) throws(KafkaError) {
        self.markRebalanceHandled()
        let list = PartitionList(offsets)
        try self.client.assign(list)
    }

    /// Removes the assignment: no partition is read.
    package func unassign() throws(KafkaError) {
        self.markRebalanceHandled()
        try self.client.unassign()
    }

    /// Adds partitions to the assignment, without interrupting the reading of the assigned ones.
    package func incrementalAssign(_ offsets: [TopicPartition: Int64]) throws(KafkaError) {
        self.markRebalanceHandled()
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.incrementalAssign(list)
    }

    /// Removes partitions from the assignment, without interrupting the reading of those that stay.
    package func incrementalUnassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        self.markRebalanceHandled()
        guard !partitions.isEmpty else { return }
        let list = PartitionList(partitions)
        try self.client.incrementalUnassign(list)
    }

    /// Moves the reading positions of assigned partitions.
    package func seek(_ offsets: [TopicPartition: Int64], timeout: Duration = .seconds(5)) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.seek(list, timeout: timeout)
    }
}
