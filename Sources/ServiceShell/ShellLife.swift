// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// One life of a machine's shell: its clients, its partitions, and the loop.
final class ShellLife {
    private static let batchLimit = 500
    /// How long after a batch was begun the next one is, where many small ones come: without a pause they would be of a
    /// message or two each, for the same work of the broker and the gateways.
    private static let appendSpacing: Int64 = 10

    let spec: MachineSpec
    let settings: ShellSettings
    let log: Log
    let registry: MetricsRegistry
    let metrics: ShellMetrics
    let isStopping: () -> Bool
    private let report: (Bool) -> Void

    let consumer: KafkaConsumer
    let state: StateReader
    let writer: any BatchWriter
    /// Where the machine appends what needs no transaction; nil where all does.
    let appender: AppendWriter?
    let side: SideProducer

    var owned: [TopicPartition: OwnedPartition] = [:]
    /// Revoked partitions with their rows, used again if nobody else has committed since.
    var remembered: [TopicPartition: OwnedPartition] = [:]
    /// Taken when the group gave the partitions, and never refreshed.
    var group: GroupMetadata?
    /// Whether the group may have given the partitions away.
    var watch: StallWatch
    private var hasJoined = false
    private var nextBatchAt: Int64 = 0
    var failure: (any Error)?
    var spans = SeededRandom(seed: UInt64.random(in: .min ... .max))

    var waker: ConsumerWaker { self.consumer.waker }

    init(
        _ spec: MachineSpec, _ settings: ShellSettings, session: Int, _ log: Log, _ registry: MetricsRegistry,
        isStopping: @escaping () -> Bool, report: @escaping (Bool) -> Void
    ) throws(KafkaError) {
        self.spec = spec
        self.settings = settings
        self.log = log
        self.registry = registry
        self.metrics = ShellMetrics(registry, machine: spec.name)
        self.isStopping = isStopping
        self.report = report
        self.watch = StallWatch(limit: Int64(session - GroupSession.heartbeatMilliseconds - 100))
        let meter = KafkaMeter(registry)
        self.consumer = try KafkaConsumer(
            meter.reading(settings.kafka, as: spec.name), group: spec.name,
            fetchWaitMilliseconds: settings.fetchWaitMilliseconds,
            sessionTimeoutMilliseconds: session, heartbeatMilliseconds: GroupSession.heartbeatMilliseconds)
        self.state = try StateReader(settings.kafka, fetchWaitMilliseconds: settings.fetchWaitMilliseconds)
        self.side = try SideProducer(
            settings.kafka, machine: spec.name, lost: self.metrics.lostReplies, meter: meter)
        switch settings.mode {
        case .full:
            self.writer = try TransactionWriter(
                settings.kafka, transactionalID: "\(settings.instance).\(spec.name)", state: spec.state)
            self.appender = try spec.appendsTo.map { topic throws(KafkaError) in
                try AppendWriter(
                    settings.kafka, topic: topic, patienceMilliseconds: settings.appendMilliseconds,
                    machine: spec.name, meter: meter)
            }
        case .embedded:
            self.writer = try PlainWriter(settings.kafka, state: spec.state)
            self.appender = nil
        }
    }

    func close() {
        // Leaving the group calls the rebalance handler; no transaction is open between batches.
        self.consumer.close()
        self.state.close()
        self.writer.close()
        self.appender?.close()
        self.side.close()
    }

    func run() throws {
        do {
            try self.serve()
        } catch {
            self.failure = error
            throw error
        }
    }

    private func serve() throws {
        try self.prepare()
        try self.consumer.subscribe(self.spec.inbox.rawValue) { [weak self] event in self?.rebalanced(event) }
        var records: [IncomingRecord] = []
        while !self.isStopping() {
            records.removeAll(keepingCapacity: true)
            self.watch.turns(at: MonotonicClock.milliseconds)
            self.pace()
            let outcome = try self.consumer.poll(
                max: Self.batchLimit, timeoutMilliseconds: self.waitMilliseconds, into: &records)
            if let failure = self.failure { throw failure }
            self.watch.turns(at: MonotonicClock.milliseconds)
            if outcome.rebalanced { self.hasJoined = true }
            self.report(self.hasJoined)
            if !records.isEmpty {
                self.nextBatchAt = MonotonicClock.milliseconds + Self.appendSpacing
                try self.handle(records)
            }
            self.writeTicks()
            try self.checkpoint()
        }
    }

    /// Gets the clients ready: the apps' settings are there, the older life of this name is fenced, the topics are known.
    private func prepare() throws(KafkaError) {
        while let apps = self.spec.apps, !apps.isReady, !self.isStopping() {
            apps.wait(milliseconds: 100)
            self.report(false)
        }
        while !self.isStopping() {
            do {
                try self.state.warmUp([self.spec.state] + self.spec.facts + (self.appender.map { [$0.topic] } ?? []))
                _ = try self.consumer.topicMetadata(self.spec.inbox.rawValue, timeoutMilliseconds: 5000)
                try self.writer.prepare()
                return try self.warmUp()
            } catch {
                self.report(false)
                guard error.isRetriable || error.kind == .timedOut || error.kind == .brokerDown else { throw error }
            }
        }
    }

    /// Makes the producers know their topics; what they forgot in a long wait, they ask for again.
    func warmUp() throws(KafkaError) {
        try self.side.warmUp(self.spec.inbox)
        try self.writer.warmUp()
        try self.appender?.warmUp()
    }

    // MARK: Time

    /// Waits until the next batch may begin.
    private func pace() {
        guard self.spec.appendsTo != nil else { return }
        let now = MonotonicClock.milliseconds
        if now < self.nextBatchAt { PauseTimer.wait(milliseconds: self.nextBatchAt - now) }
    }

    /// How long the next poll may wait: until a tick must be written.
    private var waitMilliseconds: Int {
        let now = MonotonicClock.milliseconds
        var wait: Int64 = 500
        for partition in self.owned.values {
            if let next = partition.ticks.next(due: partition.processor.nextDue) { wait = min(wait, next - now) }
        }
        return Int(max(0, wait))
    }

    private func writeTicks() {
        let now = MonotonicClock.milliseconds
        for partition in self.owned.values {
            guard let next = partition.ticks.next(due: partition.processor.nextDue), next <= now else { continue }
            self.side.tick(self.spec.inbox, partition.place.partition)
            partition.ticks.ticked(monotonic: now)
        }
    }
}
