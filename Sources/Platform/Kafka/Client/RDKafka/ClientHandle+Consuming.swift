// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

// A consumer's functions of librdkafka, with typed errors. Queries write the offsets that they read into `list`.
extension ClientHandle {
    func subscribe(_ topic: String) throws(KafkaError) {
        // -1 (`RD_KAFKA_PARTITION_UA`) stands for the topic as a whole: the group assigns its partitions.
        let list = PartitionList([TopicPartition(topic, -1)])
        try unsafe self.check(rd_kafka_subscribe(self.pointer, list.pointer))
    }

    func assign(_ list: borrowing PartitionList) throws(KafkaError) {
        try unsafe self.check(rd_kafka_assign(self.pointer, list.pointer))
    }

    func unassign() throws(KafkaError) {
        try unsafe self.check(rd_kafka_assign(self.pointer, nil))
    }

    func incrementalAssign(_ list: borrowing PartitionList) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_incremental_assign(self.pointer, list.pointer))
    }

    func incrementalUnassign(_ list: borrowing PartitionList) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_incremental_unassign(self.pointer, list.pointer))
    }

    func seek(_ list: borrowing PartitionList, timeout: Duration) throws(KafkaError) {
        // Before 2.1.0 librdkafka interprets the timeout as microseconds instead of milliseconds.
        let scale: Int32 = rd_kafka_version() < 0x0201_0000 ? 1000 : 1
        try unsafe Self.check(
            rd_kafka_seek_partitions(self.pointer, list.pointer, (timeout * scale).rdkafkaMilliseconds))
        try list.check()
    }

    func readCommitted(_ list: borrowing PartitionList, timeout: Duration) throws(KafkaError) {
        try unsafe self.check(rd_kafka_committed(self.pointer, list.pointer, timeout.rdkafkaMilliseconds))
        try list.check()
    }

    func commit(_ list: borrowing PartitionList) throws(KafkaError) {
        // 0 makes the call wait for the broker's response.
        try unsafe self.check(rd_kafka_commit(self.pointer, list.pointer, 0))
        try list.check()
    }

    func readOffsetsForTimes(_ list: borrowing PartitionList, timeout: Duration) throws(KafkaError) {
        try unsafe self.check(
            rd_kafka_offsets_for_times(self.pointer, list.pointer, timeout.rdkafkaMilliseconds))
        try list.check()
    }

    var groupMetadata: GroupMetadata? {
        unsafe GroupMetadata(consuming: rd_kafka_consumer_group_metadata(self.pointer))
    }

    /// Whether other members may already own the partitions that were assigned to this one.
    var isAssignmentLost: Bool { unsafe rd_kafka_assignment_lost(self.pointer) != 0 }

    /// Begins to leave the group; further events, such as the last revocation, are delivered to `queue`.
    func beginClosing(into queue: EventQueue) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_consumer_close_queue(self.pointer, queue.pointer))
    }

    var isClosed: Bool { unsafe rd_kafka_consumer_closed(self.pointer) != 0 }
}
