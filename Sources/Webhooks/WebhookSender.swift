// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import HTTPClient
internal import KafkaClient
package import Observability
package import PlazaModel
package import ServiceShell

/// Tells apps' backends what happened: reads the topic `webhooks` as a group of its own and posts each event, at least once
/// and in order within a live.
///
/// Beside each offset is committed from where on which app is behind, so a crash tells again what was under way, and not
/// what other apps' backends took meanwhile.
package final class WebhookSender: ServiceComponent {
    package let name = "webhooks"
    /// How long one try may take.
    package static let timeoutMilliseconds = 5000
    /// The consumer group.
    static let group = "webhooks"

    private let hooks: [AppID: AppHooks]
    private let settings: ShellSettings
    private let limits: DeliveryQueue.Limits
    private let log: Log
    private let metrics: WebhookMetrics
    private let shared = Locked(Shared())

    private struct Shared {
        var isStopping = false
        var isReady = false
        var lastTurn = MonotonicClock.milliseconds
        var waker: ConsumerWaker?
        var results: [WebhookTry] = []
    }

    /// A sender that does nothing yet.
    ///
    /// - Parameters:
    ///   - hooks: the apps that have some.
    ///   - settings: the broker.
    ///   - limits: bounds and paces.
    ///   - log: takes a line for each event that is given up.
    ///   - metrics: counts.
    package init(
        hooks: [AppID: AppHooks], settings: ShellSettings, limits: DeliveryQueue.Limits = DeliveryQueue.Limits(),
        log: Log, metrics: MetricsRegistry
    ) {
        self.hooks = hooks
        self.settings = settings
        self.limits = limits
        self.log = log
        self.metrics = WebhookMetrics(metrics)
    }

    package var isReady: Bool { self.shared.withLock { $0.isReady } }
    package var isLive: Bool { self.shared.withLock { MonotonicClock.milliseconds - $0.lastTurn < 30_000 } }

    package func stop() {
        let waker = self.shared.withLock { shared in
            shared.isStopping = true
            return shared.waker
        }
        waker?.wake()
    }

    package func run() {
        let client = HTTPClient(limit: self.limits.inFlight)
        let thread = ShellThread { client.run() }
        defer {
            client.stop()
            _ = thread.join(seconds: 1)
        }
        while !self.isStopping {
            let session = self.settings.session.milliseconds
            do throws(KafkaError) {
                try self.live(client, session: session)
            } catch {
                if self.settings.session.takesStep(after: error, asked: session, log: self.log) { continue }
                self.log.warning("the sender of webhooks begins anew", [.detail: .string(error.description)])
                self.report(isReady: false)
                PauseTimer.wait(milliseconds: 200)
            }
        }
    }

    /// One life of the consumer.
    private func live(_ client: HTTPClient, session: Int) throws(KafkaError) {
        let consumer = try KafkaConsumer(
            self.settings.kafka, group: Self.group, fetchWaitMilliseconds: self.settings.unhurriedFetchWaitMilliseconds,
            sessionTimeoutMilliseconds: session, heartbeatMilliseconds: GroupSession.heartbeatMilliseconds)
        defer { consumer.close() }
        let second = try KafkaConsumer(self.settings.kafka)
        defer { second.close() }
        let waker = consumer.waker
        self.shared.withLock { $0.waker = waker }
        _ = try consumer.topicMetadata(PlazaTopic.webhooks.rawValue, timeoutMilliseconds: 10_000)
        let round = WebhookRound(
            consumer: consumer, second: second, hooks: self.hooks, limits: self.limits, log: self.log,
            metrics: self.metrics
        ) { [shared] post, place, began in
            client.send(post) { result in
                let ended = WebhookTry(place: place, began: began, result: result)
                shared.withLock { $0.results.append(ended) }
                waker.wake()
            }
        }
        try consumer.subscribe(PlazaTopic.webhooks.rawValue) { [weak round] event in round?.rebalanced(event) }
        while !self.isStopping {
            let isMember = try round.turn(self.takeResults())
            self.report(isReady: isMember)
        }
        round.commit()
    }

    private var isStopping: Bool { self.shared.withLock { $0.isStopping } }

    private func takeResults() -> [WebhookTry] {
        self.shared.withLock { shared in
            defer { shared.results.removeAll() }
            return shared.results
        }
    }

    private func report(isReady: Bool) {
        self.shared.withLock { shared in
            shared.isReady = isReady
            shared.lastTurn = MonotonicClock.milliseconds
        }
    }
}

/// A try that has ended.
struct WebhookTry: Sendable {
    var place: DeliveryQueue.Place
    /// On `MonotonicClock`.
    var began: Int64
    var result: HTTPResult
}

/// What the sender counts.
struct WebhookMetrics: Sendable {
    let delivered: Counter
    let failed: Counter
    let exhausted: Counter
    let pending: Gauge
    let behind: Gauge
    let tries: Timing

    init(_ registry: MetricsRegistry) {
        let names = MetricNames.Webhooks.self
        self.delivered = registry.counter(names.delivered, help: "Events that a backend took.")
        self.failed = registry.counter(names.failed, help: "Tries that failed.")
        self.exhausted = registry.counter(
            names.givenUp, help: "Events that no backend will get, by reason.", labels: ["reason": "attempts"])
        self.pending = registry.gauge(names.pending, help: "Events read and not done with.")
        self.behind = registry.gauge(
            names.behind, help: "Apps whose further events wait in the topic, counted in each partition.")
        self.tries = registry.timing(names.tries, help: "Time that a try took.")
    }
}
