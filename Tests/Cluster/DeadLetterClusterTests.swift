// SPDX-License-Identifier: Apache-2.0
import ClusterKit
import Concurrency
import KafkaClient
import PlazaModel
import PlazaWire
import TestSupport
import Testing

/// A test of the dead-letter topic of a running cluster, which holds the records that a service could not process.
@Suite(.serialized) struct DeadLetterClusterTests {
    @Test(.timeLimit(.minutes(2)))
    func `a dead letter of a call is listed with its origin, and answered once it is submitted again`() async throws {
        try await TestCluster.with(TestCluster.options()) { cluster in
            let brokers = cluster.state.kafka
            let partitions = cluster.options.partitions
            let unansweredSessions = try await runOnDedicatedThread {
                Result { try Self.sessionsWithoutReplyAfterResubmission(brokers: brokers, partitions: partitions) }
            }.get()
            #expect(unansweredSessions.isEmpty, "the call must get a reply once it is submitted again")
        }
    }

    /// Writes a call and a row to the dead-letter topic, lists both, submits the call again, and waits for its reply.
    ///
    /// - Returns: the sessions without a reply.
    private static func sessionsWithoutReplyAfterResubmission(brokers: String, partitions: Int) throws -> Set<String> {
        let driver = try RecordDriver(brokers: brokers, partitions: partitions)
        defer { driver.close() }
        let cases = RecordCases(topic: .barrageInbox, partitions: partitions, goldenFile: "barrage-inbox")
        let app = RecordCases.app(inPartition: 0, of: partitions)
        let live = RecordCases.live("letter", of: app, inPartition: 0, of: partitions)
        let session = "letter-0"
        var record = try #require(try cases.record("sendText", in: live, session: session, partition: 0))
        record.topic = PlazaTopic.deadLetters.rawValue
        // An origin says where the record was read and why it could not be processed. The offset is arbitrary.
        let originOfCall = DeadLetterOrigin(
            topic: PlazaTopic.barrageInbox.rawValue, partition: 0, offset: 12, machine: "barrage", reason: "a bad call")
        record.headers = originOfCall.headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        // A dead letter of a row: a copy of the call whose origin is a state topic.
        var row = record
        row.headers = DeadLetterOrigin(
            topic: PlazaTopic.barrageState.rawValue, partition: 0, offset: 12, machine: "barrage", reason: "a bad row"
        ).headers.map { KafkaHeader(name: $0.name, value: $0.value) }
        try driver.send([
            RecordCases.Case(name: "a call", record: record), RecordCases.Case(name: "a row", record: row),
        ])
        let box = DeadLetterBox(brokers: brokers)
        let letters = try box.letters()
        #expect(letters.map(\.origin.reason) == ["a bad call", "a bad row"])
        #expect(letters.first?.origin == originOfCall)
        // A row cannot be submitted again.
        #expect(throws: KafkaError.self) { try box.resubmit(try #require(letters.last)) }
        // A dead letter is not processed, so the call has no reply yet.
        #expect(try driver.sessionsWithoutReply(of: [session], within: .seconds(1)) == [session])
        try box.resubmit(try #require(letters.first))
        return try driver.sessionsWithoutReply(of: [session], within: .seconds(20))
    }
}
