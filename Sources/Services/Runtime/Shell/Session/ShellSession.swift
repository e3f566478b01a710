// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel

/// One run of a machine's loop, with its Kafka clients and the partitions that this instance owns.
///
/// A machine decides the inputs of one inbox topic; `MachineShell` starts its sessions one after another. A session
/// ends when the `MachineShell` is stopped, or after an error.
final class ShellSession {
    /// The maximum number of inbox records in a batch.
    private static let maxBatchRecords = 500
    /// The minimum time between the beginnings of two batches of a machine that appends.
    ///
    /// Each batch costs the broker and the gateways a fixed amount of work. Without a minimum time, a batch would
    /// contain only one or two messages.
    private static let minBatchInterval = Milliseconds(10)

    /// The limit of `LeaseGuard` is the session timeout minus the heartbeat interval and this margin.
    private static let leaseMargin = Duration.milliseconds(100)

    let spec: MachineSpec
    let settings: ShellSettings
    let log: Log
    let registry: MetricsRegistry
    let metrics: ShellMetrics
    private let status: LoopStatus

    let consumer: KafkaConsumer
    let stateReader: StateReader
    let writer: any BatchWriter
    /// Appends batches that need no transaction; nil when every batch needs one.
    let appender: AppendWriter?
    /// Writes outside transactions: replies after the commit, ticks, and the records of `ProcessingAttempts`.
    ///
    /// A tick is an input that makes the owner handle the rows that have become due.
    let replyProducer: ReplyProducer

    /// The partitions that this instance owns.
    var owned: [TopicPartition: OwnedPartition] = [:]
    /// Revoked partitions with their rows, the records of the state topic.
    ///
    /// The rows are reused if this instance acquires the partition again and no other member has owned it meanwhile.
    var revoked: [TopicPartition: OwnedPartition] = [:]
    /// The assigned partitions that are not served, because their rows cannot be restored.
    private(set) var damaged: Set<TopicPartition> = []
    /// The group metadata from the last assignment.
    ///
    /// It must not be refreshed: with newer metadata, the broker would accept the transaction of a former owner.
    var group: GroupMetadata?
    /// Detects that the consumer group may have given the partitions to another member.
    var leaseGuard: LeaseGuard
    /// The error of the last batch or read that failed.
    private var lastWorkError: String?
    /// Whether this member has taken part in a rebalance, which may have assigned no partition to it.
    private var hasJoined = false
    /// When the next batch may begin.
    private var nextBatchAt = MonotonicTime.distantPast
    /// The error that ends the session.
    ///
    /// The rebalance handler cannot throw, so it stores the error of a failed acquisition here; the loop throws the
    /// error when the poll returns.
    var failure: (any Error)?
    /// The spans of the batch in progress; nil while tracing is off.
    var spans: BatchSpans?

    var waker: ConsumerWaker { self.consumer.waker }
    var isStopping: Bool { self.status.isStopping }

    init(
        _ spec: MachineSpec, _ settings: ShellSettings, sessionTimeout: Duration, _ log: Log,
        _ registry: MetricsRegistry, _ status: LoopStatus
    ) throws(KafkaError) {
        self.spec = spec
        self.settings = settings
        self.log = log
        self.registry = registry
        self.metrics = ShellMetrics(registry, machine: spec.name)
        self.status = status
        self.spans = BatchSpans(settings.tracer, machine: spec.name)
        self.leaseGuard = LeaseGuard(
            limit: Milliseconds(sessionTimeout - GroupSessionTimeout.heartbeatInterval - Self.leaseMargin))
        let clientMetrics = KafkaClientMetrics(registry)
        self.consumer = try KafkaConsumer(
            clientMetrics.exportingLag(settings.kafka, as: spec.name), group: spec.name,
            fetchWait: settings.fetchWait,
            sessionTimeout: sessionTimeout, heartbeatInterval: GroupSessionTimeout.heartbeatInterval)
        self.stateReader = try StateReader(settings.kafka)
        self.replyProducer = try ReplyProducer(
            settings.kafka, machine: spec.name, lostReplies: self.metrics.lostReplies, metrics: clientMetrics)
        switch settings.mode {
        case .full:
            self.writer = try TransactionWriter(
                settings.kafka, transactionalID: "\(settings.instance).\(spec.name)", state: spec.state)
            self.appender = try spec.appendsTo.map { topic throws(KafkaError) in
                try AppendWriter(
                    settings.kafka, topic: topic, timeout: settings.appendTimeout,
                    machine: spec.name, metrics: clientMetrics)
            }
        case .embedded:
            self.writer = try NonTransactionalWriter(settings.kafka, state: spec.state)
            self.appender = nil
        }
    }

    /// Leaves the group and closes all Kafka clients.
    func close() {
        // The consumer is closed first: leaving the group calls the rebalance handler, which uses the other clients and
        // may write a checkpoint in a new transaction. No other transaction is open, because each batch ends its own.
        self.consumer.close()
        self.setDamagedPartitions([])
        self.status.setUnreadableRowCounts([:])
        self.stateReader.close()
        self.writer.close()
        self.appender?.close()
        self.replyProducer.close()
    }

    /// Runs the loop until the `MachineShell` is stopped.
    ///
    /// - Throws: the error that ends the session.
    func run() throws {
        do {
            try self.runLoop()
        } catch {
            // `close` calls the rebalance handler, which writes no checkpoint if `failure` is set.
            self.failure = error
            throw error
        }
    }

    private func runLoop() throws {
        try self.prepareClients()
        try self.consumer.subscribe(self.spec.inbox.rawValue) { [weak self] event in self?.rebalanced(event) }
        var records: [IncomingRecord] = []
        while !self.isStopping {
            records.removeAll(keepingCapacity: true)
            try self.throwIfUnusable()
            self.leaseGuard.phaseStarted(at: MonotonicClock.now)
            self.waitForNextBatch()
            let outcome = try self.consumer.poll(
                max: Self.maxBatchRecords, timeout: self.pollTimeout, into: &records)
            if let failure = self.failure { throw failure }
            self.leaseGuard.phaseStarted(at: MonotonicClock.now)
            if outcome.hasRebalanced { self.hasJoined = true }
            self.status.reportTurn(isReady: self.hasJoined)
            self.watchProgress(of: records, outcome)
            if !records.isEmpty {
                self.nextBatchAt = MonotonicClock.now + Self.minBatchInterval
                try self.process(records)
            }
            self.writeTicks()
            try self.writeDueCheckpoint()
        }
    }

    /// Throws when a Kafka client of the session can never work again, or when the session is stalled.
    private func throwIfUnusable() throws {
        let fatalError = self.writer.fatalError ?? self.appender?.fatalError ?? self.replyProducer.fatalError
        if let fatalError { throw fatalError }
        guard self.status.isSessionStalled else { return }
        // A partition that cannot be read is assumed to have work. If its end shows that it has none, it is not
        // stalled.
        self.forgetUnreadablePartitionsWithoutWork()
        if self.status.isSessionStalled { throw SessionStalledError(cause: self.lastWorkError) }
    }

    /// Records which partitions have work after a poll, and which have none.
    private func watchProgress(of records: [IncomingRecord], _ outcome: PollOutcome) {
        let now = MonotonicClock.now
        let partitionsWithWork = Self.partitionRuns(of: records[...]).map { records[$0.lowerBound].topicPartition }
            .filter { self.owned[$0] != nil }
        self.reportProgress { watch in
            for partition in partitionsWithWork { watch.workArrived(in: partition, at: now) }
        }
        // The records of this poll are work until their batch is durable, even if the poll reached the end.
        for (partition, end) in outcome.reachedEnds where !partitionsWithWork.contains(partition) {
            self.owned[partition]?.lastReachedEnd = end
            self.reportProgress { $0.workDone(in: partition) }
        }
        for (partition, error) in outcome.partitionErrors where self.owned[partition] != nil {
            self.lastWorkError = "\(error)"
            self.reportProgress { $0.readFailed(in: partition, at: now) }
        }
    }

    /// Stops watching partitions that cannot be read, but whose end shows that they have nothing to read.
    private func forgetUnreadablePartitionsWithoutWork() {
        let unreadable = self.status.unreadablePartitions
        guard !unreadable.isEmpty, let ends = try? self.stateReader.ends(of: unreadable) else { return }
        for partition in unreadable {
            guard let owned = self.owned[partition], let end = ends[partition] else { continue }
            if end <= max(owned.position, owned.lastReachedEnd) { self.reportProgress { $0.workDone(in: partition) } }
        }
    }

    /// Records progress or a failure of the session.
    func reportProgress(_ update: (inout ProgressWatch) -> Void) { self.status.reportProgress(update) }

    /// Sets and reports which assigned partitions cannot be restored.
    func setDamagedPartitions(_ partitions: Set<TopicPartition>) {
        self.damaged = partitions
        self.metrics.damagedPartitions.set(partitions.count)
        self.status.setDamagedPartitions(partitions.map(\.partition).sorted())
    }

    /// Reports for each owned partition how many of its rows could not be read; it is served without them.
    func reportUnreadableRows() {
        let counts = self.owned.map { ($0.key.partition, $0.value.processor.unreadableRowCount) }
        self.status.setUnreadableRowCounts(
            Dictionary(counts.filter { $0.1 > 0 }, uniquingKeysWith: { first, _ in first }))
    }

    /// Records that a batch of the partitions is durable.
    func reportDurable(_ partitions: [OwnedPartition]) {
        self.reportProgress { watch in
            for partition in partitions { watch.workDone(in: partition.topicPartition) }
        }
    }

    /// Records a failed batch of the partitions and waits before it is processed again.
    func pauseAfterFailure(of partitions: [OwnedPartition], _ error: any Error) {
        self.lastWorkError = "\(error)"
        self.reportProgress { watch in
            for partition in partitions { watch.workFailed(in: partition.topicPartition) }
        }
        DedicatedThread.sleep(for: Duration(self.status.retryPause))
    }

    /// Waits until the apps' settings are loaded, loads topic metadata, and fences older producers of this instance.
    ///
    /// The last two are tried again while the broker cannot be reached.
    ///
    /// - Throws: an error that another attempt cannot correct, such as denied access.
    private func prepareClients() throws(KafkaError) {
        while let apps = self.spec.apps, !apps.isReady, !self.isStopping {
            apps.waitUntilLoaded(timeout: .milliseconds(100))
            self.status.reportTurn(isReady: false)
        }
        while !self.isStopping {
            do {
                try self.stateReader.warmUp(
                    [self.spec.state] + self.spec.publicTopics + (self.appender.map { [$0.topic] } ?? []))
                _ = try self.consumer.loadTopicMetadata(self.spec.inbox.rawValue, timeout: .seconds(5))
                // Fences older producers.
                try self.writer.prepare()
                return try self.warmUp()
            } catch {
                guard error.isRetriable || error.kind == .timedOut || error.kind == .brokerDown else { throw error }
                self.status.reportTurn(isReady: false)
                self.reportProgress { $0.brokerUnreachable() }
            }
        }
    }

    /// Loads the topics' metadata into all producers.
    ///
    /// This is done before each acquisition, because producers drop unused metadata after a while.
    ///
    /// - Throws: `KafkaError` when the broker does not answer in time.
    func warmUp() throws(KafkaError) {
        try self.replyProducer.warmUp(self.spec.inbox, self.spec.state)
        try self.writer.warmUp()
        try self.appender?.warmUp()
    }

    // MARK: Time

    /// Waits until the next batch of a machine that appends may begin; other machines do not wait.
    private func waitForNextBatch() {
        guard self.spec.appendsTo != nil else { return }
        let now = MonotonicClock.now
        if now < self.nextBatchAt { DedicatedThread.sleep(for: Duration(self.nextBatchAt - now)) }
    }

    /// How long the next poll may wait: until the next tick, but at most 500 ms, so that the loop turns without
    /// records.
    private var pollTimeout: Duration {
        let now = MonotonicClock.now
        var wait = Milliseconds(500)
        for partition in self.owned.values {
            if let tickAt = partition.ticks.nextTick(due: partition.processor.nextDue) {
                wait = min(wait, tickAt - now)
            }
        }
        return Duration(max(Milliseconds(0), wait))
    }

    /// Writes the ticks that are due.
    private func writeTicks() {
        let now = MonotonicClock.now
        for partition in self.owned.values {
            guard let tickAt = partition.ticks.nextTick(due: partition.processor.nextDue), tickAt <= now else {
                continue
            }
            // A tick that was written and not read back is work: the partition has something to read.
            if partition.ticks.isTickUnread {
                self.reportProgress { $0.workArrived(in: partition.topicPartition, at: now) }
            }
            self.replyProducer.writeTick(self.spec.inbox, partition.topicPartition.partition)
            partition.ticks.tickWritten(at: now)
        }
    }
}
