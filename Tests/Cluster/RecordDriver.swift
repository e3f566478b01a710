// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import KafkaClient
import MachineKit
import PlazaModel
import PlazaWire

/// Writes records straight to the topics of a running cluster, and checks that each partition of an inbox still
/// replies.
///
/// All methods block their thread.
final class RecordDriver {
    /// For each inbox, the golden record of a call that always gets a reply.
    private static let goldenCalls: [PlazaTopic: String] = [
        .directoryInbox: "setMetadata", .audienceInbox: "join", .barrageInbox: "sendText", .seatInbox: "take",
        .connectionInbox: "request",
    ]

    /// The producer is flushed after this many records, so that few records wait in it.
    private static let recordsPerFlush = 500

    private let producer: KafkaProducer
    /// Reads the topic `replies`.
    private let replies: KafkaConsumer
    private let partitions: Int
    private let deliveryErrors: Locked<[KafkaError]>
    /// The sessions for which a reply has been read; each session makes one call.
    private var answeredSessions: Set<String> = []
    /// The number of cases sent; the calls of `sendCalls` are not counted.
    private(set) var sentCaseCount = 0

    init(brokers: String, partitions: Int) throws {
        let settings = KafkaSettings(brokers: brokers, clientID: "bounds") { _, _, _ in }
        let deliveryErrors = Locked<[KafkaError]>([])
        self.deliveryErrors = deliveryErrors
        self.partitions = partitions
        self.producer = try KafkaProducer(settings) { delivery in
            if let error = delivery.error { deliveryErrors.withLock { $0.append(error) } }
        }
        self.replies = try KafkaConsumer(settings, fetchWait: .milliseconds(20))
        var startOffsets: [TopicPartition: Int64] = [:]
        for partition in 0..<partitions {
            startOffsets[TopicPartition(PlazaTopic.replies.rawValue, Int32(partition))] = LogicalOffset.beginning
        }
        try self.replies.assign(startOffsets)
    }

    func close() {
        self.producer.close(timeout: .seconds(1))
        self.replies.close()
    }

    /// Writes the records of cases, and waits until the broker has them.
    func send(_ cases: [RecordCases.Case]) throws {
        for (index, recordCase) in cases.enumerated() {
            var record = recordCase.record
            record.headers.append(KafkaHeader(name: RecordCases.nameHeader, text: recordCase.name))
            try self.producer.send(record)
            if (index + 1).isMultiple(of: Self.recordsPerFlush) { try self.producer.flush(timeout: .seconds(30)) }
        }
        try self.producer.flush(timeout: .seconds(30))
        self.sentCaseCount += cases.count
        if let error = self.deliveryErrors.withLock({ $0.first }) { throw error }
    }

    /// Writes a call to each partition of an inbox; does nothing for another topic.
    ///
    /// - Parameters:
    ///   - cases: the cases of the inbox.
    ///   - group: the number of the group of cases that was sent before.
    /// - Returns: the session of each call, which identifies its reply and ends with the number of the group.
    /// - Throws: why a call cannot be sent.
    func sendCalls(_ cases: RecordCases, group: Int) throws -> Set<String> {
        guard let call = Self.goldenCalls[cases.topic] else { return [] }
        var sessions: Set<String> = []
        for partition in 0..<self.partitions {
            let session = "check-\(cases.topic.rawValue)-\(partition)-\(group)"
            let app = RecordCases.app(inPartition: partition, of: self.partitions)
            let live = RecordCases.live("check", of: app, inPartition: partition, of: self.partitions)
            guard let record = try cases.record(call, in: live, session: session, partition: partition) else {
                throw KafkaError(.unsupported, "\(cases.goldenFile) has no \(call)")
            }
            try self.producer.send(record)
            sessions.insert(session)
        }
        try self.producer.flush(timeout: .seconds(30))
        return sessions
    }

    /// Reads replies until each of `sessions` has one, or until `limit` is over.
    ///
    /// - Parameters:
    ///   - sessions: the sessions of calls.
    ///   - limit: how long to wait.
    /// - Returns: the sessions of calls without a reply.
    /// - Throws: why replies cannot be read.
    func sessionsWithoutReply(of sessions: Set<String>, within limit: Duration) throws -> Set<String> {
        let deadline = MonotonicClock.now + Milliseconds(limit)
        while !sessions.isSubset(of: self.answeredSessions), MonotonicClock.now < deadline {
            var records: [IncomingRecord] = []
            _ = try self.replies.poll(max: 1_000, timeout: .milliseconds(200), into: &records)
            for value in records.compactMap(\.value) {
                // A test may have written damaged records to the topic `replies`.
                guard let reply = try? Wire.decode(Reply.self, from: value) else { continue }
                self.answeredSessions.insert(reply.request.session.text)
            }
        }
        return sessions.subtracting(self.answeredSessions)
    }
}
