// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka
internal import MachineKit

extension IncomingRecord {
    /// Copies a message; the record shares no memory with librdkafka.
    init(_ message: UnsafePointer<rd_kafka_message_t>, names: inout TopicNames) {
        var timestampKind = RD_KAFKA_TIMESTAMP_NOT_AVAILABLE
        let timestamp = unsafe rd_kafka_message_timestamp(message, &timestampKind)
        unsafe self.init(
            topic: names.name(rd_kafka_topic_name(message.pointee.rkt)), partition: message.pointee.partition,
            offset: message.pointee.offset, timestamp: Timestamp(milliseconds: timestamp),
            key: Self.bytes(message.pointee.key, message.pointee.key_len),
            value: Self.bytes(message.pointee.payload, message.pointee.len), headers: Self.headers(message))
    }

    private static func bytes(_ start: UnsafeMutableRawPointer?, _ count: Int) -> [UInt8]? {
        guard let start = unsafe start else { return nil }
        return unsafe [UInt8](UnsafeRawBufferPointer(start: start, count: count))
    }

    private static func headers(_ message: UnsafePointer<rd_kafka_message_t>) -> [KafkaHeader] {
        var list: OpaquePointer?
        guard unsafe rd_kafka_message_headers(message, &list) == RD_KAFKA_RESP_ERR_NO_ERROR else { return [] }
        let count = unsafe rd_kafka_header_cnt(list)
        var headers: [KafkaHeader] = []
        headers.reserveCapacity(count)
        for index in 0..<count {
            var name: UnsafePointer<CChar>?
            var value: UnsafeRawPointer?
            var size = 0
            guard unsafe rd_kafka_header_get_all(list, index, &name, &value, &size) == RD_KAFKA_RESP_ERR_NO_ERROR,
                let name = unsafe name
            else { break }
            unsafe headers.append(
                KafkaHeader(
                    name: String(cString: name), value: [UInt8](UnsafeRawBufferPointer(start: value, count: size))))
        }
        return headers
    }
}

extension ClientHandle {
    /// Puts a record into the producer's queue; never blocks.
    ///
    /// `opaque` becomes the token of the delivery report.
    func produce(_ record: borrowing OutgoingRecord, opaque: UInt64) throws(KafkaError) {
        let headers = unsafe Self.headers(record.headers)
        let code = unsafe Self.withBytes(record.key) { key, keyCount in
            unsafe Self.withBytes(record.value) { value, valueCount in
                unsafe plaza_rd_kafka_produce(
                    self.pointer, record.topic, record.partition, key, keyCount, value, valueCount, headers,
                    UnsafeMutableRawPointer(bitPattern: UInt(opaque)))
            }
        }
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        // After a failure librdkafka has not taken the headers over.
        if let headers = unsafe headers { unsafe rd_kafka_headers_destroy(headers) }
        try self.check(code)
    }

    /// Makes librdkafka's list of headers; nil if there is no header.
    private static func headers(_ headers: [KafkaHeader]) -> OpaquePointer? {
        guard !headers.isEmpty, let list = unsafe rd_kafka_headers_new(headers.count) else { return nil }
        for header in headers {
            unsafe Self.withBytes(header.value) { value, count in
                _ = unsafe rd_kafka_header_add(list, header.name, header.name.utf8.count, value, count)
            }
        }
        return unsafe list
    }

    /// Calls `body` with the address and the number of the bytes.
    ///
    /// Nil is passed as a null pointer, which Kafka stores as null. Empty bytes are passed as a valid address with
    /// length 0.
    private static func withBytes<R>(_ bytes: [UInt8]?, _ body: (UnsafeRawPointer?, Int) -> R) -> R {
        guard let bytes else { return body(nil, 0) }
        return unsafe bytes.withUnsafeBytes { buffer in
            var empty: UInt8 = 0
            if let start = buffer.baseAddress { return unsafe body(start, buffer.count) }
            return unsafe withUnsafeBytes(of: &empty) { unsafe body($0.baseAddress, 0) }
        }
    }
}
