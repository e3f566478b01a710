// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import PlazaModel
import PlazaWire
import ServiceShell
import Testing

@testable import Gateway

/// Checks the errors that callers get while the only broker is away, and the probe that detects its return.
@Suite(.timeLimit(.minutes(1))) struct BrokerAwayTests {
    /// A fixture: a gateway whose records reach the simulated machines through an in-memory broker.
    private final class Rig: Sendable {
        static let topics: [PlazaTopic] = [
            .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox, .userNotices,
        ]
        static let timeout: Duration = .milliseconds(1500)
        let broker: EmbeddedBroker
        let cluster: FakeCluster
        let writer: InboxWriter
        let probe: BrokerProbe
        /// The number of probe requests.
        let questions = Locked(0)
        private let machines: DedicatedThread
        private let isStopping = Locked(false)

        init() throws {
            let broker = try EmbeddedBroker(
                topics: Dictionary(uniqueKeysWithValues: Self.topics.map { ($0.rawValue, 4) }))
            let kafka = KafkaSettings(brokers: broker.bootstrap, clientID: "gateway-test") { _, _, _ in }
            let cluster = try FakeCluster()
            let writer = try InboxWriter(
                cluster.gateway, kafka: kafka, meter: KafkaClientMetrics(cluster.registry), timeout: Self.timeout)
            try writer.warmUp()
            let questions = self.questions
            let probe = BrokerProbe {
                questions.withLock { $0 += 1 }
                return writer.areLeadersReachable(milliseconds: BrokerProbe.requestMilliseconds)
            }
            cluster.gateway.attach(probe)
            cluster.state.withLock { $0.inboxes = writer }
            let consumer = try KafkaConsumer(kafka, fetchWait: .milliseconds(5))
            var places: [TopicPartition: Int64] = [:]
            for topic in Self.topics {
                for partition in 0..<4 { places[TopicPartition(topic.rawValue, Int32(partition))] = 0 }
            }
            try consumer.assign(places)
            let isStopping = self.isStopping
            let reader = Locked(consumer)
            self.machines = DedicatedThread("test") {
                var records: [IncomingRecord] = []
                while !isStopping.withLock({ $0 }) {
                    records.removeAll()
                    _ = try? reader.withLock { try $0.poll(max: 100, timeout: .milliseconds(50), into: &records) }
                    for record in records {
                        guard let topic = PlazaTopic(rawValue: record.topic) else { continue }
                        cluster.answer(TopicRecord(topic, key: "", value: record.value))
                    }
                }
                reader.withLock { $0.close() }
            }
            self.broker = broker
            self.cluster = cluster
            self.writer = writer
            self.probe = probe
        }

        func stop() {
            self.probe.stop()
            self.isStopping.withLock { $0 = true }
            #expect(self.machines.join(timeout: .seconds(20)))
            #expect(self.probe.join(timeout: .seconds(20)))
            self.writer.close(milliseconds: 0)
        }
    }

    private static let text = "{\"live\":\"a\",\"text\":\"x\"}"

    private func rejection(_ outcome: Outcome) -> ReplyError? {
        if case .failure(let error) = outcome { error } else { nil }
    }

    /// Reads frames until none has arrived for `milliseconds`.
    private func drain(_ client: WireClient, milliseconds: Int32) throws {
        while !client.isQuiet(milliseconds: milliseconds) { _ = try client.next() }
    }

    /// Takes the broker down, and makes the one call that must time out.
    private func lose(_ rig: Rig, _ client: WireClient) throws {
        try rig.broker.takeDown(broker: 1)
        let first = self.rejection(try client.call("barrage.sendText", Self.text))
        #expect(first?.code == .unavailable && first?.retryAfter != nil)
    }

    @Test func `when the broker dies one call times out, and others are refused until it is back`() async throws {
        try await runOnDedicatedThread {
            let rig = try Rig()
            defer { rig.stop() }
            rig.cluster.create("a")
            let client = try rig.cluster.viewer("bob", of: "a")
            #expect(self.rejection(try client.call("barrage.sendText", Self.text)) == nil)
            try self.lose(rig, client)

            // The refusals last longer than the pauses of a circuit breaker that would test the broker with client
            // calls.
            let began = MonotonicClock.milliseconds
            for _ in 0..<10 {
                let error = self.rejection(try client.call("barrage.sendText", Self.text))
                #expect(error?.code == .unavailable && error?.retryAfter != nil)
                try self.drain(client, milliseconds: 100)
            }
            #expect(MonotonicClock.milliseconds - began < 1000 + 10 * 200)
            #expect(rig.questions.withLock { $0 } > 0)

            try rig.broker.bringUp(broker: 1)
            let returned = MonotonicClock.milliseconds
            while let error = self.rejection(try client.call("barrage.sendText", Self.text)) {
                #expect(error.code == .unavailable)
                try #require(MonotonicClock.milliseconds - returned < 10_000, "refused for 10 s")
                try self.drain(client, milliseconds: 50)
            }
            #expect(rig.cluster.gateway.isBrokerHealthy)
            try #require(rig.probe.join(timeout: .seconds(10)), "nobody asks any more")
            let asked = rig.questions.withLock { $0 }
            for _ in 0..<5 { #expect(self.rejection(try client.call("barrage.sendText", Self.text)) == nil) }
            #expect(rig.questions.withLock { $0 } == asked)
        }
    }

    @Test func `a producer that can never write again says so, and the gateway then ends`() async throws {
        try await runOnDedicatedThread {
            let rig = try Rig()
            defer { rig.stop() }
            rig.cluster.create("a")
            let client = try rig.cluster.viewer("bob", of: "a")
            #expect(rig.writer.fatalError == nil)
            // An idempotent producer whose sequence has a hole may not write any other record.
            let (produce, outOfOrderSequenceNumber): (Int16, Int32) = (0, 45)
            try rig.broker.injectFault(intoRequests: produce, count: 20, error: outOfOrderSequenceNumber)
            #expect(self.rejection(try client.call("barrage.sendText", Self.text)) != nil)
            let began = MonotonicClock.milliseconds
            while rig.writer.fatalError == nil {
                try #require(MonotonicClock.milliseconds - began < 10_000, "no fatal error in 10 s")
                try self.drain(client, milliseconds: 50)
            }
            #expect(rig.writer.fatalError?.isFatal == true)
        }
    }

    @Test func `a stop while the broker is away does not wait for a probe's timeout`() async throws {
        try await runOnDedicatedThread {
            let rig = try Rig()
            defer { rig.stop() }
            rig.cluster.create("a")
            let client = try rig.cluster.viewer("bob", of: "a")
            try self.lose(rig, client)
            #expect(rig.probe.join(timeout: .milliseconds(300)) == false, "it asks")
            let began = MonotonicClock.milliseconds
            rig.probe.stop()
            #expect(rig.probe.join(timeout: .seconds(10)))
            #expect(MonotonicClock.milliseconds - began < 2000)
            let asked = rig.questions.withLock { $0 }
            rig.probe.begin(for: rig.cluster.gateway)
            #expect(rig.probe.join(timeout: .seconds(10)), "none begins after the stop")
            #expect(rig.questions.withLock { $0 } == asked)
        }
    }

    @Test func `a lost connection alone neither refuses a call nor starts a probe`() async throws {
        try await runOnDedicatedThread {
            let rig = try Rig()
            defer { rig.stop() }
            rig.cluster.create("a")
            let client = try rig.cluster.viewer("bob", of: "a")
            // A broker closes idle connections in the same way.
            try rig.broker.takeDown(broker: 1)
            try rig.broker.bringUp(broker: 1)
            rig.cluster.gateway.brokerConnectionLost()
            #expect(rig.cluster.gateway.isBrokerHealthy == false)
            for _ in 0..<5 { #expect(self.rejection(try client.call("barrage.sendText", Self.text)) == nil) }
            #expect(rig.cluster.gateway.isBrokerHealthy)
            #expect(rig.questions.withLock { $0 } == 0)
        }
    }
}
