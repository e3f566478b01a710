// SPDX-License-Identifier: Apache-2.0
internal import EmbeddedBroker
internal import Foundation

/// The embedded broker as a process of its own: what `plaza up` starts for the lack of a real Kafka.
package final class BrokerProcess: Sendable {
    private let broker: EmbeddedBroker

    /// Starts the broker, makes the topics, and then writes its address into a file, whole or not at all.
    ///
    /// The broker runs as long as this value lives.
    package init(addressFile: String, topics: [String], partitions: Int) throws {
        let numbers = Dictionary(uniqueKeysWithValues: topics.map { ($0, partitions) })
        self.broker = try EmbeddedBroker(topics: numbers)
        try RunDirectory.write(Data(self.broker.bootstrap.utf8), to: addressFile, mode: 0o600)
    }

    /// The address that was written.
    package var address: String { self.broker.bootstrap }
}
