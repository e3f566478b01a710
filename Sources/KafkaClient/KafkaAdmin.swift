// SPDX-License-Identifier: Apache-2.0

/// Makes, describes and deletes topics.
///
/// Every call blocks its thread for at most its time-out.
package struct KafkaAdmin: Sendable {
    private let client: ClientHandle

    /// Makes a client; it connects in the background.
    ///
    /// - Throws: `invalidConfiguration`.
    package init(_ settings: KafkaSettings) throws(KafkaError) {
        self.client = try ClientHandle(.admin, settings.admin, log: settings.log)
    }

    /// Waits until a broker answers.
    ///
    /// - Throws: `timedOut` or `brokerDown` if none does in time.
    @discardableResult
    package func waitUntilReachable(timeoutMilliseconds: Int) throws(KafkaError) -> ClusterInfo {
        let clock = ContinuousClock()
        let deadline = clock.now + .milliseconds(timeoutMilliseconds)
        while true {
            let remaining = clock.now.duration(to: deadline)
            let milliseconds = Int(remaining / .milliseconds(1))
            do throws(KafkaError) {
                return try self.clusterInfo(timeoutMilliseconds: max(milliseconds, 1))
            } catch {
                // The call waits for a broker by itself; it fails early only if one went away while it answered.
                guard error.kind == .brokerDown || error.kind == .retriable, milliseconds > 0 else { throw error }
            }
        }
    }

    /// Asks for the brokers and all topics.
    package func clusterInfo(timeoutMilliseconds: Int) throws(KafkaError) -> ClusterInfo {
        try self.client.clusterInfo(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Makes those of the topics that do not exist; those that do are left as they are.
    ///
    /// - Throws: the first topic's error; `unsupported` by the embedded broker, which makes topics by its own call.
    package func createTopics(_ topics: [TopicSpec], timeoutMilliseconds: Int = 30_000) throws(KafkaError) {
        guard !topics.isEmpty else { return }
        for result in try self.client.createTopics(topics, timeoutMilliseconds: timeoutMilliseconds) {
            if let error = result.error, error.codeName != "TOPIC_ALREADY_EXISTS" { throw error }
        }
    }

    /// Deletes those of the topics that exist.
    package func deleteTopics(_ names: [String], timeoutMilliseconds: Int = 30_000) throws(KafkaError) {
        guard !names.isEmpty else { return }
        for result in try self.client.deleteTopics(names, timeoutMilliseconds: timeoutMilliseconds) {
            if let error = result.error, error.kind != .unknownTopic { throw error }
        }
    }

    /// Describes topics: partitions and settings.
    ///
    /// - Throws: `unknownTopic` if one does not exist.
    package func describeTopics(_ names: [String], timeoutMilliseconds: Int = 10_000) throws(KafkaError)
        -> [TopicDescription]
    {
        guard !names.isEmpty else { return [] }
        let configs = try self.client.describeConfigs(names, timeoutMilliseconds: timeoutMilliseconds)
        var descriptions: [TopicDescription] = []
        for name in names {
            let info = try self.client.clusterInfo(topic: name, timeoutMilliseconds: timeoutMilliseconds)
            guard let partitions = info.topics[name] else { throw KafkaError(.unknownTopic, "No topic \(name).") }
            descriptions.append(TopicDescription(name: name, partitions: partitions, config: configs[name] ?? [:]))
        }
        return descriptions
    }

    /// Deletes the records before an offset of each partition; `LogicalOffset.end` deletes all.
    ///
    /// - Returns: the oldest offset that each partition now has.
    @discardableResult
    package func deleteRecords(before offsets: [TopicPartition: Int64], timeoutMilliseconds: Int = 30_000)
        throws(KafkaError) -> [TopicPartition: Int64]
    {
        guard !offsets.isEmpty else { return [:] }
        let list = PartitionList(offsets)
        return try self.client.deleteRecords(list, timeoutMilliseconds: timeoutMilliseconds)
    }
}
