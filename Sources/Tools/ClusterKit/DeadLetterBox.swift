// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
internal import MachineKit
internal import PlazaModel
package import PlazaWire

/// Reads the topic `dead.letters` of a cluster, and writes a dead letter to its original inbox again.
///
/// All methods block their thread.
package struct DeadLetterBox {
    /// A record of the topic `dead.letters`: an input or row that a service could not process.
    package struct Letter {
        /// The record's `partition:offset` in `dead.letters`.
        package var id: String
        package var record: IncomingRecord
        /// From which topic, partition and offset the service had read the input or row, and why it could not process
        /// it.
        package var origin: DeadLetterOrigin
    }

    private let settings: KafkaSettings

    /// - Parameters:
    ///   - brokers: the brokers' addresses: `host:port`, separated by commas.
    ///   - security: how connections to them are secured.
    package init(brokers: String, security: KafkaSecurity = KafkaSecurity()) {
        // The log lines of the Kafka client are dropped; the caller gets its errors.
        self.settings = KafkaSettings(
            brokers: brokers, clientID: "plaza-dead-letters", security: security
        ) { _, _, _ in }
    }

    /// All letters that are in the topic now, oldest first within each partition.
    ///
    /// - Throws: `timedOut` or `brokerDown` if no broker responds within 10 s; `timedOut` too if the letters are not
    ///   read within 30 s; `authenticationFailed` or `tlsFailed` if a broker refuses the connection; `unknownTopic` if
    ///   the cluster has no topic `dead.letters`.
    package func letters() throws(KafkaError) -> [Letter] {
        let topic = PlazaTopic.deadLetters.rawValue
        try KafkaAdmin(self.settings).waitUntilReachable(timeout: .seconds(10))
        let consumer = try KafkaConsumer(self.settings, fetchWait: .milliseconds(20))
        defer { consumer.close() }
        let partitionCount = try consumer.loadTopicMetadata(topic, timeout: .seconds(10))
        var starts: [TopicPartition: Int64] = [:]
        var unreadPartitions: Set<TopicPartition> = []
        for number in 0..<partitionCount {
            let partition = TopicPartition(topic, Int32(number))
            starts[partition] = LogicalOffset.beginning
            // There is nothing to wait for in a partition that has never had a record.
            if try consumer.endOffset(of: partition, timeout: .seconds(10)) > 0 { unreadPartitions.insert(partition) }
        }
        try consumer.assign(starts)
        var letters: [Letter] = []
        let deadline = MonotonicClock.now + .seconds(30)
        while !unreadPartitions.isEmpty, MonotonicClock.now < deadline {
            var records: [IncomingRecord] = []
            let outcome = try consumer.poll(max: 1000, timeout: .milliseconds(500), into: &records)
            for record in records {
                guard let origin = DeadLetterOrigin({ record.header($0) }) else { continue }
                letters.append(Letter(id: "\(record.partition):\(record.offset)", record: record, origin: origin))
            }
            unreadPartitions.subtract(outcome.reachedEnds.keys)
        }
        guard unreadPartitions.isEmpty else {
            throw KafkaError(
                .timedOut, "The letters of \(unreadPartitions.count) partitions were not read within 30 s.")
        }
        return letters.sorted {
            ($0.record.partition, $0.record.offset) < ($1.record.partition, $1.record.offset)
        }
    }

    /// Writes an input to its original inbox again; the letter remains in the topic.
    ///
    /// - Throws: `unsupported` for a row, or for an input that was too large to be kept whole in its letter; otherwise
    ///   the broker's error.
    package func resubmit(_ letter: Letter) throws(KafkaError) {
        guard letter.origin.topic.hasSuffix(".inbox") else {
            throw KafkaError(
                .unsupported, "\(letter.id) is a row of \(letter.origin.topic); only inputs can be resubmitted.")
        }
        guard letter.origin.omittedBytes == nil else {
            throw KafkaError(.unsupported, "\(letter.id) was too large to be kept.")
        }
        let producer = try KafkaProducer(self.settings)
        defer { producer.close(timeout: .seconds(1)) }
        _ = try producer.sendAndWait(
            OutgoingRecord(
                topic: letter.origin.topic, partition: letter.origin.partition, key: letter.record.key,
                value: letter.record.value,
                headers: letter.record.headers.filter { !$0.name.hasPrefix(DeadLetterOrigin.prefix) }),
            timeout: .seconds(10))
    }
}
