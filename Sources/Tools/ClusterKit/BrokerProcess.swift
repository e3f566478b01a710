// SPDX-License-Identifier: Apache-2.0
internal import EmbeddedBroker
internal import Foundation

/// The embedded broker in its own process, which `plaza up` starts when there is no real Kafka.
package final class BrokerProcess: Sendable {
    private let broker: EmbeddedBroker

    /// Starts the broker, creates the topics, and then atomically writes its address into a file.
    ///
    /// The broker runs as long as this value lives.
    ///
    /// - Throws: `EmbeddedBrokerError` when the broker cannot be started; `ClusterError.file` when the file cannot be
    ///   written.
    package init(addressFile: String, topics: [String], partitions: Int) throws {
        let partitionCounts = Dictionary(uniqueKeysWithValues: topics.map { ($0, partitions) })
        self.broker = try EmbeddedBroker(topics: partitionCounts)
        try RunDirectory.write(Data(self.broker.bootstrap.utf8), to: addressFile, mode: 0o600)
    }

    /// The broker's address, as written into the file.
    package var address: String { self.broker.bootstrap }
}
