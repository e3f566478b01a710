// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import TestSupport
import Testing

/// Tests of consumer groups: the assignment of partitions to members, and the commit of a member whose assignment is
/// outdated.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct GroupTests {
    /// A member of a group; it records its assigned partitions while the test polls.
    final class Member {
        let consumer: KafkaConsumer
        var assigned: Set<TopicPartition> = []
        var events: [RebalanceEvent] = []

        init(_ broker: TestBroker, group: String, topic: String, sessionTimeout: Duration? = nil) throws {
            self.consumer = try broker.makeConsumer(group: group, sessionTimeout: sessionTimeout)
            try self.consumer.subscribe(topic) { [weak self] event in
                guard let self else { return }
                self.events.append(event)
                switch event {
                case .assigned(let partitions):
                    // Each partition is read from its offset 0.
                    self.assigned.formUnion(partitions)
                    try? self.consumer.assign(Dictionary(uniqueKeysWithValues: partitions.map { ($0, 0) }))
                case .revoked(let partitions, _):
                    // The consumer itself unassigns the partitions.
                    self.assigned.subtract(partitions)
                }
            }
        }

        /// Polls once, for at most 50 ms; the records do not matter.
        func poll() throws {
            var records: [IncomingRecord] = []
            _ = try self.consumer.poll(max: 100, timeout: .milliseconds(50), into: &records)
        }
    }

    /// Polls the members until a condition holds; returns whether it holds in time.
    static func poll(_ members: [Member], seconds: Double = 30, until condition: () -> Bool) throws -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        while clock.now < deadline {
            for member in members { try member.poll() }
            if condition() { return true }
        }
        return false
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `poll throws an error when the broker rejects the session timeout`() async throws {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("session")
            // The tests' broker accepts no session timeout below 1000 ms.
            let consumer = try KafkaConsumer(
                try TestBroker.real.settings(), group: "g-\(topic)", sessionTimeout: .milliseconds(900))
            try consumer.subscribe(topic) { _ in }
            let error = #expect(throws: KafkaError.self) { try consumer.poll { _, outcome in outcome.hasRebalanced } }
            #expect(error?.kind == .sessionTimeoutRejected)
            #expect(error?.codeName == "INVALID_SESSION_TIMEOUT")
            let elapsed = ContinuousClock().measure { consumer.close() }
            #expect(elapsed < .seconds(10), "the consumer closes at once, because it never joined the group")
        }
    }

    @Test(arguments: TestBroker.available)
    func `the range assignor shares partitions between two members, and gives all to one when the other closes`(
        broker: TestBroker
    ) async throws {
        try await runOnDedicatedThread {
            let topic = try broker.makeTopic("group", partitions: 4)
            let all = Set((0..<4).map { TopicPartition(topic, $0) })
            let first = try Member(broker, group: "g-\(topic)", topic: topic)
            #expect(try Self.poll([first]) { first.assigned == all })

            let second = try Member(broker, group: "g-\(topic)", topic: topic)
            #expect(
                try Self.poll([first, second]) {
                    first.assigned.count == 2 && second.assigned.count == 2
                        && first.assigned.union(second.assigned) == all
                })
            // A member loses all its partitions before it gets its half of them.
            #expect(first.events.contains(.revoked(all.sorted(), lost: false)))

            let assignedBeforeClose = second.assigned
            second.consumer.close()
            #expect(second.assigned.isEmpty, "closing revokes the partitions")
            #expect(second.events.last == .revoked(assignedBeforeClose.sorted(), lost: false))
            #expect(try Self.poll([first]) { first.assigned == all })
            first.consumer.close()
        }
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `the partitions of a member that closes are taken over at once by another member`() async throws {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("takeover", partitions: 2)
            // If the first member died instead of closing, the group would wait for this time before a takeover.
            let sessionTimeout = Duration.seconds(30)
            let first = try Member(.real, group: "g-\(topic)", topic: topic, sessionTimeout: sessionTimeout)
            #expect(try Self.poll([first]) { first.assigned.count == 2 })
            let second = try Member(.real, group: "g-\(topic)", topic: topic, sessionTimeout: sessionTimeout)
            #expect(try Self.poll([first, second]) { first.assigned.count == 1 && second.assigned.count == 1 })
            let clock = ContinuousClock()
            let closedAt = clock.now
            first.consumer.close()
            #expect(try Self.poll([second]) { second.assigned.count == 2 })
            #expect(closedAt.duration(to: clock.now) < sessionTimeout / 2)
            second.consumer.close()
        }
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `a commit with the metadata of a past group generation is rejected, and its transaction must be aborted`()
        async throws
    {
        try await runOnDedicatedThread {
            let topic = try TestBroker.real.makeTopic("stale", partitions: 2)
            let partition = TopicPartition(topic, 0)
            let first = try Member(.real, group: "g-\(topic)", topic: topic)
            #expect(try Self.poll([first]) { first.assigned.count == 2 })
            // The metadata name the group's generation, which ends when the second member joins.
            let outdatedMetadata = try #require(first.consumer.groupMetadata())
            let producer = try KafkaProducer(TestBroker.real.settings(), transactionalID: "p-\(topic)")
            try producer.initTransactions(timeout: .seconds(20))
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic: topic, text: "stale"))

            let second = try Member(.real, group: "g-\(topic)", topic: topic)
            #expect(try Self.poll([first, second]) { first.assigned.count == 1 && second.assigned.count == 1 })
            let error = #expect(throws: KafkaError.self) {
                try producer.sendOffsets(
                    [partition: OffsetAndMetadata(offset: 1)], group: outdatedMetadata, timeout: .seconds(10))
            }
            #expect(error?.requiresAbort == true)
            #expect(error?.isFatal == false)
            try producer.abortTransaction(timeout: .seconds(10))
            #expect(try first.consumer.committedOffsets(of: [partition], timeout: .seconds(10)) == [partition: nil])

            // The same producer can begin the next transaction.
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic: topic, text: "fresh"))
            try producer.commitTransaction(timeout: .seconds(10))
            producer.close(timeout: .seconds(1))
        }
    }
}
