// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import Testing

@testable import Gateway

/// The gateway as a service: what it reports when its broker fails, and when it ends.
@Suite struct GatewayServiceTests {
    /// The port in the log line with which a gateway reports that it listens.
    private struct ListeningLine: Decodable {
        var message: String
        var port: UInt16

        private enum CodingKeys: String, CodingKey {
            case message
            case port = "net.port"
        }

        init?(_ line: [UInt8]) {
            guard let listening = try? Wire.decode(Self.self, from: line), listening.message == "listening" else {
                return nil
            }
            self = listening
        }
    }

    /// A gateway that listens, on an embedded broker of its own.
    private struct RunningGateway {
        private static let partitions = 2
        let broker: EmbeddedBroker
        let service: GatewayService
        let thread: DedicatedThread
        let port: UInt16
        let registry = MetricsRegistry()

        init() throws {
            let topics = Dictionary(uniqueKeysWithValues: PlazaTopic.allCases.map { ($0.rawValue, Self.partitions) })
            self.broker = try EmbeddedBroker(topics: topics)
            let port = ConditionVariable<UInt16?>(nil)
            let sink: Log.Sink = { line in
                guard let listening = ListeningLine(line) else { return }
                port.update { $0 = listening.port }
            }
            let service = GatewayService(
                GatewaySettings(id: "gateway-1", partitions: Self.partitions),
                authenticator: try AppKeyAuthenticator(apps: FakeCluster.Tokens.apps),
                kafka: Self.kafka(of: self.broker), mode: .embedded,
                log: Log(service: "gateway", level: .info, sink: sink), registry: self.registry)
            self.service = service
            self.thread = DedicatedThread("gateway") { service.run() }
            self.port = try #require(port.wait(timeout: .seconds(30)) { $0 }, "the gateway does not listen")
        }

        static func kafka(of broker: EmbeddedBroker) -> KafkaSettings {
            KafkaSettings(brokers: broker.bootstrap, clientID: "gateway-test") { _, _, _ in }
        }

        func stop() {
            self.service.stop()
            self.thread.join()
        }

        /// Waits until a condition of the gateway is true.
        ///
        /// - Returns: how long that took; nil if the condition is not true within 25 s.
        func wait(until condition: (GatewayService) -> Bool) -> Milliseconds? {
            let start = MonotonicClock.now
            while !condition(self.service) {
                if MonotonicClock.now - start > .seconds(25) { return nil }
                DedicatedThread.sleep(for: .milliseconds(50))
            }
            return MonotonicClock.now - start
        }
    }

    @Test(.timeLimit(.minutes(1)))
    func `a gateway whose producer can never write again ends, so that its supervisor starts a new one`() async throws {
        try await runOnDedicatedThread {
            let gateway = try RunningGateway()
            defer { gateway.stop() }
            let client = try WireClient(port: gateway.port)
            let params = Wire.encode(LoginParams(token: FakeCluster.Tokens.token("bob")))
            _ = try client.call("login", String(decoding: params, as: UTF8.self))
            #expect(!gateway.thread.join(timeout: .zero))
            // An idempotent producer whose sequence numbers have a gap may not write any other record.
            // These are Kafka's numbers of the request and of the error. 20 requests fail, so that the producer does
            // not succeed by trying again.
            let (produce, outOfOrderSequenceNumber): (Int16, Int32) = (0, 45)
            try gateway.broker.injectFault(intoRequests: produce, count: 20, error: outOfOrderSequenceNumber)
            try client.begin("live.create", #"{"live":"room"}"#)
            #expect(gateway.thread.join(timeout: .seconds(20)))
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a gateway that cannot read its tables says so after ten seconds, and recovers once it can`() async throws {
        try await runOnDedicatedThread {
            let gateway = try RunningGateway()
            defer { gateway.stop() }
            #expect(gateway.service.isLive && gateway.service.isReady)
            // The client pauses for about 0.5 s after a failed fetch, so 36 failures last about 18 s.
            // These are Kafka's numbers of the request and of the error.
            let (fetch, topicAuthorizationFailed): (Int16, Int32) = (1, 29)
            try gateway.broker.injectFault(intoRequests: fetch, count: 36, error: topicAuthorizationFailed)
            let producer = try KafkaProducer(RunningGateway.kafka(of: gateway.broker))
            defer { producer.close(timeout: .zero) }
            let record = OutgoingRecord(
                topic: PlazaTopic.rooms.rawValue, partition: 0, key: Array("demo/room".utf8), value: nil)
            _ = try producer.sendAndWait(record, timeout: .seconds(10))
            // The failures begin before the measurement, so it may be shorter than ten seconds.
            let delay = try #require(gateway.wait { !$0.isLive }, "the gateway does not say that it cannot read")
            #expect(delay >= .seconds(8), "a short failure is no reason to restart")
            #expect(gateway.service.stalledParts == ["gateway tables"])
            #expect(gateway.service.hungLoops.isEmpty, "a loop that turns is no reason for the process to end")
            // The value's first digit is 1: it is between 10 and 20 seconds.
            #expect(
                PrometheusText.render(gateway.registry).contains(#"kafka_reader_waiting_seconds{reader="tables"} 1"#))
            #expect(gateway.wait { $0.isLive } != nil, "the gateway does not recover")
            #expect(gateway.service.isReady)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a gateway whose broker cannot be reached stays live, and names what waits for the broker`() async throws {
        try await runOnDedicatedThread {
            let gateway = try RunningGateway()
            defer { gateway.stop() }
            try gateway.broker.takeDown(broker: 1)
            #expect(gateway.wait { $0.degradations == ["gateway tables wait for Kafka"] } != nil)
            #expect(gateway.service.isLive && gateway.service.isReady)
            try gateway.broker.bringUp(broker: 1)
            #expect(gateway.wait { $0.degradations.isEmpty } != nil, "the gateway does not recover")
            #expect(gateway.service.isLive && gateway.service.isReady)
        }
    }
}
