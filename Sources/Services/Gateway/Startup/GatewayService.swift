// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPServer
package import KafkaClient
internal import MachineKit
package import Observability
package import PlazaModel
package import ServiceShell
internal import Webhooks

/// The complete gateway as a component of its process: Kafka threads, shards and the HTTP server.
package final class GatewayService: ServiceComponent {
    package let name = "gateway"
    private let gateway: Gateway
    private let webhookClient: WebhookClient?
    private let kafka: KafkaSettings
    private let mode: KafkaMode
    private let log: Log
    private let registry: MetricsRegistry
    private let tables: TableReader
    private let feeds: FeedReader
    private let replay: ReplayReader
    private let state = ConditionVariable(State())

    private struct State {
        var areTablesFilled = false
        var isListening = false
        var isStopping = false
    }

    /// The time without a loop turn after which a thread is considered hung.
    private static let hangMilliseconds: Int64 = 30_000

    /// Creates a gateway that is not running yet.
    ///
    /// - Parameters:
    ///   - settings: the gateway's settings.
    ///   - authenticator: checks tokens.
    ///   - hooks: the webhook configuration of each app that has one.
    ///   - webhookCAFile: authorities that backends' certificates may be signed by besides the system's, in PEM.
    ///   - kafka: the settings of the Kafka clients.
    ///   - mode: whether the broker is the embedded one.
    ///   - log: the log.
    ///   - registry: the registry of the metrics.
    package init(
        _ settings: GatewaySettings, authenticator: any TokenAuthenticator, hooks: [AppID: AppHooks] = [:],
        webhookCAFile: String? = nil,
        kafka: KafkaSettings,
        mode: KafkaMode, log: Log, registry: MetricsRegistry
    ) {
        let hasBeforeHooks = hooks.values.contains { $0.before != nil }
        self.webhookClient =
            hasBeforeHooks ? WebhookClient(hooks: hooks, caFile: webhookCAFile, metrics: registry) : nil
        self.kafka = kafka
        self.mode = mode
        self.log = log
        self.registry = registry
        self.gateway = Gateway(
            settings, authenticator: authenticator, webhookClient: self.webhookClient, log: log, registry: registry)
        self.tables = TableReader(self.gateway, kafka: Self.reading(kafka, "tables", registry), mode: mode)
        self.feeds = FeedReader(self.gateway, kafka: Self.reading(kafka, "feeds", registry), mode: mode)
        // The replay reader reads only ranges of partitions, so its lag is meaningless and not exported.
        var replayKafka = kafka
        replayKafka.clientID += ".past"
        self.replay = ReplayReader(self.gateway, kafka: replayKafka, mode: mode, registry: registry)
    }

    package var isReady: Bool { self.gateway.isReady && self.state.current.isListening }

    package var isLive: Bool {
        guard self.isReady else { return true }
        let now = MonotonicClock.now
        let oldest = min(self.tables.lastTurnAt, self.feeds.lastTurnAt, self.replay.lastTurnAt)
        return (now - oldest).count < Self.hangMilliseconds && self.gateway.areShardsTurning(at: now)
    }

    package func stop() { self.state.update { $0.isStopping = true } }

    package func run() {
        do {
            try self.serve()
        } catch {
            self.log.error("the gateway cannot run", [.detail: .string("\(error)")])
        }
    }

    private func serve() throws {
        let writer = try InboxWriter(self.gateway, kafka: self.kafka, meter: KafkaClientMetrics(self.registry))
        let batchingWriter = BatchingWriter(
            writer, lost: { [gateway] in gateway.notDelivered(token: $0, isBrokerAway: false) })
        let probe = BrokerProbe { writer.answers(milliseconds: BrokerProbe.requestMilliseconds) }
        self.gateway.attach(probe)
        self.gateway.onFilled { [state] in state.update { $0.areTablesFilled = true } }
        var threads = [
            DedicatedThread("tables") { self.tables.run() }, DedicatedThread("feeds") { self.feeds.run() },
            DedicatedThread("replays") { self.replay.run() }, DedicatedThread("batches") { batchingWriter.run() },
        ]
        if let webhookClient = self.webhookClient {
            threads.append(DedicatedThread("webhooks") { webhookClient.run() })
        }
        defer {
            self.tables.stop()
            self.feeds.stop()
            self.replay.stop()
            self.webhookClient?.stop()
            batchingWriter.stop()
            probe.stop()
            for thread in threads { _ = thread.join(timeout: .seconds(1)) }
            _ = probe.join(timeout: .seconds(1))
            writer.close(milliseconds: 200)
        }
        try writer.warmUp()
        // With empty tables, clients would be told that their lives do not exist. So the gateway listens only after the
        // tables are filled.
        self.state.wait { $0.areTablesFilled || $0.isStopping ? () : nil }
        if self.state.current.isStopping { return }
        try self.gateway.start(sink: batchingWriter, source: self.feeds, replaySource: self.replay)
        defer { self.gateway.stop() }
        let api = try WebServer(
            host: self.gateway.settings.host, port: self.gateway.settings.httpPort,
            limits: Self.limits(self.gateway.settings), failureBody: GatewayAPI.failureBody,
            observer: self.gateway.metrics.requested, refused: self.gateway.metrics.refused,
            headHandler: GatewayAPI(self.gateway).handler)
        defer { api.stop() }
        self.state.update { $0.isListening = true }
        self.log.info(
            "listening", [.port: .int(Int(self.gateway.port)), LogKey("http.port"): .int(Int(api.port))])
        self.state.wait { $0.isStopping ? () : nil }
        self.gateway.beginStopping()
    }

    /// The limits of HTTP requests of a gateway with these settings.
    static func limits(_ settings: GatewaySettings) -> HTTPLimits {
        var limits = Self.limits
        limits.connectionsPerAddress = settings.httpConnectionsPerAddress
        limits.trustedProxies = settings.trustedProxies
        return limits
    }

    /// The limits that no setting changes; the deadline is later than that of calls.
    static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.bodyBytes = 256 << 10
        limits.deadline = .seconds(12)
        return limits
    }()

    private static func reading(_ kafka: KafkaSettings, _ reader: String, _ registry: MetricsRegistry)
        -> KafkaSettings
    {
        var settings = KafkaClientMetrics(registry).exportingLag(kafka, as: reader)
        settings.clientID += ".\(reader)"
        return settings
    }
}
