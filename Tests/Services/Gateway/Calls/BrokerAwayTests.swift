// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import MachineKit
import PlazaModel
import PlazaWire
import ServiceShell
import Testing

@testable import Gateway

/// A gateway whose only broker is away: the errors that callers get, and the probe that notices the broker's return.
@Suite(.timeLimit(.minutes(1))) struct BrokerAwayTests {
    /// A gateway whose records reach the fake cluster's machines through an in-memory broker.
    private final class BrokerFixture: Sendable {
        static let topics: [PlazaTopic] = [
            .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox, .userNotices,
        ]
        /// How long the gateway's producer tries to deliver a record.
        static let deliveryTimeout: Duration = .milliseconds(1500)
        let broker: EmbeddedBroker
        let cluster: FakeCluster
        let writer: InboxWriter
        let probe: BrokerProbe
        /// The number of probe requests.
        let probeRequestCount = Locked(0)
        /// Consumes the gateway's records and answers them as the machines do.
        private let machineThread: DedicatedThread
        private let isStopping = Locked(false)

        init() throws {
            let broker = try EmbeddedBroker(
                topics: Dictionary(uniqueKeysWithValues: Self.topics.map { ($0.rawValue, FakeCluster.partitionCount) }))
            let kafka = KafkaSettings(brokers: broker.bootstrap, clientID: "gateway-test") { _, _, _ in }
            let cluster = try FakeCluster()
            let writer = try InboxWriter(
                cluster.gateway, kafka: kafka, meter: KafkaClientMetrics(cluster.registry),
                timeout: Self.deliveryTimeout)
            try writer.warmUp()
            let probeRequestCount = self.probeRequestCount
            let probe = BrokerProbe {
                probeRequestCount.withLock { $0 += 1 }
                return writer.areLeadersReachable(within: BrokerProbe.requestTimeout)
            }
            cluster.gateway.attach(probe)
            cluster.state.withLock { $0.inboxes = writer }
            let consumer = try KafkaConsumer(kafka, fetchWait: .milliseconds(5))
            var startOffsets: [TopicPartition: Int64] = [:]
            for topic in Self.topics {
                for partition in 0..<FakeCluster.partitionCount {
                    startOffsets[TopicPartition(topic.rawValue, Int32(partition))] = 0
                }
            }
            try consumer.assign(startOffsets)
            let isStopping = self.isStopping
            // The lock is never contended; it lets the thread's closure capture the consumer.
            let lockedConsumer = Locked(consumer)
            self.machineThread = DedicatedThread("test") {
                var records: [IncomingRecord] = []
                while !isStopping.withLock({ $0 }) {
                    records.removeAll()
                    // A poll fails while the broker is away.
                    _ = try? lockedConsumer.withLock {
                        try $0.poll(max: 100, timeout: .milliseconds(50), into: &records)
                    }
                    for record in records {
                        guard let topic = PlazaTopic(rawValue: record.topic) else {
                            Issue.record("a record of the unknown topic \(record.topic)")
                            continue
                        }
                        cluster.answer(TopicRecord(topic, key: "", value: record.value))
                    }
                }
                lockedConsumer.withLock { $0.close() }
            }
            self.broker = broker
            self.cluster = cluster
            self.writer = writer
            self.probe = probe
        }

        /// Ends the probe, the machines and the producer.
        func stop() {
            self.probe.stop()
            self.isStopping.withLock { $0 = true }
            #expect(self.machineThread.join(timeout: .seconds(20)), "the thread of the machines ends")
            #expect(self.probe.join(timeout: .seconds(20)), "the probe ends")
            self.writer.close(timeout: .zero)
        }
    }

    private static let textParams = "{\"live\":\"room\",\"text\":\"x\"}"

    /// Reads frames until none has arrived for `milliseconds`.
    private func readUntilQuiet(_ client: WireClient, milliseconds: Int32) throws {
        while !client.isQuiet(milliseconds: milliseconds) { _ = try client.next() }
    }

    /// Takes the only broker, number 1, down, and makes a call whose record times out.
    ///
    /// From then on the gateway rejects all calls, and a probe asks the broker whether it is back.
    private func takeBrokerDown(_ fixture: BrokerFixture, _ client: WireClient) throws {
        try fixture.broker.takeDown(broker: 1)
        let error = try client.call("barrage.sendText", Self.textParams).error
        #expect(error?.code == .unavailable && error?.retryAfter != nil)
    }

    @Test func `when the broker dies one call times out, and others are rejected until the broker is back`()
        async throws
    {
        try await runOnDedicatedThread {
            let fixture = try BrokerFixture()
            defer { fixture.stop() }
            fixture.cluster.create("room")
            let client = try fixture.cluster.viewer("bob", of: "room")
            #expect(try client.call("barrage.sendText", Self.textParams).error == nil)
            try self.takeBrokerDown(fixture, client)

            // For more than a second all calls are rejected at once. No call has to wait for the broker, because the
            // probe asks whether it is back.
            let start = MonotonicClock.now.milliseconds
            for _ in 0..<10 {
                let error = try client.call("barrage.sendText", Self.textParams).error
                #expect(error?.code == .unavailable && error?.retryAfter != nil)
                try self.readUntilQuiet(client, milliseconds: 100)
            }
            // A call that waited for the broker would take 1.5 s, the producer's timeout.
            #expect(
                MonotonicClock.now.milliseconds - start < 1000 + 10 * 700,
                "ten pauses of 100 ms, and at most 700 ms a call"
            )
            #expect(fixture.probeRequestCount.withLock { $0 } > 0, "the probe has asked the broker")

            try fixture.broker.bringUp(broker: 1)
            let returnTime = MonotonicClock.now.milliseconds
            while let error = try client.call("barrage.sendText", Self.textParams).error {
                #expect(error.code == .unavailable)
                try #require(
                    MonotonicClock.now.milliseconds - returnTime < 10_000,
                    "a call must succeed within 10 s of the return")
                try self.readUntilQuiet(client, milliseconds: 50)
            }
            #expect(fixture.cluster.gateway.isBrokerHealthy)
            try #require(fixture.probe.join(timeout: .seconds(10)), "the probe ends when the broker is back")
            let requestCount = fixture.probeRequestCount.withLock { $0 }
            for _ in 0..<5 { #expect(try client.call("barrage.sendText", Self.textParams).error == nil) }
            #expect(
                fixture.probeRequestCount.withLock { $0 } == requestCount, "after its end the probe asks no more")
        }
    }

    @Test func `a producer whose sequence numbers have a gap reports a fatal error`() async throws {
        try await runOnDedicatedThread {
            let fixture = try BrokerFixture()
            defer { fixture.stop() }
            fixture.cluster.create("room")
            let client = try fixture.cluster.viewer("bob", of: "room")
            #expect(fixture.writer.fatalError == nil)
            // An idempotent producer whose sequence numbers have a gap can never write again. The two numbers are
            // Kafka's codes of the request and of the error. 20 requests in a row fail, so that every retry fails, too.
            let (produce, outOfOrderSequenceNumber): (Int16, Int32) = (0, 45)
            try fixture.broker.injectFault(intoRequests: produce, count: 20, error: outOfOrderSequenceNumber)
            #expect(try client.call("barrage.sendText", Self.textParams).error != nil)
            let start = MonotonicClock.now.milliseconds
            while fixture.writer.fatalError == nil {
                try #require(
                    MonotonicClock.now.milliseconds - start < 10_000, "the writer reports no fatal error in 10 s")
                try self.readUntilQuiet(client, milliseconds: 50)
            }
            #expect(fixture.writer.fatalError?.isFatal == true)
        }
    }

    @Test func `a stop while the broker is away ends the probe, and no other probe begins`() async throws {
        try await runOnDedicatedThread {
            let fixture = try BrokerFixture()
            defer { fixture.stop() }
            fixture.cluster.create("room")
            let client = try fixture.cluster.viewer("bob", of: "room")
            try self.takeBrokerDown(fixture, client)
            #expect(fixture.probe.join(timeout: .milliseconds(300)) == false, "the probe still runs after 300 ms")

            fixture.probe.stop()
            // A probe request takes 900 ms at most; the rest of the time is for a slow machine.
            #expect(fixture.probe.join(timeout: .seconds(5)), "the probe ends")

            let requestCount = fixture.probeRequestCount.withLock { $0 }
            fixture.probe.begin(for: fixture.cluster.gateway)
            #expect(fixture.probe.join(timeout: .seconds(10)), "no probe begins after the stop")
            #expect(fixture.probeRequestCount.withLock { $0 } == requestCount)
        }
    }

    @Test func `because of a lost connection alone no call is rejected, and no probe begins`() async throws {
        try await runOnDedicatedThread {
            let fixture = try BrokerFixture()
            defer { fixture.stop() }
            fixture.cluster.create("room")
            let client = try fixture.cluster.viewer("bob", of: "room")
            // The broker closes the connection, as a broker in production closes idle connections, and is back at once.
            try fixture.broker.takeDown(broker: 1)
            try fixture.broker.bringUp(broker: 1)
            fixture.cluster.gateway.brokerConnectionLost()
            #expect(fixture.cluster.gateway.isBrokerHealthy == false, "the broker must deliver a record first")
            for _ in 0..<5 { #expect(try client.call("barrage.sendText", Self.textParams).error == nil) }
            #expect(fixture.cluster.gateway.isBrokerHealthy)
            #expect(fixture.probeRequestCount.withLock { $0 } == 0)
        }
    }
}
