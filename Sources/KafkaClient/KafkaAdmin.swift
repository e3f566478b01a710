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
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        while true {
            do throws(KafkaError) {
                return try self.clusterInfo(timeoutMilliseconds: deadline.remainingMilliseconds)
            } catch {
                // The call waits for a broker by itself; it fails early only if one went away while it answered.
                guard error.kind == .brokerDown || error.kind == .retriable, !deadline.isOver else { throw error }
            }
        }
    }

    /// Asks for the brokers and all topics.
    package func clusterInfo(timeoutMilliseconds: Int) throws(KafkaError) -> ClusterInfo {
        try self.client.clusterInfo(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Makes those of the topics that do not exist; those that do are left as they are.
    ///
    /// Returns when the broker that is asked knows them, so that clients started afterwards find them.
    ///
    /// - Throws: the first topic's error; `unsupported` by the embedded broker, which makes topics by its own call, if
    ///   one of them does not exist there.
    package func createTopics(_ topics: [TopicSpec], timeoutMilliseconds: Int = 30_000) throws(KafkaError) {
        guard !topics.isEmpty else { return }
        let info = try self.clusterInfo(timeoutMilliseconds: timeoutMilliseconds)
        let missing = topics.filter { info.topics[$0.name] == nil }
        guard !missing.isEmpty else { return }
        if info.controllerID >= 0, !info.brokers.contains(where: { $0.id == info.controllerID }) {
            throw KafkaError(.unsupported, "The broker makes no topics by request; missing: \(missing.map(\.name)).")
        }
        for result in try self.client.createTopics(missing, timeoutMilliseconds: timeoutMilliseconds) {
            // Another process may have been quicker.
            if let error = result.error, error.codeName != "TOPIC_ALREADY_EXISTS" { throw error }
        }
        try self.waitUntilKnown(missing.map(\.name), timeoutMilliseconds: timeoutMilliseconds)
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

    /// Asks until the broker knows the topics.
    ///
    /// It hears of them from the controller, a moment after the controller
    /// answered, and there is nothing to wait on but its next answer.
    private func waitUntilKnown(_ names: [String], timeoutMilliseconds: Int) throws(KafkaError) {
        let deadline = Deadline(milliseconds: timeoutMilliseconds)
        while true {
            let known = try self.clusterInfo(timeoutMilliseconds: deadline.remainingMilliseconds).topics
            guard names.contains(where: { known[$0] == nil }) else { return }
            if deadline.isOver {
                throw KafkaError(.timedOut, "The broker does not know the new topics yet.", isRetriable: true)
            }
        }
    }
}

/// The end of a time-out that is spread over several calls.
private struct Deadline {
    private let end: ContinuousClock.Instant

    init(milliseconds: Int) { self.end = ContinuousClock.now + .milliseconds(milliseconds) }

    var isOver: Bool { ContinuousClock.now >= self.end }

    /// At least 1, so that a last try is made.
    var remainingMilliseconds: Int { max(Int(ContinuousClock.now.duration(to: self.end) / .milliseconds(1)), 1) }
}
