// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import TestSupport
import Testing

@Suite(.serialized, .timeLimit(.minutes(2)))
struct FailureTests {
    static func silent(_ brokers: String, overrides: [String: String] = [:]) -> KafkaSettings {
        KafkaSettings(brokers: brokers, clientID: "test", overrides: overrides, log: { _, _, _ in })
    }

    @Test func `I16 a full queue refuses with a typed error`() async throws {
        let port = try FreePort.find()
        try await runOnDedicatedThread {
            let producer = try KafkaProducer(Self.silent("127.0.0.1:\(port)"), queueLimit: 10)
            for _ in 0..<10 { try producer.send(OutgoingRecord("t", 0, "x")) }
            #expect(producer.queueDepth >= 10)
            let error = #expect(throws: KafkaError.self) { try producer.send(OutgoingRecord("t", 0, "x")) }
            #expect(error?.kind == .queueFull)
            #expect(error?.isRetriable == true)
            #expect(error?.codeName == "_QUEUE_FULL")
            producer.close(timeout: .zero)
        }
    }

    @Test func `a record that is too large is refused with a typed error`() async throws {
        try await runOnDedicatedThread {
            let producer = try KafkaProducer(Server.embedded.settings())
            let error = #expect(throws: KafkaError.self) {
                try producer.send(
                    OutgoingRecord(topic: "t", partition: 0, value: [UInt8](repeating: 1, count: 2_000_000)))
            }
            #expect(error?.kind == .messageTooLarge)
            #expect(error?.isRetriable == false)
            producer.close(timeout: .zero)
        }
    }

    @Test func `the size of records is what the settings say`() async throws {
        try await runOnDedicatedThread {
            let port = try FreePort.find()
            var settings = Self.silent("127.0.0.1:\(port)")
            settings.maxMessageBytes = 2_000_000
            let producer = try KafkaProducer(settings)
            func error(_ bytes: Int) -> KafkaError? {
                do {
                    try producer.send(
                        OutgoingRecord(topic: "t", partition: 0, value: [UInt8](repeating: 1, count: bytes)))
                    return nil
                } catch {
                    return error
                }
            }
            #expect(error(1_900_000) == nil)
            #expect(error(2_000_001)?.kind == .messageTooLarge)
            producer.close(timeout: .zero)
            let consumer = try KafkaConsumer(settings)
            consumer.close()
        }
    }

    @Test func `a partition's ends are told by its new leader when the one that the client knows is away for good`()
        async throws
    {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(brokers: 2, topics: ["t": 1])
            let place = TopicPartition("t", 0)
            try broker.setLeader(of: "t", 0, broker: 1)
            let consumer = try KafkaConsumer(Self.silent(broker.bootstrap))
            #expect(try consumer.end(of: place, timeout: .seconds(5)) == 0)

            try broker.takeDown(broker: 1)
            // Learns of the loss before there is a new leader, and so goes on taking the old one for it.
            _ = try? consumer.topicMetadata("t", timeout: .seconds(1))
            try broker.setLeader(of: "t", 0, broker: 2)
            #expect(try consumer.end(of: place, timeout: .seconds(5)) == 0)
            #expect(try consumer.beginning(of: place, timeout: .seconds(5)) == 0)
            consumer.close()
        }
    }

    @Test func `a question for a partition's end ends in time while every broker is away`() async throws {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["t": 1])
            let consumer = try KafkaConsumer(Self.silent(broker.bootstrap))
            #expect(try consumer.end(of: TopicPartition("t", 0), timeout: .seconds(5)) == 0)
            try broker.takeDown(broker: 1)
            let began = ContinuousClock.now
            let error = #expect(throws: KafkaError.self) {
                try consumer.end(of: TopicPartition("t", 0), timeout: .seconds(1))
            }
            #expect(error?.isRetriable == true)
            #expect(ContinuousClock.now - began < .seconds(3))
            consumer.close()
        }
    }

    @Test func `a wrong setting is refused by its name`() {
        let error = #expect(throws: KafkaError.self) {
            _ = try KafkaProducer(Self.silent("127.0.0.1:1", overrides: ["no.such.setting": "1"]))
        }
        #expect(error?.kind == .invalidConfiguration)
        #expect(error?.message.contains("no.such.setting") == true)
        #expect(throws: KafkaError.self) {
            _ = try KafkaConsumer(Self.silent("127.0.0.1:1", overrides: ["fetch.wait.max.ms": "soon"]))
        }
    }

    @Test func `a closed client refuses with a typed error`() async throws {
        try await runOnDedicatedThread {
            let producer = try KafkaProducer(Server.embedded.settings())
            producer.close(timeout: .milliseconds(100))
            producer.close(timeout: .milliseconds(100))
            #expect(
                #expect(throws: KafkaError.self) { try producer.send(OutgoingRecord("t", 0, "x")) }?.kind == .closed)
            #expect(producer.queueDepth == 0)
            let consumer = try Server.embedded.consumer()
            consumer.close()
            consumer.close()
            var records: [IncomingRecord] = []
            #expect(
                #expect(throws: KafkaError.self) {
                    _ = try consumer.poll(max: 1, timeout: .milliseconds(10), into: &records)
                }?.kind == .closed)
        }
    }

    @Test(.enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `a topic that does not exist is a typed error`() async throws {
        try await runOnDedicatedThread {
            let consumer = try Server.real.consumer()
            let error = #expect(throws: KafkaError.self) {
                _ = try consumer.topicMetadata("no-such-topic", timeout: .seconds(5))
            }
            #expect(error?.kind == .unknownTopic)
        }
    }

    @Test func `nobody listening is a typed error and ends in time`() async throws {
        let port = try FreePort.find()
        try await runOnDedicatedThread {
            let admin = try KafkaAdmin(Self.silent("127.0.0.1:\(port)"))
            let elapsed = ContinuousClock().measure {
                let error = #expect(throws: KafkaError.self) {
                    try admin.waitUntilReachable(timeout: .milliseconds(500))
                }
                #expect(error?.kind == .timedOut || error?.kind == .brokerDown)
            }
            #expect(elapsed < .seconds(5))
        }
    }

    @Test func `a broker that goes away is told by typed errors, and all goes on after its return`() async throws {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["t": 1])
            let place = TopicPartition("t", 0)
            let errors = Collected<KafkaError>()
            var settings = Self.silent(broker.bootstrap)
            settings.onError = { errors.append($0) }
            let producer = try KafkaProducer(settings)
            let consumer = try KafkaConsumer(settings, fetchWait: .milliseconds(5))
            try consumer.assign([place: 0])
            _ = try producer.sendAndWait(OutgoingRecord("t", 0, "before"), timeout: .seconds(10))
            let before = try #require(try consumer.poll { records, _ in !records.isEmpty })
            #expect(before.records.map(\.text) == ["before"])

            try broker.takeDown(broker: 1)
            let error = #expect(throws: KafkaError.self) {
                try producer.sendAndWait(OutgoingRecord("t", 0, "during"), timeout: .milliseconds(500))
            }
            #expect(error?.kind == .timedOut)
            let told = try consumer.poll { _, outcome in outcome.errors.contains { $0.kind == .brokerDown } }
            #expect(told != nil)

            try broker.bringUp(broker: 1)
            // What was in the queue was not lost, and keeps its place.
            _ = try producer.sendAndWait(OutgoingRecord("t", 0, "after"), timeout: .seconds(20))
            let after = try #require(try consumer.poll { records, _ in records.count >= 2 })
            #expect(after.records.map(\.text) == ["during", "after"])
            #expect(errors.all.contains { $0.kind == .brokerDown && !$0.isFatal })
            consumer.close()
            producer.close(timeout: .seconds(1))
        }
    }

    @Test func `a consumer of a broker that is gone closes in time`() async throws {
        try await runOnDedicatedThread {
            let broker = try EmbeddedBroker(topics: ["t": 2])
            let consumer = try KafkaConsumer(
                Self.silent(broker.bootstrap), group: "g", fetchWait: .milliseconds(5),
                sessionTimeout: EmbeddedBroker.sessionTimeout)
            try consumer.subscribe("t") { _ in }
            _ = try #require(try consumer.poll { _, outcome in outcome.rebalanced })
            try broker.takeDown(broker: 1)
            let elapsed = ContinuousClock().measure { consumer.close() }
            #expect(elapsed < .seconds(8))
        }
    }

    @Test(.enabled(if: LiveKafka.isAvailable, "set KAFKA_HOME"))
    func `I8 what a killed Kafka had acknowledged is there after its restart, and the clients go on`() async throws {
        try await runOnDedicatedThread {
            let kafka = try LiveKafka()
            let topic = try kafka.makeTopic("restart")
            let place = TopicPartition(topic, 0)
            let settings = Self.silent(kafka.bootstrap)
            let producer = try KafkaProducer(settings)
            let consumer = try KafkaConsumer(settings)
            try consumer.assign([place: 0])
            for number in 0..<50 {
                _ = try producer.sendAndWait(OutgoingRecord(topic, 0, "\(number)"), timeout: .seconds(10))
            }
            _ = try #require(try consumer.poll { records, _ in records.count == 50 })
            kafka.kill()
            try producer.send(OutgoingRecord(topic, 0, "50"))
            try kafka.restart()
            _ = try producer.sendAndWait(OutgoingRecord(topic, 0, "51"), timeout: .seconds(30))
            let after = try #require(try consumer.poll(until: { records, _ in records.count >= 2 }, seconds: 30))
            #expect(after.records.map(\.text) == ["50", "51"])
            try consumer.seek([place: 0])
            let all = try #require(try consumer.poll(until: { records, _ in records.count >= 52 }, seconds: 30))
            #expect(all.records.map(\.text) == (0..<52).map(String.init))
            consumer.close()
            producer.close(timeout: .seconds(1))
        }
    }
}
