// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import TestSupport
import Testing

/// Tests of the typed errors of Kafka clients, and of how the clients continue after a fault.
@Suite(.serialized, .timeLimit(.minutes(2)))
struct FailureTests {
    /// Settings of a client that logs nothing.
    static func silentSettings(_ brokers: String, overrides: [String: String] = [:]) -> KafkaSettings {
        KafkaSettings(brokers: brokers, clientID: "test", overrides: overrides, log: { _, _, _ in })
    }

    @Test func `I16 a send to a full queue throws a typed error`() async throws {
        let port = try FreePort.find()
        try await runOnDedicatedThread {
            // No broker listens at this port, so records stay in the queue.
            let producer = try KafkaProducer(Self.silentSettings("127.0.0.1:\(port)"), queueLimit: 10)
            for _ in 0..<10 { try producer.send(OutgoingRecord(topic: "t", text: "x")) }
            #expect(producer.queueDepth >= 10, "the queue is full")
            let error = #expect(throws: KafkaError.self) { try producer.send(OutgoingRecord(topic: "t", text: "x")) }
            #expect(error?.kind == .queueFull)
            #expect(error?.isRetriable == true)
            #expect(error?.codeName == "_QUEUE_FULL")
            producer.close(timeout: .zero)
        }
    }

    @Test func `a send of a record over the default limit of 1 MB throws a typed error`() async throws {
        try await runOnDedicatedThread {
            let producer = try KafkaProducer(TestBroker.embedded.settings())
            let error = #expect(throws: KafkaError.self) {
                try producer.send(
                    OutgoingRecord(topic: "t", partition: 0, value: [UInt8](repeating: 1, count: 2_000_000)))
            }
            #expect(error?.kind == .messageTooLarge)
            #expect(error?.isRetriable == false)
            producer.close(timeout: .zero)
        }
    }

    @Test func `a client with a raised limit accepts larger records, up to the limit`() async throws {
        try await runOnDedicatedThread {
            let port = try FreePort.find()
            var settings = Self.silentSettings("127.0.0.1:\(port)")
            settings.maxMessageBytes = 2_000_000
            let producer = try KafkaProducer(settings)
            /// Sends a record with a value of this size; returns the error, or nil if there is none.
            func sendRecord(ofBytes bytes: Int) -> KafkaError? {
                do {
                    try producer.send(
                        OutgoingRecord(topic: "t", partition: 0, value: [UInt8](repeating: 1, count: bytes)))
                    return nil
                } catch {
                    return error
                }
            }
            #expect(sendRecord(ofBytes: 1_900_000) == nil)
            #expect(sendRecord(ofBytes: 2_000_001)?.kind == .messageTooLarge)
            producer.close(timeout: .zero)
            // A consumer accepts the setting, too.
            let consumer = try KafkaConsumer(settings)
            consumer.close()
        }
    }

    @Test(arguments: [
        // The error codes of Kafka's protocol: LEADER_NOT_AVAILABLE, NOT_LEADER_OR_FOLLOWER,
        // COORDINATOR_LOAD_IN_PROGRESS, and UNKNOWN_SERVER_ERROR.
        Int32(5), 6, 14, -1,
    ])
    func `an offset query that a broker rejects again and again ends with a typed error`(error: Int32) async throws {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["t": 1])
            // 2 is the API key of the request ListOffsets. Each attempt is rejected at once, so there are about 100
            // attempts in 3 s, fewer than the 10,000 injected faults.
            try broker.injectFault(intoRequests: 2, count: 10_000, error: error)
            let consumer = try KafkaConsumer(Self.silentSettings(broker.bootstrap))
            #expect(throws: KafkaError.self) {
                _ = try consumer.endOffset(of: TopicPartition("t", 0), timeout: .seconds(3))
            }
            consumer.close()
        }
    }

    @Test func `a query for the ends of a partition finds the partition's new leader after the known leader is gone`()
        async throws
    {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(brokers: 2, topics: ["t": 1])
            let partition = TopicPartition("t", 0)
            try broker.setLeader(of: "t", 0, broker: 1)
            let consumer = try KafkaConsumer(Self.silentSettings(broker.bootstrap))
            #expect(try consumer.endOffset(of: partition, timeout: .seconds(5)) == 0)

            try broker.takeDown(broker: 1)
            // The client refreshes its metadata while there is no new leader, so it still knows only the old one.
            _ = try? consumer.loadTopicMetadata("t", timeout: .seconds(1))
            // The queries below find the new leader.
            try broker.setLeader(of: "t", 0, broker: 2)
            #expect(try consumer.endOffset(of: partition, timeout: .seconds(5)) == 0)
            #expect(try consumer.beginningOffset(of: partition, timeout: .seconds(5)) == 0)
            consumer.close()
        }
    }

    @Test func `a query for the end of a partition times out while no broker is reachable`() async throws {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["t": 1])
            let consumer = try KafkaConsumer(Self.silentSettings(broker.bootstrap))
            #expect(try consumer.endOffset(of: TopicPartition("t", 0), timeout: .seconds(5)) == 0)
            try broker.takeDown(broker: 1)
            let startedAt = ContinuousClock.now
            let error = #expect(throws: KafkaError.self) {
                try consumer.endOffset(of: TopicPartition("t", 0), timeout: .seconds(1))
            }
            #expect(error?.isRetriable == true)
            // The query's timeout is 1 s; the bound leaves time to a slow machine.
            #expect(ContinuousClock.now - startedAt < .seconds(10))
            consumer.close()
        }
    }

    @Test func `an unknown setting and an invalid value throw typed errors, and the error names the unknown setting`() {
        // The settings are checked before any connection, so the address does not matter.
        let error = #expect(throws: KafkaError.self) {
            _ = try KafkaProducer(Self.silentSettings("127.0.0.1:1", overrides: ["no.such.setting": "1"]))
        }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.message.contains("no.such.setting") == true)
        #expect(throws: KafkaError.self) {
            _ = try KafkaConsumer(Self.silentSettings("127.0.0.1:1", overrides: ["fetch.wait.max.ms": "soon"]))
        }
    }

    @Test func `a call of a closed client throws a typed error`() async throws {
        try await runOnDedicatedThread {
            let producer = try KafkaProducer(TestBroker.embedded.settings())
            producer.close(timeout: .milliseconds(100))
            // A second close does nothing.
            producer.close(timeout: .milliseconds(100))
            #expect(
                #expect(throws: KafkaError.self) { try producer.send(OutgoingRecord(topic: "t", text: "x")) }?.kind
                    == .closed)
            #expect(producer.queueDepth == 0)
            let consumer = try TestBroker.embedded.makeConsumer()
            consumer.close()
            consumer.close()
            var records: [IncomingRecord] = []
            #expect(
                #expect(throws: KafkaError.self) {
                    _ = try consumer.poll(max: 1, timeout: .milliseconds(10), into: &records)
                }?.kind == .closed)
        }
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `a query for a topic that does not exist throws a typed error`() async throws {
        try await runOnDedicatedThread {
            let consumer = try TestBroker.real.makeConsumer()
            let error = #expect(throws: KafkaError.self) {
                _ = try consumer.loadTopicMetadata("no-such-topic", timeout: .seconds(5))
            }
            #expect(error?.kind == .unknownTopic)
        }
    }

    @Test func `waiting for a broker at a port on which nobody listens ends in time with a typed error`() async throws {
        let port = try FreePort.find()
        try await runOnDedicatedThread {
            let admin = try KafkaAdmin(Self.silentSettings("127.0.0.1:\(port)"))
            let elapsed = ContinuousClock().measure {
                let error = #expect(throws: KafkaError.self) {
                    try admin.waitUntilReachable(timeout: .milliseconds(500))
                }
                #expect(error?.kind == .timedOut || error?.kind == .brokerDown)
            }
            #expect(elapsed < .seconds(5), "the timeout is 0.5 s")
        }
    }

    @Test func `the loss of a broker is reported by typed errors, and the clients continue after its return`()
        async throws
    {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["t": 1])
            let partition = TopicPartition("t", 0)
            let reportedErrors = Collected<KafkaError>()
            var settings = Self.silentSettings(broker.bootstrap)
            settings.onError = { reportedErrors.append($0) }
            let producer = try KafkaProducer(settings)
            let consumer = try KafkaConsumer(settings, fetchWait: .milliseconds(5))
            try consumer.assign([partition: 0])
            _ = try producer.sendAndWait(OutgoingRecord(topic: "t", text: "before"), timeout: .seconds(10))
            let readBefore = try #require(try consumer.poll { records, _ in !records.isEmpty })
            #expect(readBefore.records.map(\.text) == ["before"])

            try broker.takeDown(broker: 1)
            let error = #expect(throws: KafkaError.self) {
                try producer.sendAndWait(OutgoingRecord(topic: "t", text: "during"), timeout: .milliseconds(500))
            }
            #expect(error?.kind == .timedOut)
            let pollWithError = try consumer.poll { _, outcome in outcome.errors.contains { $0.kind == .brokerDown } }
            #expect(pollWithError != nil)

            try broker.bringUp(broker: 1)
            // The record "during" is still in the producer's queue, and is written before "after".
            _ = try producer.sendAndWait(OutgoingRecord(topic: "t", text: "after"), timeout: .seconds(20))
            let readAfter = try #require(try consumer.poll { records, _ in records.count >= 2 })
            #expect(readAfter.records.map(\.text) == ["during", "after"])
            #expect(reportedErrors.all.contains { $0.kind == .brokerDown && !$0.isFatal })
            consumer.close()
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `a consumer closes in time while its broker is down`() async throws {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["t": 2])
            let consumer = try KafkaConsumer(
                Self.silentSettings(broker.bootstrap), group: "g", fetchWait: .milliseconds(5),
                sessionTimeout: EmbeddedBroker.sessionTimeout)
            try consumer.subscribe("t") { _ in }
            _ = try #require(try consumer.poll { _, outcome in outcome.hasRebalanced })
            try broker.takeDown(broker: 1)
            let elapsed = ContinuousClock().measure { consumer.close() }
            #expect(elapsed < .seconds(8))
        }
    }

    @Test(.enabled(if: RealKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 acknowledged records survive a kill of Kafka, and the clients continue after its restart`() async throws {
        try await runOnDedicatedThread {
            let kafka = try RealKafka()
            let topic = try kafka.makeTopic("restart")
            let partition = TopicPartition(topic, 0)
            let settings = Self.silentSettings(kafka.bootstrap)
            let producer = try KafkaProducer(settings)
            let consumer = try KafkaConsumer(settings)
            try consumer.assign([partition: 0])
            for number in 0..<50 {
                _ = try producer.sendAndWait(OutgoingRecord(topic: topic, text: "\(number)"), timeout: .seconds(10))
            }
            _ = try #require(try consumer.poll { records, _ in records.count == 50 })

            kafka.kill()
            // The record waits in the producer's queue until Kafka is back.
            try producer.send(OutgoingRecord(topic: topic, text: "50"))
            try kafka.restart()
            _ = try producer.sendAndWait(OutgoingRecord(topic: topic, text: "51"), timeout: .seconds(30))
            let readAfter = try #require(try consumer.poll(until: { records, _ in records.count >= 2 }, seconds: 30))
            #expect(readAfter.records.map(\.text) == ["50", "51"])

            // Read all records again, from the beginning.
            try consumer.seek([partition: 0])
            let readAgain = try #require(
                try consumer.poll(until: { records, _ in records.count >= 52 }, seconds: 30))
            #expect(readAgain.records.map(\.text) == (0..<52).map(String.init))
            consumer.close()
            producer.close(timeout: .seconds(1))
        }
    }
}
