// SPDX-License-Identifier: Apache-2.0

/// The brokers and topics of a cluster, as one broker told them.
package struct ClusterInfo: Sendable, Equatable {
    /// One broker.
    package struct Broker: Sendable, Equatable {
        /// Its id.
        package var id: Int32
        /// Where it listens.
        package var host: String
        /// Where it listens.
        package var port: Int
    }

    /// The broker that takes requests for topics; -1 if it is not known.
    package var controllerID: Int32
    /// The brokers that are up.
    package var brokers: [Broker]
    /// The number of partitions of each topic.
    package var topics: [String: Int]
}
