// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// The statistics of a Kafka client, for metrics.
package struct KafkaStatistics: Sendable, Equatable {
    /// One broker as this client sees it.
    package struct Broker: Sendable, Equatable {
        /// `host:port/id`.
        package var name: String
        /// The state of the connection, such as `UP` or `DOWN`.
        package var state: String
        /// The mean time from a request to its response, in microseconds.
        package var roundTripMicroseconds: Int
        /// The number of requests that are queued to be sent.
        package var queuedRequests: Int
        /// The number of requests in flight.
        package var inFlightRequests: Int
        /// The number of failures to send.
        package var sendErrors: Int
        /// The number of failures to receive.
        package var receiveErrors: Int
        /// The number of requests that timed out.
        package var timeouts: Int
    }

    /// The name that librdkafka gave the client.
    package var name: String
    /// `producer` or `consumer`.
    package var type: String
    /// The number of records in a producer's queue.
    package var queuedRecords: Int
    /// The bytes of the records in a producer's queue.
    package var queuedBytes: Int
    /// The capacity of a producer's queue, in records.
    package var queueLimit: Int
    /// The number of events, such as delivery reports, that wait in librdkafka for this process to handle them.
    package var waitingEvents: Int
    /// The number of records sent.
    package var sentRecords: Int
    /// The bytes of the records sent.
    package var sentBytes: Int
    /// The number of records received.
    package var receivedRecords: Int
    /// The bytes of the records received.
    package var receivedBytes: Int
    /// The brokers, by name.
    package var brokers: [Broker]
    /// The number of offsets between what the application has read and the end of each assigned partition; partitions
    /// whose end is not known are left out.
    ///
    /// librdkafka's own `consumer_lag` is not used, because it counts from the committed offset that this consumer
    /// knows. Readers without a group have no such offset, and offsets that a transaction commits do not change it.
    package var lag: [TopicPartition: Int64]
    /// The number of rebalances since the start.
    package var rebalances: Int
    /// The state of a transactional producer; empty for other clients.
    package var transactionState: String

    /// Parses librdkafka's JSON.
    ///
    /// - Throws: `DecodingError` if the JSON has another form.
    package init(json: Data) throws {
        let root = try JSONDecoder().decode(Root.self, from: json)
        self.name = root.name
        self.type = root.type
        self.queuedRecords = root.msg_cnt ?? 0
        self.queuedBytes = root.msg_size ?? 0
        self.queueLimit = root.msg_max ?? 0
        self.waitingEvents = root.replyq ?? 0
        self.sentRecords = root.txmsgs ?? 0
        self.sentBytes = root.txmsg_bytes ?? 0
        self.receivedRecords = root.rxmsgs ?? 0
        self.receivedBytes = root.rxmsg_bytes ?? 0
        self.brokers = (root.brokers ?? [:]).values.map { broker in
            Broker(
                name: broker.name, state: broker.state, roundTripMicroseconds: broker.rtt?.avg ?? 0,
                queuedRequests: broker.outbuf_cnt ?? 0, inFlightRequests: broker.waitresp_cnt ?? 0,
                sendErrors: broker.txerrs ?? 0, receiveErrors: broker.rxerrs ?? 0, timeouts: broker.req_timeouts ?? 0)
        }.sorted { $0.name < $1.name }
        self.lag = [:]
        for topic in (root.topics ?? [:]).values {
            for partition in (topic.partitions ?? [:]).values {
                guard partition.partition >= 0, let lag = partition.lag else { continue }
                self.lag[TopicPartition(topic.topic, partition.partition)] = lag
            }
        }
        self.rebalances = root.cgrp?.rebalance_cnt ?? 0
        self.transactionState = root.eos?.txn_state ?? ""
    }

    // The names below are those of librdkafka's JSON.
    private struct Root: Decodable {
        var name: String
        var type: String
        var replyq: Int?
        var msg_cnt: Int?
        var msg_size: Int?
        var msg_max: Int?
        var txmsgs: Int?
        var txmsg_bytes: Int?
        var rxmsgs: Int?
        var rxmsg_bytes: Int?
        var brokers: [String: BrokerEntry]?
        var topics: [String: TopicEntry]?
        var cgrp: GroupEntry?
        var eos: TransactionEntry?
    }

    private struct BrokerEntry: Decodable {
        struct Window: Decodable { var avg: Int }
        var name: String
        var state: String
        var rtt: Window?
        var outbuf_cnt: Int?
        var waitresp_cnt: Int?
        var txerrs: Int?
        var rxerrs: Int?
        var req_timeouts: Int?
    }

    private struct TopicEntry: Decodable {
        struct Partition: Decodable {
            var partition: Int32
            /// The number of records that were fetched and wait to be read, of all partitions of the consumer together.
            var fetchq_cnt: Int64?
            /// The offset that is fetched next; it is beyond transaction markers, which are not records.
            var next_offset: Int64?
            /// The offset after the last record that the application has read; negative before the first.
            var app_offset: Int64?
            /// The partition's end.
            var hi_offset: Int64?

            /// The number of offsets that were not read yet; nil if it is not known.
            var lag: Int64? {
                guard let end = self.hi_offset, let next = self.next_offset, end >= 0, next >= 0 else { return nil }
                // If no fetched record waits, the application has read all that was fetched, and markers are skipped.
                let waitingCount = self.fetchq_cnt ?? 0
                guard waitingCount > 0 else { return max(0, end - next) }
                let read = if let position = self.app_offset, position >= 0 { position } else { next - waitingCount }
                return max(0, end - read)
            }
        }
        var topic: String
        var partitions: [String: Partition]?
    }

    private struct GroupEntry: Decodable { var rebalance_cnt: Int? }
    private struct TransactionEntry: Decodable { var txn_state: String? }
}
