// SPDX-License-Identifier: Apache-2.0
internal import CRdkafka

/// A Kafka broker in memory: librdkafka's own test broker, to which other processes connect by TCP.
///
/// For trying out and for tests. It keeps nothing, and it promises less than Kafka:
/// - It listens on free ports of 127.0.0.1, which cannot be chosen, and tells them by `bootstrap`.
/// - It takes offsets in a transaction and forgets them, and hides no aborted record; plain commits work.
/// - A partition keeps 5 MB, then loses its oldest records; nothing is compacted. Times are the producers'.
/// - A fetch that waits is not woken by new records: read with a `fetch.wait.max.ms` of some 5 ms.
/// - A group's first join takes 3 s, and a member whose session is shorter is put out before it is in; each later
///   rebalance takes the session's time less 1 s. So give consumers `sessionTimeoutMilliseconds`. None of this can be set.
/// - Topics are made at the start and by `createTopic`: it knows no such request. A topic that a client asks for and
///   that does not exist gets four partitions, also if the client forbids it.
///
/// `@unchecked Sendable`: its functions hand over to the cluster's own thread and take any thread.
@safe package final class EmbeddedBroker: @unchecked Sendable {
    /// The addresses to connect to, `host:port` joined by commas.
    package let bootstrap: String

    /// The session that members of groups need here: longer than the first join takes.
    package static let sessionTimeoutMilliseconds = 4000

    private let client: OpaquePointer
    private let cluster: OpaquePointer

    /// Starts brokers and makes topics.
    ///
    /// - Parameters:
    ///   - brokers: how many.
    ///   - topics: names and numbers of partitions.
    /// - Throws: if a broker cannot listen or a topic cannot be made.
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
        self.answerAtOnce()
        for (topic, partitions) in topics.sorted(by: { $0.key < $1.key }) {
            try self.createTopic(topic, partitions: partitions)
        }
    }

    deinit {
        unsafe rd_kafka_mock_cluster_destroy(self.cluster)
        unsafe rd_kafka_destroy(self.client)
    }

    /// Makes a topic.
    ///
    /// - Throws: if it exists or its name is not valid.
    package func createTopic(_ name: String, partitions: Int) throws(EmbeddedBrokerError) {
        try unsafe self.check(
            rd_kafka_mock_topic_create(self.cluster, name, Int32(clamping: partitions), 1), "make topic \(name)")
    }

    /// Cuts a broker's connections and stops listening, as if it had died; its data stay.
    ///
    /// - Parameter id: counted from 1.
    /// - Throws: if there is no such broker.
    package func takeDown(broker id: Int32) throws(EmbeddedBrokerError) {
        try unsafe self.check(rd_kafka_mock_broker_set_down(self.cluster, id), "take broker \(id) down")
    }

    /// Listens again, at the same port.
    package func bringUp(broker id: Int32) throws(EmbeddedBrokerError) {
        try unsafe self.check(rd_kafka_mock_broker_set_up(self.cluster, id), "bring broker \(id) up")
        self.answerAtOnce()
    }

    /// Makes a broker the leader of a partition.
    ///
    /// - Throws: if there is no such topic, partition or broker.
    package func setLeader(of topic: String, _ partition: Int32, broker id: Int32) throws(EmbeddedBrokerError) {
        try unsafe self.check(
            rd_kafka_mock_partition_set_leader(self.cluster, topic, partition, id),
            "make broker \(id) lead \(topic) \(partition)")
    }

    private func answerAtOnce() {
        let addresses = self.bootstrap.split(separator: ",")
        Listeners.answerAtOnce(ports: Set(addresses.compactMap { UInt16($0.split(separator: ":").last ?? "") }))
    }

    /// Delays every answer of a broker.
    package func setDelay(milliseconds: Int, broker id: Int32) throws(EmbeddedBrokerError) {
        try unsafe self.check(
            rd_kafka_mock_broker_set_rtt(self.cluster, id, Int32(clamping: milliseconds)), "slow broker \(id) down")
    }

    private func check(_ code: rd_kafka_resp_err_t, _ action: String) throws(EmbeddedBrokerError) {
        guard code != RD_KAFKA_RESP_ERR_NO_ERROR else { return }
        throw unsafe EmbeddedBrokerError(message: "Could not \(action): \(String(cString: rd_kafka_err2str(code)))")
    }
}

/// Why the embedded broker did not do something.
package struct EmbeddedBrokerError: Error, Equatable, Sendable {
    /// A sentence for people.
    package var message: String
}
