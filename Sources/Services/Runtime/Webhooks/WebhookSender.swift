// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPClient
internal import KafkaClient
internal import MachineKit
package import Observability
package import PlazaModel
package import ServiceShell

/// Sends webhook events to apps' backends: at least once, and in order within a live.
///
/// The sender reads the topic `webhooks` in its own consumer group. The metadata of each committed offset contains the
/// offsets at which lagging apps continue. After a crash, events of a slow app are therefore sent again without
/// repeating the events that other apps' backends have accepted.
package final class WebhookSender: ServiceComponent {
    package let name = "webhooks"
    /// How long one attempt may take.
    package static let timeout: Duration = .seconds(5)
    /// The consumer group.
    static let group = "webhooks"
    /// The pause after an error, before the next session begins.
    private static let restartPause: Duration = .milliseconds(200)

    private let hooks: [AppID: AppHooks]
    private let settings: ShellSettings
    private let limits: DeliveryQueue.Limits
    private let log: Log
    private let metrics: WebhookMetrics
    /// When the sender's loop last turned, whether the sender is ready, and whether it must stop.
    private let status = LoopStatus()
    /// Whether the sender has events to read, and reads them.
    private let readStatus = ReadStatus()
    /// Whether a catch-up has events to read again, and reads them.
    private let catchUpStatus = ReadStatus()
    private let client: HTTPClient
    /// The attempts that have ended since the last turn.
    private let endedAttempts = Locked<[WebhookAttempt]>([])

    /// Creates a sender; `run` starts it.
    ///
    /// - Parameters:
    ///   - hooks: the webhook configuration of each app that has one.
    ///   - settings: the settings that all shells of the process share.
    ///   - limits: the queue's sizes and retry pauses.
    ///   - caFile: a PEM file with the certificates of authorities that are trusted besides the system's.
    ///   - log: the log to which abandoned events are reported.
    ///   - metrics: the registry for the sender's metrics.
    package init(
        hooks: [AppID: AppHooks], settings: ShellSettings, limits: DeliveryQueue.Limits = DeliveryQueue.Limits(),
        caFile: String? = nil, log: Log, metrics: MetricsRegistry
    ) {
        self.hooks = hooks
        self.settings = settings
        self.limits = limits
        self.client = HTTPClient(maxOpenRequests: limits.maxInFlight, caFile: caFile)
        self.log = log
        self.metrics = WebhookMetrics(metrics)
        for reader in self.readers { reader.status.export(to: metrics, as: reader.name) }
    }

    package var isReady: Bool { self.status.isReady }
    package var hungLoops: [String] {
        (self.status.isTurning ? [] : [self.name]) + (self.client.isTurning ? [] : ["\(self.name) requests"])
    }
    package var stalledParts: [String] { self.readers.filter { $0.status.state == .stalled }.map(\.name) }
    package var degradations: [String] {
        self.readers.filter { $0.status.state == .waitingForBroker }.map { "\($0.name) wait for Kafka" }
    }
    /// The two readers, by the names that health and metrics give them.
    private var readers: [(name: String, status: ReadStatus)] {
        [(self.name, self.readStatus), ("\(self.name)-catch-up", self.catchUpStatus)]
    }

    package func stop() { self.status.stop() }

    package func run() {
        let thread = DedicatedThread("webhook-client") { [client] in client.run() }
        defer {
            self.client.stop()
            // The stopped client returns at once; the timeout is only a precaution.
            _ = thread.join(timeout: .seconds(1))
        }
        while !self.status.isStopping {
            let sessionTimeout = self.settings.sessionTimeout.timeout
            do throws(KafkaError) {
                try self.runSession(sessionTimeout: sessionTimeout)
            } catch {
                for reader in self.readers {
                    reader.status.report { $0.consumerFailed(error, at: MonotonicClock.now) }
                }
                if self.settings.sessionTimeout.raiseIfRejected(error, requested: sessionTimeout, log: self.log) {
                    // The next session requests the raised timeout.
                    continue
                }
                self.log.warning("the webhook sender restarts", [.detail: .string(error.description)])
                self.status.reportTurn(isReady: false)
                DedicatedThread.sleep(for: Self.restartPause)
            }
        }
    }

    /// Reads with two new consumers until `stop` is called.
    ///
    /// - Throws: the error that makes one of the consumers unusable.
    private func runSession(sessionTimeout: Duration) throws(KafkaError) {
        let consumer = try KafkaConsumer(
            self.settings.kafka, group: Self.group, fetchWait: self.settings.relaxedFetchWait,
            sessionTimeout: sessionTimeout, heartbeatInterval: GroupSessionTimeout.heartbeatInterval)
        defer { consumer.close() }
        let catchUpConsumer = try KafkaConsumer(self.settings.kafka)
        defer { catchUpConsumer.close() }
        let waker = consumer.waker
        self.status.setWaker(waker)
        _ = try consumer.loadTopicMetadata(PlazaTopic.webhooks.rawValue, timeout: .seconds(10))
        let dispatcher = WebhookDispatcher(
            consumer: consumer, catchUpConsumer: catchUpConsumer, hooks: self.hooks, limits: self.limits, log: self.log,
            metrics: self.metrics, readStatus: self.readStatus, catchUpStatus: self.catchUpStatus
        ) { [client, endedAttempts] post, position, beganAt in
            client.send(post) { result in
                let attempt = WebhookAttempt(position: position, beganAt: beganAt, result: result)
                endedAttempts.withLock { $0.append(attempt) }
                waker.wakeUp()
            }
        }
        try consumer.subscribe(PlazaTopic.webhooks.rawValue) { [weak dispatcher] event in
            dispatcher?.rebalanced(event)
        }
        while !self.status.isStopping {
            // Whether the consumer is a member of its group.
            let isMember = try dispatcher.runTurn(self.takeEndedAttempts())
            self.status.reportTurn(isReady: isMember)
        }
        dispatcher.commit()
    }

    /// Returns the attempts that have ended since the last call.
    private func takeEndedAttempts() -> [WebhookAttempt] {
        self.endedAttempts.withLock { attempts in
            defer { attempts.removeAll() }
            return attempts
        }
    }
}

/// A finished attempt to deliver an event.
struct WebhookAttempt: Sendable {
    var position: DeliveryQueue.EventPosition
    var beganAt: MonotonicTime
    var result: HTTPResult
}

/// The sender's metrics.
struct WebhookMetrics: Sendable {
    let deliveredEvents: Counter
    let failedAttempts: Counter
    let abandonedEvents: Counter
    let pendingEvents: Gauge
    let laggingApps: Gauge
    let attemptTime: Timing

    init(_ registry: MetricsRegistry) {
        let names = MetricNames.Webhooks.self
        self.deliveredEvents = registry.counter(names.delivered, help: "Events that a backend accepted.")
        self.failedAttempts = registry.counter(names.failedAttempts, help: "Attempts that failed.")
        self.abandonedEvents = registry.counter(
            names.givenUp, help: "Events that were abandoned, by reason.", labels: ["reason": "attempts"])
        self.pendingEvents = registry.gauge(names.pending, help: "Events that are queued or in flight.")
        self.laggingApps = registry.gauge(
            names.appsBehind, help: "Lagging apps, counted in each partition.")
        self.attemptTime = registry.timing(names.attempt, help: "Time that an attempt took.")
    }
}
