// SPDX-License-Identifier: Apache-2.0

/// The brokers and topics of a cluster, as one broker reports them.
package struct ClusterInfo: Sendable, Equatable {
    /// One broker.
    package struct Broker: Sendable, Equatable {
        /// The broker's id.
        package var id: Int32
        /// The host on which it listens.
        package var host: String
        /// The port on which it listens.
        package var port: Int
    }

    /// The id of the controller, the broker that creates and deletes topics; -1 if it is not known.
    package var controllerID: Int32
    /// The brokers that are running.
    package var brokers: [Broker]
    /// The number of partitions of each topic; topics that the broker reports with an error are left out.
    package var topics: [String: Int]
}
