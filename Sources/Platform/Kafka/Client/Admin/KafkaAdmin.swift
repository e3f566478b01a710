// SPDX-License-Identifier: Apache-2.0
internal import Concurrency

/// An admin client of Kafka: creates and describes topics, and queries the cluster.
///
/// Each call blocks the calling thread. The timeout of `createTopics` and `describeTopics` holds for each of the
/// requests that the call makes one after the other.
package struct KafkaAdmin: Sendable {
    private let client: ClientHandle
    private let security: KafkaSecurity

    /// Creates a client; it connects in the background.
    ///
    /// - Throws: `invalidConfiguration` when librdkafka rejects a setting.
    package init(_ settings: KafkaSettings) throws(KafkaError) {
        self.client = try ClientHandle(.admin, settings.admin, log: settings.log)
        self.security = settings.security
    }

    /// Waits until a broker responds, and returns what it reports about the cluster.
    ///
    /// With TLS or authentication the wait is split into short attempts. After each attempt the client is checked for
    /// an authentication or TLS error, which ends the wait.
    ///
    /// - Throws: `timedOut` or `brokerDown` if no broker responds in time; `authenticationFailed` or `tlsFailed` as
    ///   soon as a broker refuses the connection.
    @discardableResult
    package func waitUntilReachable(timeout: Duration) throws(KafkaError) -> ClusterInfo {
        let deadline = Deadline(after: timeout)
        // The timeout of an attempt doubles, so that a slow broker can respond to a later attempt.
        let isSecured = self.security.transport != .plaintext
        var attemptTimeout: Duration = isSecured ? .milliseconds(250) : timeout
        while true {
            do throws(KafkaError) {
                return try self.clusterInfo(timeout: min(attemptTimeout, Self.remainingTimeout(before: deadline)))
            } catch {
                if let securityError = self.client.takeSecurityError() {
                    throw securityError.addingSCRAMHint(for: self.security)
                }
                // `clusterInfo` itself waits for a broker. It fails before the timeout only if the broker disconnects
                // during the response, or at the end of an attempt.
                let isTransient = error.kind == .brokerDown || error.kind == .retriable
                guard isTransient || (isSecured && error.kind == .timedOut), !deadline.hasPassed else {
                    throw error
                }
                attemptTimeout = min(attemptTimeout * 2, timeout)
            }
        }
    }

    /// Queries the brokers and all topics.
    ///
    /// - Throws: `timedOut` or `brokerDown` when no broker responds in time.
    package func clusterInfo(timeout: Duration) throws(KafkaError) -> ClusterInfo {
        try self.client.clusterInfo(timeout: timeout)
    }

    /// Creates the topics that do not exist; does not change existing topics.
    ///
    /// It returns once the broker's metadata include the topics, so that clients that start afterwards find the topics.
    ///
    /// - Throws: the error of the first topic that could not be created. The embedded broker throws `unsupported` if a
    ///   topic does not exist, because its topics are created only by `EmbeddedBroker.createTopic`.
    package func createTopics(_ topics: [TopicSpec], timeout: Duration = .seconds(30)) throws(KafkaError) {
        guard !topics.isEmpty else { return }
        let info = try self.clusterInfo(timeout: timeout)
        let missing = topics.filter { info.topics[$0.name] == nil }
        guard !missing.isEmpty else { return }
        // The embedded broker creates no topics for clients. The controller that it reports is none of its brokers, so
        // the broker can be recognised by this.
        if info.controllerID >= 0, !info.brokers.contains(where: { $0.id == info.controllerID }) {
            throw KafkaError(
                .unsupported, "The broker does not create topics for clients. Missing topics: \(missing.map(\.name)).")
        }
        for result in try self.client.createTopics(missing, timeout: timeout) {
            // Another process may have created the topic meanwhile.
            if let error = result.error, error.codeName != "TOPIC_ALREADY_EXISTS" { throw error }
        }
        try self.waitUntilMetadataInclude(missing.map(\.name), timeout: timeout)
    }

    /// Queries the partitions and settings of topics.
    ///
    /// - Throws: `unknownTopic` if one of the topics does not exist.
    package func describeTopics(_ names: [String], timeout: Duration = .seconds(10)) throws(KafkaError)
        -> [TopicDescription]
    {
        guard !names.isEmpty else { return [] }
        let configs = try self.client.describeConfigs(names, timeout: timeout)
        var descriptions: [TopicDescription] = []
        for name in names {
            let info = try self.client.clusterInfo(topic: name, timeout: timeout)
            guard let partitions = info.topics[name] else { throw KafkaError(.unknownTopic, "No topic \(name).") }
            descriptions.append(TopicDescription(name: name, partitions: partitions, config: configs[name] ?? [:]))
        }
        return descriptions
    }

    /// The pause between two queries of the metadata.
    private static let metadataPollPause: Duration = .milliseconds(20)

    /// Polls the broker until its metadata include the topics.
    ///
    /// The controller responds before the other brokers know a new topic. Brokers send no notification, so this method
    /// must poll.
    private func waitUntilMetadataInclude(_ names: [String], timeout: Duration) throws(KafkaError) {
        let deadline = Deadline(after: timeout)
        while true {
            let topics = try self.clusterInfo(timeout: Self.remainingTimeout(before: deadline)).topics
            guard names.contains(where: { topics[$0] == nil }) else { return }
            if deadline.hasPassed {
                throw KafkaError(.timedOut, "The broker does not know the new topics yet.", isRetriable: true)
            }
            DedicatedThread.sleep(for: min(Self.metadataPollPause, Self.remainingTimeout(before: deadline)))
        }
    }

    /// The time until `deadline`, but at least 1 ms, so that a last attempt is possible after the deadline.
    private static func remainingTimeout(before deadline: Deadline) -> Duration {
        max(deadline.remaining, .milliseconds(1))
    }
}
