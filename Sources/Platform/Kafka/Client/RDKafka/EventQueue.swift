// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka
internal import FoundationEssentials

/// An event of a Kafka client, copied from an event of librdkafka, the Kafka library.
enum ClientEvent {
    /// A record was received and appended to the caller's array.
    case record
    /// The end of a partition was reached; `offset` is one past its last record or transaction marker.
    case endOfPartition(TopicPartition, offset: Int64)
    /// An error of one partition.
    case partitionFailed(TopicPartition, KafkaError)
    /// An error of the whole client.
    case failed(KafkaError)
    /// The group assigned these partitions to the consumer.
    case assigned([TopicPartition])
    /// The group revoked these partitions.
    case revoked([TopicPartition])
    case statistics(KafkaStatistics)
    /// An event that needs no handling.
    case other
}

/// Owns a reference to one of librdkafka's queues of a client's events, and retains the client.
///
/// It is `@unchecked Sendable` because librdkafka locks the queue itself; `wakeUp` is called from any thread.
@safe final class EventQueue: @unchecked Sendable {
    let client: ClientHandle
    let pointer: OpaquePointer

    /// Takes a reference to the queue that receives all events of the client.
    init(_ role: ClientHandle.Role, of client: ClientHandle) {
        self.client = client
        unsafe self.pointer =
            role == .consumer
            ? rd_kafka_queue_get_consumer(client.pointer) : rd_kafka_queue_get_main(client.pointer)
    }

    /// Creates a queue for a single request.
    init(temporaryOf client: ClientHandle) {
        self.client = client
        unsafe self.pointer = rd_kafka_queue_new(client.pointer)
    }

    deinit { unsafe rd_kafka_queue_destroy(self.pointer) }

    /// Makes a waiting `next` return nil at once.
    ///
    /// If no `next` waits, the next call that would wait returns nil instead. Any thread may call this method.
    func wakeUp() { unsafe rd_kafka_queue_yield(self.pointer) }

    /// Waits for the next event.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait; nil waits until there is an event.
    ///   - names: the cache of topic names.
    ///   - records: the array to which the record is appended, if the event is a record.
    ///   - deliver: receives the delivery reports. `rd_kafka_flush` returns only after `deliver` was called for each.
    /// - Returns: nil after the timeout or a wake-up.
    func next(
        timeout: Duration?, names: inout TopicNames, into records: inout [IncomingRecord],
        deliver: (DeliveryReport) -> Void = { _ in }
    ) -> ClientEvent? {
        guard let event = unsafe rd_kafka_queue_poll(self.pointer, timeout?.rdkafkaMilliseconds ?? -1) else {
            return nil
        }
        defer { unsafe rd_kafka_event_destroy(event) }
        switch unsafe rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_FETCH:
            // An event of this type contains a single record.
            guard let message = unsafe rd_kafka_event_message_next(event) else { return .other }
            unsafe records.append(IncomingRecord(message, names: &names))
            return .record
        case RD_KAFKA_EVENT_DR:
            unsafe Self.reportDeliveries(event, names: &names, deliver)
            return .other
        case RD_KAFKA_EVENT_REBALANCE:
            guard let list = unsafe rd_kafka_event_topic_partition_list(event) else { return .other }
            let partitions = unsafe PartitionList.entries(of: list).map(\.partition)
            let isAssignment = unsafe rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
            return isAssignment ? .assigned(partitions) : .revoked(partitions)
        case RD_KAFKA_EVENT_ERROR:
            return unsafe self.errorEvent(event)
        case RD_KAFKA_EVENT_STATS:
            guard let text = unsafe rd_kafka_event_stats(event),
                let statistics = try? unsafe KafkaStatistics(json: Data(String(cString: text).utf8))
            else { return .other }
            return .statistics(statistics)
        default:
            return .other
        }
    }

    /// Copies an error event: an error of the client or of a partition, or the end of a partition.
    private func errorEvent(_ event: OpaquePointer) -> ClientEvent {
        let code = unsafe rd_kafka_event_error(event)
        if unsafe rd_kafka_event_error_is_fatal(event) != 0, let cause = self.client.fatalError {
            return .failed(cause)
        }
        let text: String? =
            if let text = unsafe rd_kafka_event_error_string(event) { unsafe String(cString: text) } else { nil }
        let error = KafkaError(code: code, text: text)
        guard let entry = unsafe rd_kafka_event_topic_partition(event) else { return .failed(error) }
        defer { unsafe rd_kafka_topic_partition_destroy(entry) }
        let partition = unsafe TopicPartition(String(cString: entry.pointee.topic), entry.pointee.partition)
        if code == RD_KAFKA_RESP_ERR__PARTITION_EOF {
            return unsafe .endOfPartition(partition, offset: entry.pointee.offset)
        }
        return .partitionFailed(partition, error)
    }

    /// Passes each delivery report of an event to `deliver`.
    private static func reportDeliveries(
        _ event: OpaquePointer, names: inout TopicNames, _ deliver: (DeliveryReport) -> Void
    ) {
        while let message = unsafe rd_kafka_event_message_next(event) {
            let code = unsafe message.pointee.err
            unsafe deliver(
                DeliveryReport(
                    token: UInt64(UInt(bitPattern: message.pointee._private)),
                    topic: names.name(rd_kafka_topic_name(message.pointee.rkt)),
                    partition: message.pointee.partition,
                    offset: code == RD_KAFKA_RESP_ERR_NO_ERROR ? message.pointee.offset : -1,
                    bytes: message.pointee.key_len + message.pointee.len,
                    error: code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code: code)))
        }
    }
}
