// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import KafkaClient
import PlazaModel
import PlazaWire
import TestSupport
import Testing

/// Tests of the dead-letter topic of a running cluster: listing dead letters (records that a service could not process)
/// and submitting a call again.
@Suite(.serialized) struct DeadLetterClusterTests {
    @Test(.timeLimit(.minutes(2)))
    func `a dead letter is listed with its origin, and its call is answered once it is submitted again`() async throws {
        try await LiveCluster.with(LiveCluster.options()) { cluster in
            let brokers = cluster.state.kafka
            let partitions = cluster.options.partitions
            let unanswered = try await runOnDedicatedThread {
                Result { try Self.unansweredAfterResubmission(brokers: brokers, partitions: partitions) }
            }.get()
            #expect(unanswered.isEmpty)
        }
    }

    /// Puts a call among the dead letters, submits it again, and waits for its reply.
    ///
    /// - Returns: the sessions without a reply.
    private static func unansweredAfterResubmission(brokers: String, partitions: Int) throws -> Set<String> {
        let driver = try RecordDriver(brokers: brokers, partitions: partitions)
        defer { driver.close() }
        let cases = RecordCases(topic: .barrageInbox, partitions: partitions, goldenFile: "barrage-inbox")
        let app = RecordCases.app(inPartition: 0, of: partitions)
        let live = RecordCases.live("letter", of: app, inPartition: 0, of: partitions)
        let session = "letter-0"
        var record = try #require(try cases.record("sendText", in: live, session: session, partition: 0))
        record.topic = PlazaTopic.deadLetters.rawValue
        // The offset is arbitrary.
        let origin = DeadLetterOrigin(
            topic: PlazaTopic.barrageInbox.rawValue, partition: 0, offset: 12, machine: "barrage", reason: "a test")
        record.headers = origin.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        // The same record again, with the origin of a row: a state topic.
        var row = record
        row.headers = DeadLetterOrigin(
            topic: PlazaTopic.barrageState.rawValue, partition: 0, offset: 12, machine: "barrage", reason: "a row"
        ).headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        try driver.send([
            RecordCases.Case(name: "a letter", record: record), RecordCases.Case(name: "a row", record: row),
        ])
        let box = DeadLetterBox(brokers: brokers)
        let letters = try box.letters()
        #expect(letters.map(\.origin.reason) == ["a test", "a row"])
        #expect(letters.first?.origin == origin)
        // Only inputs can be submitted again, not rows.
        #expect(throws: KafkaError.self) { try box.resubmit(try #require(letters.last)) }
        // As a dead letter, the call has no reply yet.
        #expect(try driver.sessionsWithoutReply(of: [session], within: .seconds(1)) == [session])
        try box.resubmit(try #require(letters.first))
        return try driver.sessionsWithoutReply(of: [session], within: .seconds(20))
    }
}
