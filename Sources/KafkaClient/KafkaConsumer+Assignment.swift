// SPDX-License-Identifier: Apache-2.0

/// Which partitions are read, and from where.
extension KafkaConsumer {
    /// Reads exactly these partitions, each from its offset; `LogicalOffset` has those that stand for a place.
    package func assign(_ offsets: [TopicPartition: Int64]) throws(KafkaError) {
        self.answered()
        let list = PartitionList(offsets)
        try self.client.assign(list)
    }

    /// Reads exactly these partitions, from the committed offsets or else the start position.
    package func assign(_ partitions: [TopicPartition]) throws(KafkaError) {
        self.answered()
        let list = PartitionList(partitions)
        try self.client.assign(list)
    }

    /// Reads nothing.
    package func unassign() throws(KafkaError) {
        self.answered()
        try self.client.unassign()
    }

    /// Reads these partitions besides, without disturbing the others.
    package func incrementalAssign(_ offsets: [TopicPartition: Int64]) throws(KafkaError) {
        self.answered()
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.incrementalAssign(list)
    }

    /// Reads these partitions no longer, without disturbing the others.
    package func incrementalUnassign(_ partitions: [TopicPartition]) throws(KafkaError) {
        self.answered()
        guard !partitions.isEmpty else { return }
        let list = PartitionList(partitions)
        try self.client.incrementalUnassign(list)
    }

    /// Takes no more of these partitions until `resume`; what was fetched of them already is dropped and read again.
    package func pause(_ partitions: [TopicPartition]) throws(KafkaError) {
        let list = PartitionList(partitions)
        try self.client.pause(list)
    }

    /// Goes on with these partitions.
    package func resume(_ partitions: [TopicPartition]) throws(KafkaError) {
        let list = PartitionList(partitions)
        try self.client.resume(list)
    }

    /// Goes on at another offset of an assigned partition; records of before do not come any more.
    package func seek(_ partition: TopicPartition, to offset: Int64, timeoutMilliseconds: Int = 5000)
        throws(KafkaError)
    {
        try self.seek([partition: offset], timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Goes on at other offsets of assigned partitions.
    package func seek(_ offsets: [TopicPartition: Int64], timeoutMilliseconds: Int = 5000) throws(KafkaError) {
        guard !offsets.isEmpty else { return }
        let list = PartitionList(offsets)
        try self.client.seek(list, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// The offset behind the last record that `poll` gave, or nil if it gave none since the assignment.
    package func position(_ partition: TopicPartition) throws(KafkaError) -> Int64? {
        let list = PartitionList([partition])
        try self.client.readPositions(list)
        return list.entries.first.flatMap { $0.offset >= 0 ? $0.offset : nil }
    }

    /// True while partitions are being revoked that already belong to another member.
    package var assignmentLost: Bool { (try? self.client)?.isAssignmentLost ?? false }
}
