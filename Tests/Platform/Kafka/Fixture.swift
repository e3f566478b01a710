// SPDX-License-Identifier: Apache-2.0
import EmbeddedBroker
import Foundation
import KafkaClient
import Synchronization
import TestSupport
import Testing

/// A broker to test against: the embedded one, or a real Kafka, if that is installed.
enum TestBroker: String, CaseIterable, CustomTestStringConvertible {
    case embedded, real

    /// The brokers that this machine can run.
    static var available: [TestBroker] { RealKafka.isAvailable ? [.embedded, .real] : [.embedded] }

    var testDescription: String { self.rawValue }

    private static let embeddedBroker = Result { try EmbeddedBroker() }

    /// The address of the broker, as `HOST:PORT`.
    func bootstrap() throws -> String {
        switch self {
        case .embedded: try Self.embeddedBroker.get().bootstrap
        case .real: try RealKafka.shared().bootstrap
        }
    }

    /// Makes a topic, and returns its name: the prefix and a random suffix.
    func makeTopic(_ prefix: String, partitions: Int = 1) throws -> String {
        switch self {
        case .embedded:
            let name = "\(prefix)-\(UUID().uuidString.prefix(8))"
            try Self.embeddedBroker.get().createTopic(name, partitions: partitions)
            return name
        case .real:
            return try RealKafka.shared().makeTopic(prefix, partitions: partitions)
        }
    }

    /// Settings of a client that logs nothing.
    func settings(_ clientID: String = "test", overrides: [String: String] = [:]) throws -> KafkaSettings {
        KafkaSettings(brokers: try self.bootstrap(), clientID: clientID, overrides: overrides, log: { _, _, _ in })
    }

    /// How long the broker may wait for records before it answers a fetch.
    ///
    /// The embedded broker answers a waiting fetch only at the end of this time, even if new records arrive before. So
    /// its time must be short.
    var fetchWait: Duration { self == .embedded ? .milliseconds(5) : .milliseconds(50) }

    /// Makes a consumer.
    ///
    /// With a group the consumer is a member, which gets its partitions from the group. Without a group the test
    /// assigns the partitions. The default session timeout is short; the embedded broker needs a longer one than Kafka.
    func makeConsumer(
        group: String? = nil, isolation: IsolationLevel = .committed, sessionTimeout: Duration? = nil
    ) throws -> KafkaConsumer {
        try KafkaConsumer(
            try self.settings(), group: group, isolation: isolation, fetchWait: self.fetchWait,
            sessionTimeout: sessionTimeout ?? (self == .embedded ? EmbeddedBroker.sessionTimeout : .seconds(2)))
    }
}

extension KafkaConsumer {
    /// Polls until `condition` is true for all records so far and the outcome of the last poll.
    ///
    /// - Returns: all records and the outcome; nil if the condition was not true in time.
    func poll(
        until condition: ([IncomingRecord], PollOutcome) -> Bool, seconds: Double = 20
    ) throws -> (records: [IncomingRecord], outcome: PollOutcome)? {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        var records: [IncomingRecord] = []
        while clock.now < deadline {
            let outcome = try self.poll(max: 1000, timeout: .milliseconds(500), into: &records)
            if condition(records, outcome) { return (records, outcome) }
        }
        return nil
    }

    /// Reads the assigned partitions until the end of each given partition was reached.
    ///
    /// - Returns: the records and the ends; nil if an end was not reached in time.
    func readToEnd(_ partitions: [TopicPartition]) throws -> (records: [IncomingRecord], ends: [TopicPartition: Int64])?
    {
        var ends: [TopicPartition: Int64] = [:]
        let read = try self.poll { _, outcome in
            ends.merge(outcome.reachedEnds) { $1 }
            return partitions.allSatisfy { ends[$0] != nil }
        }
        return read.map { ($0.records, ends) }
    }
}

extension IncomingRecord {
    /// The value as text.
    var text: String { String(decoding: self.value ?? [], as: UTF8.self) }
}

extension OutgoingRecord {
    /// A record of a partition, with a text as its value and without a key.
    init(topic: String, partition: Int32 = 0, text: String) {
        self.init(topic: topic, partition: partition, value: Array(text.utf8))
    }
}

/// A thread-safe list of the values that a callback received.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Mutex<[Element]>([])

    func append(_ element: Element) { self.elements.withLock { $0.append(element) } }
    var all: [Element] { self.elements.withLock { $0 } }
}
