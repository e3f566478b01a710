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
    private let tableReader: TableReader
    private let feedReader: FeedReader
    private let replayReader: ReplayReader
    private let state = ConditionVariable(State())

    /// When the loop at the end of `serve` last turned; it turns once a second after the tables are filled.
    private let turns = TurnClock()

    /// What changes while `serve` runs.
    private struct State {
        var areTablesFilled = false
        var isListening = false
        var isStopping = false
        // `serve` creates these three parts; each is nil before.
        var writer: InboxWriter?
        var batchingWriter: BatchingWriter?
        var server: WebServer?
    }

    /// How long filling the tables may take while Kafka answers.
    ///
    /// After this time the tables count as stalled, so that the process is restarted.
    private static let maxFillTime = Milliseconds.seconds(600)

    /// How often the producer that writes to the inboxes is checked for a fatal error.
    private static let writerCheckInterval: Duration = .seconds(1)

    /// Creates a gateway that is not running yet.
    ///
    /// - Parameters:
    ///   - settings: The gateway's settings.
    ///   - authenticator: Checks tokens.
    ///   - hooks: The webhook configuration of each app that has one.
    ///   - webhookCAFile: A PEM file with authorities that may sign backends' certificates, besides those of the
    ///     system.
    ///   - kafka: The settings of the Kafka clients.
    ///   - mode: The kind of broker: a real Kafka or the in-memory broker.
    ///   - log: The log.
    ///   - registry: The registry of the metrics.
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
        self.tableReader = TableReader(self.gateway, kafka: Self.readerSettings(kafka, "tables", registry), mode: mode)
        self.feedReader = FeedReader(self.gateway, kafka: Self.readerSettings(kafka, "feeds", registry), mode: mode)
        // The replay reader reads only ranges of partitions, so its consumer's lag would mean nothing and is not
        // exported. The suffix "past" of its client id says that it reads old feed items.
        var replayKafka = kafka
        replayKafka.clientID += ".past"
        self.replayReader = ReplayReader(self.gateway, kafka: replayKafka, mode: mode, registry: registry)
        for (reader, status) in self.readers { status.export(to: registry, as: reader) }
    }

    package var isReady: Bool { self.gateway.isReady && self.state.current.isListening }

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
            writer, recordLost: { [gateway] in gateway.recordLost(token: $0, hasTimedOut: false) })
        let probe = BrokerProbe { writer.areLeadersReachable(within: BrokerProbe.requestTimeout) }
        self.gateway.attach(probe)
        self.state.update { state in
            state.writer = writer
            state.batchingWriter = batchingWriter
        }
        self.gateway.onTablesFilled { [state, turns] in
            // `hungLoops` expects turns from now on, so the end of the filling counts as the first turn.
            turns.recordTurn()
            state.update { $0.areTablesFilled = true }
        }
        var threads = [
            DedicatedThread("tables") { self.tableReader.run() }, DedicatedThread("feeds") { self.feedReader.run() },
            DedicatedThread("replays") { self.replayReader.run() }, DedicatedThread("batches") { batchingWriter.run() },
        ]
        if let webhookClient = self.webhookClient {
            threads.append(DedicatedThread("webhooks") { webhookClient.run() })
        }
        defer {
            self.tableReader.stop()
            self.feedReader.stop()
            self.replayReader.stop()
            self.webhookClient?.stop()
            batchingWriter.stop()
            probe.stop()
            // A thread that does not end in time is left running.
            for thread in threads { _ = thread.join(timeout: .seconds(1)) }
            _ = probe.join(timeout: .seconds(1))
            writer.close(timeout: .milliseconds(200))
        }
        try writer.warmUp()
        // With empty tables, the gateway would reply that lives do not exist. So it listens only after the tables are
        // filled. The wait ends when the closure returns a value other than nil.
        self.state.wait { $0.areTablesFilled || $0.isStopping ? () : nil }
        if self.state.current.isStopping { return }
        try self.gateway.start(sink: batchingWriter, source: self.feedReader, replaySource: self.replayReader)
        defer { self.gateway.stop() }
        let server = try WebServer(
            host: self.gateway.settings.host, port: self.gateway.settings.httpPort,
            limits: Self.httpLimits(for: self.gateway.settings), failureBody: GatewayAPI.failureBody,
            observer: self.gateway.metrics.requestAnswered, refusalObserver: self.gateway.metrics.refused,
            admission: self.gateway.admission, headHandler: GatewayAPI(self.gateway).handler)
        defer { server.stop() }
        self.state.update { state in
            state.server = server
            state.isListening = true
        }
        self.log.info(
            "listening", [.port: .int(Int(self.gateway.port)), LogKey("http.port"): .int(Int(server.port))])
        // After a fatal error, the producer rejects every record. So the process ends, and its supervisor starts a new
        // process.
        while self.state.wait(timeout: Self.writerCheckInterval, for: { $0.isStopping ? () : nil }) == nil {
            if let error = writer.fatalError { throw error }
            self.turns.recordTurn()
        }
        self.gateway.beginStopping()
    }

    /// The readers' names and progress.
    private var readers: [(name: String, status: ReadStatus)] {
        [
            ("tables", self.tableReader.status), ("feeds", self.feedReader.status),
            ("replays", self.replayReader.status),
        ]
    }

    /// Returns the limits of HTTP requests for a gateway with these settings.
    static func httpLimits(for settings: GatewaySettings) -> HTTPLimits {
        var limits = Self.fixedHTTPLimits
        limits.connectionsPerAddress = settings.httpConnectionsPerAddress
        limits.trustedProxies = settings.trustedProxies
        return limits
    }

    /// The limits of HTTP requests before the settings are applied: bodies of 256 KiB, and a timeout of handlers.
    static let fixedHTTPLimits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.bodyBytes = 256 << 10
        // Longer than `OpenCalls.deadline`, so that the client gets the reply of a call that timed out.
        limits.handlerTimeout = .seconds(12)
        return limits
    }()

    /// Returns the settings of a reader's consumer, whose lag is exported as a metric.
    private static func readerSettings(_ kafka: KafkaSettings, _ reader: String, _ registry: MetricsRegistry)
        -> KafkaSettings
    {
        var settings = KafkaClientMetrics(registry).exportingLag(kafka, as: reader)
        settings.clientID += ".\(reader)"
        return settings
    }
}

// MARK: - Health

extension GatewayService {
    package var unreadyParts: [String] {
        if self.isReady { return [] }
        return [self.gateway.areTablesFilled ? self.name : "\(self.name) tables"]
    }

    package var hungLoops: [String] {
        let state = self.state.current
        var names: [String] = []
        if !self.tableReader.isTurning { names.append("tables") }
        if !self.feedReader.isTurning { names.append("feeds") }
        if !self.replayReader.isTurning { names.append("replays") }
        if state.batchingWriter?.isHung == true { names.append("batches") }
        if state.writer?.isHung == true { names.append("inboxes") }
        if self.webhookClient?.isTurning == false { names.append("webhooks") }
        if state.server?.isHung == true { names.append("http") }
        if state.areTablesFilled, !self.turns.isTurning { names.append("service") }
        if state.isListening {
            names += self.gateway.hungShards(at: MonotonicClock.now).map { "shard \($0)" }
        }
        return names.map { "\(self.name) \($0)" }
    }

    package var stalledParts: [String] {
        var names = self.readers.filter { $0.status.state == .stalled }.map(\.name)
        // Time in which Kafka did not answer does not count.
        let fillTime = MonotonicClock.now - self.tableReader.status.reachableSince
        if !self.gateway.areTablesFilled, fillTime >= Self.maxFillTime, !names.contains("tables") {
            names.append("tables")
        }
        return names.map { "\(self.name) \($0)" }
    }

    package var degradations: [String] {
        self.readers.filter { $0.status.state == .waitingForBroker }.map { "\(self.name) \($0.name) wait for Kafka" }
    }
}
