// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// One header of a record.
package struct KafkaHeader: Sendable, Equatable {
    /// The name; several headers of a record may have the same name.
    package var name: String
    /// The value, any bytes.
    package var value: [UInt8]

    /// Creates a header of bytes.
    package init(name: String, value: [UInt8]) {
        self.name = name
        self.value = value
    }

    /// Creates a header of text.
    package init(name: String, text: String) {
        self.init(name: name, value: Array(text.utf8))
    }
}

/// A record to send.
package struct OutgoingRecord: Sendable, Equatable {
    /// The topic.
    package var topic: String
    /// The partition, or `anyPartition` to let the key's hash decide.
    package var partition: Int32
    /// The key, or nil for none.
    package var key: [UInt8]?
    /// The value; nil means a tombstone, which differs from an empty value.
    package var value: [UInt8]?
    /// The headers, in order.
    package var headers: [KafkaHeader]

    /// A value of `partition`: librdkafka chooses the partition by the key's hash.
    package static let anyPartition: Int32 = -1

    /// Creates a record.
    package init(
        topic: String, partition: Int32 = OutgoingRecord.anyPartition, key: [UInt8]? = nil, value: [UInt8]?,
        headers: [KafkaHeader] = []
    ) {
        self.topic = topic
        self.partition = partition
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The size in bytes of the key, the value, and the names and values of the headers.
    package var bytes: Int {
        self.headers.reduce((self.key?.count ?? 0) + (self.value?.count ?? 0)) {
            $0 + $1.name.utf8.count + $1.value.count
        }
    }
}

/// A record that was read.
package struct IncomingRecord: Sendable, Equatable {
    /// The topic.
    package var topic: String
    /// The partition.
    package var partition: Int32
    /// The offset in the partition.
    package var offset: Int64
    /// The record's time, or one before 1970 if it is unknown.
    ///
    /// The topic's configuration decides whether it is the time when the broker appended the record or the time when
    /// the producer created it.
    package var timestamp: Timestamp
    /// The key, or nil for none.
    package var key: [UInt8]?
    /// The value, or nil for a tombstone.
    package var value: [UInt8]?
    /// The headers, in order.
    package var headers: [KafkaHeader]

    /// Creates a record, for tests and for logs that are not in Kafka.
    package init(
        topic: String, partition: Int32, offset: Int64, timestamp: Timestamp, key: [UInt8]?, value: [UInt8]?,
        headers: [KafkaHeader] = []
    ) {
        self.topic = topic
        self.partition = partition
        self.offset = offset
        self.timestamp = timestamp
        self.key = key
        self.value = value
        self.headers = headers
    }

    /// The topic and partition from which the record was read.
    package var topicPartition: TopicPartition { TopicPartition(self.topic, self.partition) }

    /// The value of the first header with this name; nil when there is none.
    package func header(_ name: String) -> [UInt8]? {
        self.headers.first { $0.name == name }?.value
    }
}
