// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka
internal import FoundationEssentials

/// What a client has to tell, copied out of librdkafka's event.
enum ClientEvent {
    /// A record was appended to the caller's array.
    case record
    case endOfPartition(TopicPartition, offset: Int64)
    case partitionFailed(TopicPartition, KafkaError)
    case failed(KafkaError)
    case assigned([TopicPartition])
    case revoked([TopicPartition])
    case statistics(KafkaStatistics)
    /// Nothing that concerns us.
    case other
}

/// Owns a reference to one of a client's queues, and the client with it.
///
/// `@unchecked Sendable`: the queue is locked inside librdkafka; `wake` is called from any thread.
@safe final class EventQueue: @unchecked Sendable {
    let client: ClientHandle
    let pointer: OpaquePointer

    /// The queue by which the client tells everything.
    init(_ role: ClientHandle.Role, of client: ClientHandle) {
        self.client = client
        unsafe self.pointer =
            role == .consumer
            ? rd_kafka_queue_get_consumer(client.pointer) : rd_kafka_queue_get_main(client.pointer)
    }

    /// A new queue, for one purpose.
    init(temporaryOf client: ClientHandle) {
        self.client = client
        unsafe self.pointer = rd_kafka_queue_new(client.pointer)
    }

    deinit { unsafe rd_kafka_queue_destroy(self.pointer) }

    /// Makes a call of `next` that waits, or the next one that would, return nil at once.
    ///
    /// Any thread may call it.
    func wake() { unsafe rd_kafka_queue_yield(self.pointer) }

    /// Waits for the next event.
    ///
    /// - Parameters:
    ///   - timeoutMilliseconds: how long to wait; -1 is until there is one.
    ///   - names: the names of topics met before.
    ///   - records: takes a record, if the event is one.
    ///   - deliver: takes the fates of records that were sent. `flush` goes on only when it was called for all.
    /// - Returns: nil after the time, or when woken.
    func next(
        timeoutMilliseconds: Int, names: inout TopicNames, into records: inout [IncomingRecord],
        deliver: (Delivery) -> Void = { _ in }
    ) -> ClientEvent? {
        guard let event = unsafe rd_kafka_queue_poll(self.pointer, Int32(clamping: timeoutMilliseconds)) else {
            return nil
        }
        defer { unsafe rd_kafka_event_destroy(event) }
        switch unsafe rd_kafka_event_type(event) {
        case RD_KAFKA_EVENT_FETCH:
            guard let message = unsafe rd_kafka_event_message_next(event) else { return .other }
            unsafe records.append(IncomingRecord(message, names: &names))
            return .record
        case RD_KAFKA_EVENT_DR:
            unsafe Self.tellDeliveries(event, names: &names, deliver)
            return .other
        case RD_KAFKA_EVENT_REBALANCE:
            guard let list = unsafe rd_kafka_event_topic_partition_list(event) else { return .other }
            let partitions = unsafe PartitionList.entries(of: list).map(\.partition)
            let isAssignment = unsafe rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
            return isAssignment ? .assigned(partitions) : .revoked(partitions)
        case RD_KAFKA_EVENT_ERROR:
            return unsafe self.failure(event)
        case RD_KAFKA_EVENT_STATS:
            guard let text = unsafe rd_kafka_event_stats(event),
                let statistics = try? unsafe KafkaStatistics(json: Data(String(cString: text).utf8))
            else { return .other }
            return .statistics(statistics)
        default:
            return .other
        }
    }

    private func failure(_ event: OpaquePointer) -> ClientEvent {
        let code = unsafe rd_kafka_event_error(event)
        if unsafe rd_kafka_event_error_is_fatal(event) != 0, let cause = self.client.fatalError {
            return .failed(cause)
        }
        let text: String? =
            if let text = unsafe rd_kafka_event_error_string(event) { unsafe String(cString: text) } else { nil }
        let error = KafkaError(code: code, text: text)
        guard let place = unsafe rd_kafka_event_topic_partition(event) else { return .failed(error) }
        defer { unsafe rd_kafka_topic_partition_destroy(place) }
        let partition = unsafe TopicPartition(String(cString: place.pointee.topic), place.pointee.partition)
        if code == RD_KAFKA_RESP_ERR__PARTITION_EOF {
            return unsafe .endOfPartition(partition, offset: place.pointee.offset)
        }
        return .partitionFailed(partition, error)
    }

    private static func tellDeliveries(
        _ event: OpaquePointer, names: inout TopicNames, _ deliver: (Delivery) -> Void
    ) {
        while let message = unsafe rd_kafka_event_message_next(event) {
            let code = unsafe message.pointee.err
            unsafe deliver(
                Delivery(
                    token: UInt64(UInt(bitPattern: message.pointee._private)),
                    topic: names.name(rd_kafka_topic_name(message.pointee.rkt)),
                    partition: message.pointee.partition,
                    offset: code == RD_KAFKA_RESP_ERR_NO_ERROR ? message.pointee.offset : -1,
                    error: code == RD_KAFKA_RESP_ERR_NO_ERROR ? nil : KafkaError(code: code)))
        }
    }
}
