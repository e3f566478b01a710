// SPDX-License-Identifier: Apache-2.0
import Concurrency
import EmbeddedBroker
import KafkaClient
import Observability
import PlazaModel
import PlazaWire
import ServiceShell
import Testing

@testable import Gateway

@Suite struct GatewayServiceTests {
    /// The ports in the log line with which a gateway reports that it listens.
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

    @Test(.timeLimit(.minutes(1)))
    func `a gateway whose producer can never write again ends, so that its supervisor starts a new one`() async throws {
        try await runOnDedicatedThread {
            let partitions = 2
            let topics = Dictionary(uniqueKeysWithValues: PlazaTopic.allCases.map { ($0.rawValue, partitions) })
            let broker = try EmbeddedBroker(topics: topics)
            let port = ConditionVariable<UInt16?>(nil)
            let sink: Log.Sink = { line in
                guard let listening = ListeningLine(line) else { return }
                port.update { $0 = listening.port }
            }
            let log = Log(service: "gateway", level: .info, sink: sink)
            let service = GatewayService(
                GatewaySettings(id: "gateway-1", partitions: partitions),
                authenticator: try AppKeyAuthenticator(apps: FakeCluster.Tokens.apps),
                kafka: KafkaSettings(brokers: broker.bootstrap, clientID: "gateway-test") { _, _, _ in },
                mode: .embedded, log: log, registry: MetricsRegistry())
            let thread = DedicatedThread("gateway") { service.run() }
            defer {
                service.stop()
                thread.join()
            }
            let listeningPort = try #require(port.wait(timeout: .seconds(30)) { $0 }, "the gateway does not listen")
            let client = try WireClient(port: listeningPort)
            let params = Wire.encode(LoginParams(token: FakeCluster.Tokens.token("bob")))
            _ = try client.call("login", String(decoding: params, as: UTF8.self))
            #expect(!thread.join(timeout: .zero))
            // An idempotent producer whose sequence numbers have a gap may not write any other record.
            let (produce, outOfOrderSequenceNumber): (Int16, Int32) = (0, 45)
            try broker.injectFault(intoRequests: produce, count: 20, error: outOfOrderSequenceNumber)
            try client.begin("live.create", #"{"live":"room"}"#)
            #expect(thread.join(timeout: .seconds(20)))
        }
    }
}
