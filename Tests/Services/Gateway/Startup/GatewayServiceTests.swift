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

/// The gateway as a service: what its health checks and metrics report when its broker fails, and when it ends.
@Suite struct GatewayServiceTests {
    /// The log line with which a gateway reports that it listens, and on which port.
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

    /// A gateway that listens, with an embedded broker of its own.
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
                authenticator: try AppTokenAuthenticator(apps: FakeCluster.Tokens.appsFile),
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
    func `a gateway whose producer has a fatal error ends, so that its supervisor starts a new one`() async throws {
        try await runOnDedicatedThread {
            let gateway = try RunningGateway()
            defer { gateway.stop() }
            let client = try WireClient(port: gateway.port)
            let params = Wire.encode(LoginParams(token: FakeCluster.Tokens.token("bob")))
            _ = try client.call("login", String(decoding: params, as: UTF8.self))
            #expect(!gateway.thread.join(timeout: .zero), "the gateway runs")
            // An idempotent producer whose sequence numbers have a gap can never write again. The two numbers are
            // Kafka's codes of the request and of the error. 20 requests in a row fail, so that every retry fails, too.
            let (produce, outOfOrderSequenceNumber): (Int16, Int32) = (0, 45)
            try gateway.broker.injectFault(intoRequests: produce, count: 20, error: outOfOrderSequenceNumber)
            try client.begin("live.create", #"{"live":"room"}"#)
            #expect(gateway.thread.join(timeout: .seconds(20)), "the gateway ends")
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a gateway that cannot read its tables fails its liveness check after ten seconds, until it can read again`()
        async throws
    {
        try await runOnDedicatedThread {
            let gateway = try RunningGateway()
            defer { gateway.stop() }
            #expect(gateway.service.isLive && gateway.service.isReady)
            // The Kafka client pauses for about 0.5 s after a failed fetch, so 36 failures last about 18 s. The two
            // numbers are Kafka's codes of the request and of the error.
            let (fetch, topicAuthorizationFailed): (Int16, Int32) = (1, 29)
            try gateway.broker.injectFault(intoRequests: fetch, count: 36, error: topicAuthorizationFailed)
            // This record gives the gateway something to read.
            let producer = try KafkaProducer(RunningGateway.kafka(of: gateway.broker))
            defer { producer.close(timeout: .zero) }
            let record = OutgoingRecord(
                topic: PlazaTopic.rooms.rawValue, partition: 0, key: Array("demo/room".utf8), value: nil)
            _ = try producer.sendAndWait(record, timeout: .seconds(10))
            // The failures begin before the measurement, so the measured time may be shorter than ten seconds.
            let delay = try #require(gateway.wait { !$0.isLive }, "the liveness check must fail")
            #expect(delay >= .seconds(8), "a shorter failure must not fail the liveness check")
            #expect(gateway.service.stalledParts == ["gateway tables"])
            #expect(gateway.service.hungLoops.isEmpty, "the loop still turns, so the process need not end")
            // The metric's value is 10 to 19 seconds; the text contains its first digit.
            #expect(
                PrometheusText.render(gateway.registry).contains(#"kafka_reader_waiting_seconds{reader="tables"} 1"#))
            #expect(gateway.wait { $0.isLive } != nil, "the gateway recovers after the failures")
            #expect(gateway.service.isReady)
        }
    }

    @Test(.timeLimit(.minutes(2)))
    func `a gateway whose broker cannot be reached passes its liveness check, and names what waits for the broker`()
        async throws
    {
        try await runOnDedicatedThread {
            let gateway = try RunningGateway()
            defer { gateway.stop() }
            try gateway.broker.takeDown(broker: 1)
            #expect(gateway.wait { $0.degradations == ["gateway tables wait for Kafka"] } != nil)
            #expect(gateway.service.isLive && gateway.service.isReady)
            try gateway.broker.bringUp(broker: 1)
            #expect(gateway.wait { $0.degradations.isEmpty } != nil, "the gateway recovers when the broker is back")
            #expect(gateway.service.isLive && gateway.service.isReady)
        }
    }
}
