// SPDX-License-Identifier: Apache-2.0

/// A topic to create.
package struct TopicSpec: Sendable, Equatable {
    /// The name.
    package var name: String
    /// The number of partitions.
    package var partitions: Int
    /// The replication factor; at most the number of brokers.
    package var replication: Int
    /// Kafka's topic settings, such as `cleanup.policy`.
    package var config: [String: String]

    /// Creates a specification.
    package init(name: String, partitions: Int, replication: Int = 1, config: [String: String] = [:]) {
        self.name = name
        self.partitions = partitions
        self.replication = replication
        self.config = config
    }
}

/// A topic as the brokers describe it.
package struct TopicDescription: Sendable, Equatable {
    /// The name.
    package var name: String
    /// The number of partitions.
    package var partitions: Int
    /// All settings of the topic, including defaults.
    package var config: [String: String]
}
