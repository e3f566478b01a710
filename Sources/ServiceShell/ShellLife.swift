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
    /// How long a takeover may wait for the last owner's transaction and the state's end.
    private static let restoreMilliseconds: Int64 = 20_000

    private let spec: MachineSpec
    private let settings: ShellSettings
    private let log: Log
    private let registry: MetricsRegistry
    private let metrics: ShellMetrics
    private let isStopping: () -> Bool
    private let report: (Bool) -> Void

    private let consumer: KafkaConsumer
    private let state: StateReader
    private let writer: any BatchWriter
    private let side: SideProducer

    private var owned: [TopicPartition: OwnedPartition] = [:]
    /// Revoked partitions with their rows, used again if nobody else has committed since.
    private var remembered: [TopicPartition: OwnedPartition] = [:]
    /// Taken when the group gave the partitions, and never refreshed.
    private var group: GroupMetadata?
    private var hasJoined = false
    private var failure: (any Error)?
    private var spans = SeededRandom(seed: UInt64.random(in: .min ... .max))

    var waker: ConsumerWaker { self.consumer.waker }

    init(
        _ spec: MachineSpec, _ settings: ShellSettings, _ log: Log, _ registry: MetricsRegistry,
        isStopping: @escaping () -> Bool, report: @escaping (Bool) -> Void
    ) throws(KafkaError) {
        self.spec = spec
        self.settings = settings
        self.log = log
        self.registry = registry
        self.metrics = ShellMetrics(registry, machine: spec.name)
        self.isStopping = isStopping
        self.report = report
        let meter = KafkaMeter(registry)
        self.consumer = try KafkaConsumer(
            meter.reading(settings.kafka, as: spec.name), group: spec.name,
            fetchWaitMilliseconds: settings.fetchWaitMilliseconds,
            sessionTimeoutMilliseconds: settings.sessionMilliseconds)
        self.state = try StateReader(settings.kafka, fetchWaitMilliseconds: settings.fetchWaitMilliseconds)
        self.side = try SideProducer(
            settings.kafka, machine: spec.name, partitions: settings.partitions, lost: self.metrics.lostReplies,
            meter: meter)
        switch settings.mode {
        case .full:
            self.writer = try TransactionWriter(
                settings.kafka, transactionalID: "\(settings.instance).\(spec.name)", state: spec.state,
                partitions: settings.partitions)
        case .embedded:
            self.writer = try PlainWriter(settings.kafka, state: spec.state, partitions: settings.partitions)
        }
    }

    func close() {
        // Leaving the group calls the rebalance handler; no transaction is open between batches.
        self.consumer.close()
        self.state.close()
        self.writer.close()
        self.side.close()
    }

    func run() throws {
        try self.prepare()
        try self.consumer.subscribe(self.spec.inbox.rawValue) { [weak self] event in self?.rebalanced(event) }
        var records: [IncomingRecord] = []
        while !self.isStopping() {
            records.removeAll(keepingCapacity: true)
            let outcome = try self.consumer.poll(
                max: Self.batchLimit, timeoutMilliseconds: self.waitMilliseconds, into: &records)
            if let failure = self.failure { throw failure }
            if outcome.rebalanced { self.hasJoined = true }
            self.report(self.hasJoined)
            if !records.isEmpty { try self.handle(records) }
            self.writeTicks()
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
                try self.state.warmUp([self.spec.state] + self.spec.facts)
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
    private func warmUp() throws(KafkaError) {
        try self.side.warmUp(self.spec.inbox)
        try self.writer.warmUp()
    }

    // MARK: A batch

    private func handle(_ records: [IncomingRecord]) throws {
        let began = MonotonicClock.milliseconds
        let runs = Self.runs(of: records)
        var output = BatchOutput()
        var replies: [BatchOutput.Item] = []
        var touched: [OwnedPartition] = []
        do {
            for run in runs {
                guard let partition = self.owned[records[run.lowerBound].topicPartition] else { continue }
                if !touched.contains(where: { $0 === partition }) { touched.append(partition) }
                try self.decide(records[run], partition, into: &output, &replies)
            }
            // Once for each, though a batch may hold several stretches of a partition: a plan goes on from the last commit.
            for partition in touched { Self.plan(partition, into: &output) }
            guard !touched.isEmpty, let group = self.group else { return }
            try self.writer.commit(output, group: group, consumer: self.consumer)
        } catch let error as KafkaError {
            for partition in touched { partition.batchRolledBack() }
            self.metrics.aborted.add()
            guard !error.isFatal, error.kind != .fenced else { throw error }
            self.log.info("a batch is decided again", [.detail: .string(error.description)])
            return try self.rewind(touched)
        } catch let error as ProcessorError {
            for partition in touched { partition.batchRolledBack() }
            self.log.warning("a batch could not be decided", [.detail: .string("\(error)")])
            if error == .fenced { throw error }
            PauseTimer.wait(milliseconds: 100)
            return try self.rewind(touched)
        }
        for partition in touched {
            if let offset = output.offsets[partition.place] { partition.batchCommitted(offset) }
        }
        self.side.send(replies)
        self.metrics.batch(
            records: records.count, written: output.items.count + output.rows.count, replies: replies.count,
            milliseconds: MonotonicClock.milliseconds - began,
            rows: self.owned.values.reduce(0) { $0 + $1.processor.rowCount })
    }

    private func decide(
        _ records: ArraySlice<IncomingRecord>, _ partition: OwnedPartition, into output: inout BatchOutput,
        _ replies: inout [BatchOutput.Item]
    ) throws(ProcessorError) {
        var effects: [Effect] = []
        try partition.process(records, effects: &effects)
        let causes = partition.processor.causes
        for (index, effect) in effects.enumerated() {
            var trace: [UInt8]?
            if index < causes.count,
                let header = records[records.startIndex + causes[index]].header(TraceHeader.name),
                let context = TraceContext(parsing: header)
            {
                trace = context.child(using: &self.spans).bytes
            }
            let item = BatchOutput.Item(record: TopicRecord(effect), trace: trace)
            if case .reply = effect { replies.append(item) } else { output.items.append(item) }
        }
    }

    private static func plan(_ partition: OwnedPartition, into output: inout BatchOutput) {
        let plan = partition.planRows()
        if case .written(let rows, _) = plan {
            output.rows += rows.map { (partition: partition.place.partition, key: $0.key, row: $0.row) }
        }
        output.offsets[partition.place] = OffsetAndMetadata(offset: partition.position, metadata: plan.metadata)
    }

    private func rewind(_ partitions: [OwnedPartition]) throws(KafkaError) {
        var offsets: [TopicPartition: Int64] = [:]
        for partition in partitions where self.owned[partition.place] === partition {
            offsets[partition.place] = partition.committed.offset
        }
        guard !offsets.isEmpty else { return }
        try self.consumer.seek(offsets)
    }

    /// The stretches of `records` that are of one partition each; the records of a partition come in order.
    private static func runs(of records: [IncomingRecord]) -> [Range<Int>] {
        var runs: [Range<Int>] = []
        var start = 0
        for index in records.indices.dropFirst() where records[index].topicPartition != records[start].topicPartition {
            runs.append(start..<index)
            start = index
        }
        runs.append(start..<records.count)
        return runs
    }
}

// MARK: - Partitions come and go

extension ShellLife {
    private func rebalanced(_ event: RebalanceEvent) {
        switch event {
        case .assigned(let places):
            self.metrics.assigned.add()
            do {
                try self.take(places)
            } catch {
                self.failure = error
            }
        case .revoked(let places, _):
            self.metrics.revoked.add()
            for place in places {
                if let partition = self.owned.removeValue(forKey: place) { self.remembered[place] = partition }
            }
            self.metrics.partitions.set(self.owned.count)
            try? self.consumer.unassign()
        }
    }

    /// Restores the rows of `places` and begins to read them; the group's heartbeats go on meanwhile.
    private func take(_ places: [TopicPartition]) throws {
        let began = MonotonicClock.milliseconds
        let deadline = began + Self.restoreMilliseconds
        if !places.isEmpty { try self.warmUp() }
        self.group = self.consumer.groupMetadata()
        let committed = try self.committedOffsets(places, deadline: deadline)
        var fresh: [Int32: OwnedPartition] = [:]
        var starts: [TopicPartition: Int64] = [:]
        for place in places {
            let offset = (committed[place] ?? nil) ?? OffsetAndMetadata(offset: 0)
            starts[place] = offset.offset
            if let kept = self.remembered.removeValue(forKey: place), kept.committed == offset {
                kept.isTaken = false
                self.owned[place] = kept
            } else {
                let context = ProcessorContext(
                    machine: self.spec.name, partition: Int(place.partition), log: self.log,
                    metrics: self.registry, apps: self.spec.apps)
                let partition = try OwnedPartition(place, self.spec.makeProcessor(context), committed: offset)
                self.owned[place] = partition
                fresh[place.partition] = partition
            }
        }
        try self.restore(fresh, deadline: deadline)
        for place in places {
            self.owned[place]?.generation = try self.side.tickAndWait(self.spec.inbox, place.partition)
        }
        self.metrics.partitions.set(self.owned.count)
        self.metrics.restore.record(milliseconds: Int(MonotonicClock.milliseconds - began))
        try self.consumer.assign(starts)
    }

    /// Waits for the last owner's open transaction, if it left one.
    private func committedOffsets(
        _ places: [TopicPartition], deadline: Int64
    ) throws(KafkaError) -> [TopicPartition: OffsetAndMetadata?] {
        while true {
            do {
                return try self.consumer.committed(places, timeoutMilliseconds: 1000)
            } catch {
                guard error.kind == .timedOut || error.isRetriable, MonotonicClock.milliseconds < deadline,
                    !self.isStopping()
                else { throw error }
            }
        }
    }

    private func restore(_ fresh: [Int32: OwnedPartition], deadline: Int64) throws(KafkaError) {
        guard !fresh.isEmpty else { return }
        var places = fresh.keys.map { TopicPartition(self.spec.state.rawValue, $0) }
        let isPlain = self.settings.mode == .embedded
        if isPlain {
            for topic in self.spec.facts { places += fresh.keys.map { TopicPartition(topic.rawValue, $0) } }
        }
        try self.state.read(places, deadline: deadline) { record in
            guard let bytes = record.key else { return }
            let key = String(decoding: bytes, as: UTF8.self)
            if isPlain { self.writer.learn(record.topic, partition: record.partition, key: key, value: record.value) }
            if record.topic == self.spec.state.rawValue {
                fresh[record.partition]?.processor.restore(key: key, row: record.value)
            }
        }
        for partition in fresh.values { partition.restoreTail() }
    }

    // MARK: Time

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
