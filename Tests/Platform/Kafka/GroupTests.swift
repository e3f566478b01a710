// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import TestSupport
import Testing

/// Consumer groups: the assignment of partitions to members, and commits of former members.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct GroupTests {
    /// A member of a group that records its assigned partitions; the test polls it.
    final class Member {
        let consumer: KafkaConsumer
        var assigned: Set<TopicPartition> = []
        var events: [RebalanceEvent] = []

        init(_ server: Server, group: String, topic: String, sessionTimeout: Duration? = nil) throws {
            self.consumer = try server.makeConsumer(group, sessionTimeout: sessionTimeout)
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

        func poll() throws -> [IncomingRecord] {
            var records: [IncomingRecord] = []
            _ = try self.consumer.poll(max: 100, timeout: .milliseconds(50), into: &records)
            return records
        }
    }

    /// Polls the members until a condition holds; returns false if it does not hold in time.
    static func wait(_ members: [Member], seconds: Double = 30, until condition: () -> Bool) throws -> Bool {
        let clock = ContinuousClock()
        let deadline = clock.now + .seconds(seconds)
        while clock.now < deadline {
            for member in members { _ = try member.poll() }
            if condition() { return true }
        }
        return false
    }

    @Test(.enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `poll throws an error when the broker rejects the session timeout`() async throws {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("session")
            // The tests' broker accepts no session timeout below 1000 ms.
            let consumer = try KafkaConsumer(
                try Server.real.settings(), group: "g-\(topic)", sessionTimeout: .milliseconds(900))
            try consumer.subscribe(topic) { _ in }
            let error = #expect(throws: KafkaError.self) { try consumer.poll { _, outcome in outcome.hasRebalanced } }
            #expect(error?.kind == .sessionRefused)
            #expect(error?.codeName == "INVALID_SESSION_TIMEOUT")
            let elapsed = ContinuousClock().measure { consumer.close() }
            #expect(elapsed < .seconds(10), "a consumer that is no member waits for nobody")
        }
    }

    @Test(arguments: Server.available)
    func `the range assignor shares partitions between two members, and gives all to the one that stays`(
        server: Server
    ) async throws {
        try await runOnDedicatedThread {
            let topic = try server.makeTopic("group", partitions: 4)
            let all = Set((0..<4).map { TopicPartition(topic, $0) })
            let first = try Member(server, group: "g-\(topic)", topic: topic)
            #expect(try Self.wait([first]) { first.assigned == all })

            let second = try Member(server, group: "g-\(topic)", topic: topic)
            #expect(
                try Self.wait([first, second]) {
                    first.assigned.count == 2 && second.assigned.count == 2
                        && first.assigned.union(second.assigned) == all
                })
            // The range assignor revokes all partitions before it assigns a half of them again.
            #expect(first.events.contains(.revoked(all.sorted(), lost: false)))

            let lastAssigned = second.assigned
            second.consumer.close()
            #expect(second.assigned.isEmpty, "close reports the last revocation")
            #expect(second.events.last == .revoked(lastAssigned.sorted(), lost: false))
            #expect(try Self.wait([first]) { first.assigned == all })
            first.consumer.close()
        }
    }

    @Test(.enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `the partitions of a member that closes are taken over at once by another member`() async throws {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("takeover", partitions: 2)
            // The group would wait so long for a member that was lost.
            let sessionTimeout = Duration.seconds(30)
            let first = try Member(.real, group: "g-\(topic)", topic: topic, sessionTimeout: sessionTimeout)
            #expect(try Self.wait([first]) { first.assigned.count == 2 })
            let second = try Member(.real, group: "g-\(topic)", topic: topic, sessionTimeout: sessionTimeout)
            #expect(try Self.wait([first, second]) { first.assigned.count == 1 && second.assigned.count == 1 })
            let clock = ContinuousClock()
            let closedAt = clock.now
            first.consumer.close()
            #expect(try Self.wait([second]) { second.assigned.count == 2 })
            #expect(closedAt.duration(to: clock.now) < sessionTimeout / 2)
            second.consumer.close()
        }
    }

    @Test(.enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `a commit with the metadata of a past generation is rejected and requires an abort`() async throws {
        try await runOnDedicatedThread {
            let topic = try Server.real.makeTopic("stale", partitions: 2)
            let partition = TopicPartition(topic, 0)
            let first = try Member(.real, group: "g-\(topic)", topic: topic)
            #expect(try Self.wait([first]) { first.assigned.count == 2 })
            let metadata = try #require(first.consumer.groupMetadata())
            let producer = try KafkaProducer(Server.real.settings(), transactionalID: "p-\(topic)")
            try producer.initTransactions(timeout: .seconds(20))
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic, 0, "stale"))

            let second = try Member(.real, group: "g-\(topic)", topic: topic)
            #expect(try Self.wait([first, second]) { first.assigned.count == 1 && second.assigned.count == 1 })
            let error = #expect(throws: KafkaError.self) {
                try producer.sendOffsets(
                    [partition: OffsetAndMetadata(offset: 1)], group: metadata, timeout: .seconds(10))
            }
            #expect(error?.requiresAbort == true)
            #expect(error?.isFatal == false)
            try producer.abortTransaction(timeout: .seconds(10))
            #expect(try first.consumer.committedOffsets(of: [partition], timeout: .seconds(10)) == [partition: nil])

            // The same producer can begin the next transaction.
            try producer.beginTransaction()
            try producer.send(OutgoingRecord(topic, 0, "fresh"))
            try producer.commitTransaction(timeout: .seconds(10))
            producer.close(timeout: .seconds(1))
        }
    }
}
