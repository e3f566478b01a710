// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

extension ClientHandle {
    func subscribe(_ topic: String) throws(KafkaError) {
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

    func pause(_ list: borrowing PartitionList) throws(KafkaError) {
        try unsafe self.check(rd_kafka_pause_partitions(self.pointer, list.pointer))
        try list.check()
    }

    func resume(_ list: borrowing PartitionList) throws(KafkaError) {
        try unsafe self.check(rd_kafka_resume_partitions(self.pointer, list.pointer))
        try list.check()
    }

    func seek(_ list: borrowing PartitionList, timeoutMilliseconds: Int) throws(KafkaError) {
        // Before 2.1.0 librdkafka waits microseconds for each partition where it was told milliseconds.
        let scale = rd_kafka_version() < 0x0201_0000 ? 1000 : 1
        try unsafe Self.check(
            rd_kafka_seek_partitions(self.pointer, list.pointer, Int32(clamping: timeoutMilliseconds * scale)))
        try list.check()
    }

    func readPositions(_ list: borrowing PartitionList) throws(KafkaError) {
        try unsafe self.check(rd_kafka_position(self.pointer, list.pointer))
    }

    func readCommitted(_ list: borrowing PartitionList, timeoutMilliseconds: Int) throws(KafkaError) {
        try unsafe self.check(rd_kafka_committed(self.pointer, list.pointer, Int32(clamping: timeoutMilliseconds)))
        try list.check()
    }

    func commit(_ list: borrowing PartitionList) throws(KafkaError) {
        try unsafe self.check(rd_kafka_commit(self.pointer, list.pointer, 0))
        try list.check()
    }

    func readOffsetsForTimes(_ list: borrowing PartitionList, timeoutMilliseconds: Int) throws(KafkaError) {
        try unsafe self.check(
            rd_kafka_offsets_for_times(self.pointer, list.pointer, Int32(clamping: timeoutMilliseconds)))
        try list.check()
    }

    var groupMetadata: GroupMetadata? {
        unsafe GroupMetadata(consuming: rd_kafka_consumer_group_metadata(self.pointer))
    }

    var isAssignmentLost: Bool { unsafe rd_kafka_assignment_lost(self.pointer) != 0 }

    /// True if the group's assignor hands partitions over one by one, so that lists are changes.
    var isCooperative: Bool {
        guard let name = unsafe rd_kafka_rebalance_protocol(self.pointer) else { return false }
        return unsafe String(cString: name) == "COOPERATIVE"
    }

    /// Begins to leave the group; what is still told, the last revocation among it, comes by `queue`.
    func beginClosing(into queue: EventQueue) throws(KafkaError) {
        try unsafe Self.check(rd_kafka_consumer_close_queue(self.pointer, queue.pointer))
    }

    var isClosed: Bool { unsafe rd_kafka_consumer_closed(self.pointer) != 0 }
}
