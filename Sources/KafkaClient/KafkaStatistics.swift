// SPDX-License-Identifier: Apache-2.0
package import FoundationEssentials

/// What a client tells of itself, for metrics.
package struct KafkaStatistics: Sendable, Equatable {
    /// One broker as this client sees it.
    package struct Broker: Sendable, Equatable {
        /// `host:port/id`.
        package var name: String
        /// The state of the connection, such as `UP` or `DOWN`.
        package var state: String
        /// The mean time of a request, in microseconds.
        package var roundTripMicroseconds: Int
        /// Requests that wait to be sent.
        package var waitingToSend: Int
        /// Requests that wait for their answer.
        package var waitingForAnswer: Int
        /// Failures to send.
        package var sendErrors: Int
        /// Failures to receive.
        package var receiveErrors: Int
        /// Requests that were not answered in time.
        package var timeouts: Int
    }

    /// The client's name.
    package var name: String
    /// `producer` or `consumer`.
    package var type: String
    /// Records in the queue of a producer.
    package var queuedRecords: Int
    /// Their bytes.
    package var queuedBytes: Int
    /// The limit of `queuedRecords`.
    package var queueLimit: Int
    /// Events that wait to be taken.
    package var waitingEvents: Int
    /// Records sent.
    package var sentRecords: Int
    /// Bytes of records sent.
    package var sentBytes: Int
    /// Records received.
    package var receivedRecords: Int
    /// Bytes of records received.
    package var receivedBytes: Int
    /// The brokers, by name.
    package var brokers: [Broker]
    /// How far each assigned partition is behind; those of which it is not known are left out.
    package var lag: [TopicPartition: Int64]
    /// Rebalances since the start.
    package var rebalances: Int
    /// The state of the transactional producer, or an empty text.
    package var transactionState: String

    /// Reads librdkafka's JSON.
    ///
    /// - Throws: `DecodingError` if it is no statistics.
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
                waitingToSend: broker.outbuf_cnt ?? 0, waitingForAnswer: broker.waitresp_cnt ?? 0,
                sendErrors: broker.txerrs ?? 0, receiveErrors: broker.rxerrs ?? 0, timeouts: broker.req_timeouts ?? 0)
        }.sorted { $0.name < $1.name }
        self.lag = [:]
        for topic in (root.topics ?? [:]).values {
            for partition in (topic.partitions ?? [:]).values {
                guard partition.partition >= 0, let lag = partition.consumer_lag, lag >= 0 else { continue }
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
            var consumer_lag: Int64?
        }
        var topic: String
        var partitions: [String: Partition]?
    }

    private struct GroupEntry: Decodable { var rebalance_cnt: Int? }
    private struct TransactionEntry: Decodable { var txn_state: String? }
}
