// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import Dispatch
internal import HTTPServer
package import KafkaClient
package import Observability
package import PlazaModel
package import ServiceShell
internal import Webhooks

/// The whole gateway as a part of its process: Kafka threads, shards, HTTP.
package final class GatewayService: ServiceComponent {
    package let name = "gateway"
    private let gateway: Gateway
    private let asker: HookAsker?
    private let kafka: KafkaSettings
    private let mode: KafkaMode
    private let log: Log
    private let registry: MetricsRegistry
    private let tables: TableReader
    private let feeds: FeedReader
    private let past: ReplayReader
    private let stopping = DispatchSemaphore(value: 0)
    private let state = Locked(State())

    private struct State {
        var isStopping = false
        var isListening = false
    }

    /// A thread that has not come round for so long hangs.
    private static let hangMilliseconds: Int64 = 30_000

    /// A gateway that does nothing yet.
    package init(
        _ settings: GatewaySettings, gate: any TokenGate, hooks: [AppID: AppHooks] = [:], kafka: KafkaSettings,
        mode: KafkaMode, log: Log, registry: MetricsRegistry
    ) {
        let isAsked = hooks.values.contains { $0.before != nil }
        self.asker = isAsked ? HookAsker(hooks: hooks, metrics: registry) : nil
        self.kafka = kafka
        self.mode = mode
        self.log = log
        self.registry = registry
        self.gateway = Gateway(settings, gate: gate, asker: self.asker, log: log, registry: registry)
        self.tables = TableReader(self.gateway, kafka: Self.reading(kafka, "tables", registry), mode: mode)
        self.feeds = FeedReader(self.gateway, kafka: Self.reading(kafka, "feeds", registry), mode: mode)
        // It reads here and there and no further, so that its lag would say nothing.
        var past = kafka
        past.clientID += ".past"
        self.past = ReplayReader(self.gateway, kafka: past, mode: mode, registry: registry)
    }

    package var isReady: Bool { self.gateway.isReady && self.state.withLock { $0.isListening } }

    package var isLive: Bool {
        guard self.isReady else { return true }
        let oldest = min(self.tables.lastTurnAt, self.feeds.lastTurnAt, self.past.lastTurnAt)
        return (MonotonicClock.now - oldest).count < Self.hangMilliseconds
    }

    package func stop() {
        self.state.withLock { $0.isStopping = true }
        self.stopping.signal()
    }

    package func run() {
        do {
            try self.serve()
        } catch {
            self.log.error("the gateway cannot run", [.detail: .string("\(error)")])
        }
    }

    private func serve() throws {
        let writer = try InboxWriter(self.gateway, kafka: self.kafka, meter: KafkaMeter(self.registry))
        let gathered = GatheredWriter(
            writer, lost: { [gateway] in gateway.notDelivered(token: $0, isBrokerAway: false) })
        let probe = BrokerProbe { writer.answers(milliseconds: BrokerProbe.questionMilliseconds) }
        self.gateway.attach(probe)
        let filled = DispatchSemaphore(value: 0)
        self.gateway.onFilled { filled.signal() }
        var threads = [
            ShellThread { self.tables.run() }, ShellThread { self.feeds.run() }, ShellThread { self.past.run() },
            ShellThread { gathered.run() },
        ]
        if let asker = self.asker { threads.append(ShellThread { asker.run() }) }
        defer {
            self.tables.stop()
            self.feeds.stop()
            self.past.stop()
            self.asker?.stop()
            gathered.stop()
            probe.stop()
            for thread in threads { _ = thread.join(seconds: 1) }
            _ = probe.join(seconds: 1)
            writer.close(milliseconds: 200)
        }
        try writer.warmUp()
        // Nobody is let in before the tables are there, or clients would be told that their lives do not exist.
        while filled.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
            if self.state.withLock({ $0.isStopping }) { return }
        }
        try self.gateway.start(sink: gathered, source: self.feeds, past: self.past)
        defer { self.gateway.stop() }
        let api = try WebServer(
            host: self.gateway.settings.host, port: self.gateway.settings.httpPort, limits: Self.limits,
            failureBody: GatewayAPI.failureBody, observer: self.gateway.metrics.requested,
            handler: GatewayAPI(self.gateway).handler)
        defer { api.stop() }
        self.state.withLock { $0.isListening = true }
        self.log.info(
            "listening", [.port: .int(Int(self.gateway.port)), LogKey("http.port"): .int(Int(api.port))])
        self.stopping.wait()
        self.gateway.beginStopping()
    }

    /// What HTTP takes; its deadline is behind the one of calls.
    static let limits: HTTPLimits = {
        var limits = HTTPLimits()
        limits.bodyBytes = 256 << 10
        limits.deadlineMilliseconds = 12_000
        return limits
    }()

    private static func reading(_ kafka: KafkaSettings, _ reader: String, _ registry: MetricsRegistry)
        -> KafkaSettings
    {
        var settings = KafkaMeter(registry).reading(kafka, as: reader)
        settings.clientID += ".\(reader)"
        return settings
    }
}
