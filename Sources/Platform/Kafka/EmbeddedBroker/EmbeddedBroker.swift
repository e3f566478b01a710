// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka
internal import MachineKit

/// A Kafka broker in memory: librdkafka's own test broker, to which other processes connect by TCP.
///
/// It is meant for demos and tests. It stores nothing on disk and guarantees less than Kafka:
/// - It listens on free ports of 127.0.0.1, which cannot be chosen; `bootstrap` contains these ports.
/// - It accepts offsets in a transaction but loses them, and consumers see aborted records. Commits without a
///   transaction work.
/// - A partition keeps 5 MB, then drops its oldest records; there is no compaction. Timestamps are those of the
///   producers.
/// - New records do not complete a pending fetch: use a `fetch.wait.max.ms` of about 5 ms.
/// - A group's first join takes 3 s, and a member with a shorter session timeout is removed before it has joined. Each
///   later rebalance takes the session timeout minus 1 s. These times cannot be configured. Therefore consumers must
///   use `sessionTimeout`.
/// - Topics are created by `init` and `createTopic`; a client's request to create a topic is rejected. If a client uses
///   a topic that does not exist, the broker creates it with four partitions, even if the client forbids that.
///
/// `@unchecked Sendable`: its functions may be called from any thread; the cluster's own thread does the work.
@safe package final class EmbeddedBroker: @unchecked Sendable {
    /// The bootstrap addresses for clients: `host:port`, separated by commas.
    package let bootstrap: String

    /// The session timeout that group members need, because a group's first join takes 3 s.
    package static let sessionTimeout: Duration = .seconds(4)

    /// The librdkafka client that owns the cluster.
    private let client: OpaquePointer
    private let cluster: OpaquePointer

    /// Starts brokers and creates topics.
    ///
    /// - Parameters:
    ///   - brokers: the number of brokers.
    ///   - topics: the topics' names and numbers of partitions.
    /// - Throws: if a broker cannot listen or a topic cannot be created.
    package init(brokers: Int = 1, topics: [String: Int] = [:]) throws(EmbeddedBrokerError) {
        let configuration = unsafe rd_kafka_conf_new()
        var text = [CChar](repeating: 0, count: 256)
        guard let client = unsafe rd_kafka_new(RD_KAFKA_PRODUCER, configuration, &text, text.count) else {
            unsafe rd_kafka_conf_destroy(configuration)
            let reason = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            throw EmbeddedBrokerError(message: reason)
        }
        guard let cluster = unsafe rd_kafka_mock_cluster_new(client, Int32(clamping: brokers)) else {
            unsafe rd_kafka_destroy(client)
            throw EmbeddedBrokerError(message: "\(brokers) brokers could not be started.")
        }
        unsafe self.client = client
        unsafe self.cluster = cluster
        self.bootstrap = unsafe String(cString: rd_kafka_mock_cluster_bootstraps(cluster))
        self.disableNagle()
        for (topic, partitions) in topics.sorted(by: { $0.key < $1.key }) {
            try self.createTopic(topic, partitions: partitions)
        }
    }

    deinit {
        unsafe rd_kafka_mock_cluster_destroy(self.cluster)
        unsafe rd_kafka_destroy(self.client)
    }

    /// Creates a topic with one replica.
    ///
    /// - Throws: if the topic exists or its name is not valid.
    package func createTopic(_ name: String, partitions: Int) throws(EmbeddedBrokerError) {
        try unsafe self.check(
            rd_kafka_mock_topic_create(self.cluster, name, Int32(clamping: partitions), 1), "create the topic \(name)")
    }

    /// Simulates a crash of a broker: closes its connections and stops listening; its data remain.
    ///
    /// - Parameter id: the broker's number, counted from 1.
    /// - Throws: if there is no such broker.
    package func takeDown(broker id: Int32) throws(EmbeddedBrokerError) {
        try unsafe self.check(rd_kafka_mock_broker_set_down(self.cluster, id), "take broker \(id) down")
    }

    /// Makes a broker listen again on its former port.
    ///
    /// - Throws: if there is no such broker.
    package func bringUp(broker id: Int32) throws(EmbeddedBrokerError) {
        try unsafe self.check(rd_kafka_mock_broker_set_up(self.cluster, id), "bring broker \(id) up")
        // The broker has a new listening socket.
        self.disableNagle()
    }

    /// Makes a broker the leader of a partition.
    ///
    /// - Throws: if there is no such topic, partition or broker.
    package func setLeader(of topic: String, _ partition: Int32, broker id: Int32) throws(EmbeddedBrokerError) {
        try unsafe self.check(
            rd_kafka_mock_partition_set_leader(self.cluster, topic, partition, id),
            "make broker \(id) the leader of \(topic)[\(partition)]")
    }

    /// Makes the brokers send small responses at once; see `Listeners`.
    private func disableNagle() {
        let addresses = self.bootstrap.split(separator: ",")
        Listeners.disableNagle(ports: Set(addresses.compactMap { UInt16($0.split(separator: ":").last ?? "") }))
    }

    /// Rejects or delays the next requests of one kind.
    ///
    /// Faults of one kind add up, in the order of the calls.
    ///
    /// - Parameters:
    ///   - apiKey: the kind of the requests: its number in Kafka's protocol, such as 26 for `EndTxn`.
    ///   - count: the number of requests.
    ///   - error: the error's number in Kafka's protocol, such as 16 for `NOT_COORDINATOR`; 0 answers as usual.
    ///   - delay: by how much each response is delayed.
    ///   - id: the broker that answers the requests.
    /// - Throws: if there is no such broker.
    package func injectFault(
        intoRequests apiKey: Int16, count: Int, error: Int32 = 0, delay: Duration = .zero, broker id: Int32 = 1
    ) throws(EmbeddedBrokerError) {
        try unsafe self.check(
            plaza_rd_kafka_mock_answer(
                self.cluster, id, apiKey, Int32(clamping: count), rd_kafka_resp_err_t(rawValue: error),
                Int32(clamping: Milliseconds(delay).count)),
            "inject a fault into requests with API key \(apiKey)")
    }

    /// Throws an error that names `action`, unless `code` means success.
    private func check(_ code: rd_kafka_resp_err_t, _ action: String) throws(EmbeddedBrokerError) {
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw unsafe EmbeddedBrokerError(message: "Could not \(action): \(String(cString: rd_kafka_err2str(code)))")
    }
}

/// The reason why an operation of the embedded broker failed.
package struct EmbeddedBrokerError: Error, Equatable, Sendable {
    /// A message for humans.
    package var message: String
}
