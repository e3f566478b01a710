// SPDX-License-Identifier: Apache-2.0
import Concurrency
import KafkaClient
import MachineKit
import Observability
import PlazaModel
import PlazaWire
import TallyMachine
import TestSupport
import Testing

@testable import ServiceShell

/// A broker with all topics, for shells that run as threads of the test.
///
/// A shell is the loop of a service's instance that consumes inputs, decides and commits. These shells run
/// `TallyMachine`, which copies each text of a live into the live's feed, as an item. The items of a live are numbered
/// from 1.
final class ShellHarness {
    static let partitions = TopicBroker.partitions
    var settings: KafkaSettings { self.broker.settings }
    /// The kind of the broker: the in-memory one (`embedded`) or a real Kafka (`full`).
    let kafkaMode: KafkaMode
    private let broker: TopicBroker
    private let producer: KafkaProducer
    /// The number of texts sent so far; the last text's request has this number as its counter.
    private var sentCount: Int64 = 0

    convenience init(_ kafkaMode: KafkaMode) throws {
        try self.init(kafkaMode, on: TopicBroker(isReal: kafkaMode == .full, clientID: "shell-test"))
    }

    init(_ kafkaMode: KafkaMode, on broker: TopicBroker) throws {
        self.kafkaMode = kafkaMode
        self.broker = broker
        self.producer = try KafkaProducer(broker.settings)
    }

    /// Starts a shell of the tally machine.
    ///
    /// - Parameters:
    ///   - instance: the name of the shell's instance.
    ///   - appendTimeout: how long the shell waits for the acknowledgement of each appended batch; after a timeout of 0
    ///     the shell does not know whether the batch was appended.
    ///   - producerQueueKiB: the capacity of each producer's queue in KiB; nil for the default of services, 128 MiB.
    ///   - log: the shell's log.
    ///   - makeProcessor: makes the processor of a partition; by default, that of the tally machine.
    /// - Returns: the shell, which runs on a dedicated thread.
    func startShell(
        _ instance: String, appendTimeout: @escaping @Sendable () -> Duration = { .seconds(5) },
        producerQueueKiB: Int? = nil, log: Log = .none,
        makeProcessor: @escaping @Sendable (ProcessorContext) -> any PartitionProcessor = {
            MachineProcessor(TallyMachine(), $0)
        }
    ) -> RunningShell {
        RunningShell(
            self, instance, appendTimeout: appendTimeout, producerQueueKiB: producerQueueKiB, log: log, makeProcessor)
    }

    /// Sends a text message to the inbox, and does not wait for the broker's acknowledgement; `flush` waits for it.
    func sendText(_ text: String, in live: LiveKey) throws { try self.producer.send(self.textRecord(text, in: live)) }

    /// Sends a text message to the inbox, and waits until the broker has acknowledged it.
    func sendTextAndWait(_ text: String, in live: LiveKey) throws {
        _ = try self.producer.sendAndWait(self.textRecord(text, in: live), timeout: .seconds(30))
    }

    private func textRecord(_ text: String, in live: LiveKey) -> OutgoingRecord {
        self.sentCount += 1
        let caller = Caller(
            user: UserInfo(userID: "u"), role: .user, request: RequestID(session: "s", counter: self.sentCount),
            replyTo: "gateway-1")
        let input = BarrageInput(live, .sendText(text: text, extensionInfo: nil, caller: caller))
        return TopicRecord(.barrage(input)).outgoing(partitions: Self.partitions)
    }

    /// Sends the texts "1", "2", … to a live whose feed is empty, each when the previous one is in the feed.
    ///
    /// Therefore each text is decided in a batch of its own.
    func sendTextsOneByOne(_ count: Int, in live: LiveKey) throws {
        for number in 1...count {
            try self.sendText("\(number)", in: live)
            try self.flush()
            try self.waitForItems(number, in: live)
        }
    }

    /// Begins a transaction and leaves it open, as an owner does that dies during a commit.
    ///
    /// A commit of the transaction would delete the live's row, set the group's offset back to the beginning, and write
    /// two records to the live's feed partition: one without a value, and an epoch claim.
    ///
    /// - Parameter live: the live whose partition the transaction writes.
    /// - Returns: the producer, with its transaction open on the broker.
    /// - Throws: an error of the broker.
    func openTransaction(deletingRowOf live: LiveKey) throws -> KafkaProducer {
        let partition = Int32(PlazaTopic.partition(of: live.text, among: Self.partitions))
        let group = try KafkaConsumer(self.settings, group: AppendedFeed.group)
        defer { group.close() }
        let producer = try KafkaProducer(
            self.settings, transactionalID: "ghost-\(live.text)", transactionTimeout: .seconds(2),
            onDelivery: { _ in })
        try producer.initTransactions(timeout: .seconds(10))
        try producer.beginTransaction()
        let inboxPartition = TopicPartition(PlazaTopic.barrageInbox.rawValue, partition)
        try producer.sendOffsets(
            [inboxPartition: OffsetAndMetadata(offset: 0)], group: try #require(group.groupMetadata()),
            timeout: .seconds(5)
        )
        for (topic, key) in [(PlazaTopic.barrageState, TallyMachine.Key(live).text), (.roomFeed, live.text)] {
            try producer.send(
                OutgoingRecord(
                    topic: topic.rawValue, partition: partition, key: Array(key.utf8), value: nil, headers: []))
        }
        // A claim of the highest epoch: if it were committed, readers would ignore all later batches.
        try producer.send(
            OutgoingRecord(
                topic: PlazaTopic.roomFeed.rawValue, partition: partition, value: nil,
                headers: BatchHeader(epoch: .max).headers))
        try producer.flush(timeout: .seconds(5))
        return producer
    }

    /// Appends an item to the live's feed, with a batch header as an owner would write it.
    func appendItem(number: Int64, in live: LiveKey, header: BatchHeader) throws {
        let item = FeedItem(
            key: live, position: FeedPosition(epoch: 1, number: number), at: Timestamp(milliseconds: 1),
            content: .text(sender: UserInfo(userID: "tally"), text: "stale", extensionInfo: nil))
        var record = TopicRecord(.feed(item)).outgoing(partitions: Self.partitions)
        record.headers += header.headers
        _ = try self.producer.sendAndWait(record, timeout: .seconds(5))
    }

    /// The offset and the epoch of the last appended record in the live's feed partition.
    func lastAppendedRecord(in live: LiveKey) throws -> (offset: Int64, epoch: Int64) {
        let reader = try StateReader(self.settings)
        defer { reader.close() }
        var lastRecord: (offset: Int64, epoch: Int64)?
        try reader.read([self.partition(of: live, .roomFeed)], deadline: MonotonicClock.now + .seconds(10)) { record in
            if let header = BatchHeader(record) { lastRecord = (record.offset, header.epoch) }
        }
        return try #require(lastRecord)
    }

    /// The epoch of the last appended record in the live's feed partition.
    func lastEpoch(in live: LiveKey) throws -> Int64 { try self.lastAppendedRecord(in: live).epoch }

    /// Waits for at most 20 s until the epoch claims of the live's partition satisfy a condition.
    ///
    /// A claim is the record with which an owner of the partition begins a higher epoch. The offsets of the last claims
    /// are in the metadata of the committed offset of the inbox partition.
    ///
    /// - Returns: the claims.
    func waitForClaims(of live: LiveKey, until condition: (FeedEpochs) -> Bool) throws -> FeedEpochs {
        let group = try KafkaConsumer(self.settings, group: AppendedFeed.group)
        defer { group.close() }
        let partition = self.partition(of: live, .barrageInbox)
        let deadline = MonotonicClock.now + .seconds(20)
        while MonotonicClock.now < deadline {
            let committed = (try? group.committedOffsets(of: [partition], timeout: .seconds(1)))?[partition] ?? nil
            if let claims = committed.flatMap({ FeedEpochs(metadata: $0.metadata) }), condition(claims) {
                return claims
            }
        }
        throw KafkaError(.timedOut, "The group's offset of \(partition) does not have the expected claims.")
    }

    /// Commits an offset of the live's inbox partition for the machine's group; no shell may run meanwhile.
    func commitOffset(_ offset: OffsetAndMetadata, for live: LiveKey) throws {
        let group = try KafkaConsumer(self.settings, group: AppendedFeed.group)
        defer { group.close() }
        let deadline = ContinuousClock.now + .seconds(20)
        while true {
            do throws(KafkaError) {
                return try group.commit([self.partition(of: live, .barrageInbox): offset])
            } catch {
                // A new broker has no coordinator of the group for some seconds.
                guard error.isRetriable, ContinuousClock.now < deadline else { throw error }
                DedicatedThread.sleep(for: .milliseconds(100))
            }
        }
    }

    /// Writes the row of a live to the state topic, or removes the row if `row` is nil; no shell may run meanwhile.
    func writeRow(_ row: [UInt8]?, of live: LiveKey) throws {
        let partition = self.partition(of: live, .barrageState)
        let key = Array(TallyMachine.Key(live).text.utf8)
        _ = try self.producer.sendAndWait(
            OutgoingRecord(
                topic: partition.topic, partition: partition.partition, key: key, value: row, headers: []),
            timeout: .seconds(30))
    }

    /// The partition of a topic to which the live's records belong.
    func partition(of live: LiveKey, _ topic: PlazaTopic) -> TopicPartition {
        TopicPartition(topic.rawValue, Int32(PlazaTopic.partition(of: live.text, among: Self.partitions)))
    }

    /// Waits until the broker has acknowledged all sent texts.
    func flush() throws { try self.producer.flush(timeout: .seconds(10)) }

    /// Waits until the live's feed has this many items, or for at most 30 s.
    ///
    /// - Returns: the numbers of all its items, in the order of the feed.
    @discardableResult
    func waitForItems(_ count: Int, in live: LiveKey) throws -> [Int64] {
        try self.readItemNumbers(of: [live]) { ($0[live]?.count ?? 0) >= count }[live] ?? []
    }

    /// Reads the feeds from their beginning until `isEnough` is true, or for at most 30 s.
    ///
    /// - Returns: for each live, the numbers of its valid items, in the order of the feed.
    func readItemNumbers(
        of lives: Set<LiveKey>, until isEnough: ([LiveKey: [Int64]]) -> Bool
    ) throws -> [LiveKey: [Int64]] {
        let reader = try KafkaConsumer(
            self.settings, fetchWait: self.kafkaMode == .full ? .milliseconds(20) : .milliseconds(5))
        defer { reader.close() }
        var starts: [TopicPartition: Int64] = [:]
        for partition in 0..<Self.partitions {
            starts[TopicPartition(PlazaTopic.roomFeed.rawValue, Int32(partition))] = LogicalOffset.beginning
        }
        try reader.assign(starts)
        var numbers: [LiveKey: [Int64]] = [:]
        var filters: [Int32: BatchFilter] = [:]
        let deadline = MonotonicClock.now + .seconds(30)
        while !isEnough(numbers), MonotonicClock.now < deadline {
            var records: [IncomingRecord] = []
            _ = try reader.poll(max: 1000, timeout: .milliseconds(200), into: &records)
            var valid: [IncomingRecord] = []
            for record in records {
                filters[record.partition, default: BatchFilter()].accept(record, into: &valid)
            }
            for record in valid {
                guard let key = record.key.flatMap({ LiveKey(text: String(decoding: $0, as: UTF8.self)) }),
                    lives.contains(key), let headers = FeedHeaders({ record.header($0) })
                else { continue }
                numbers[key, default: []].append(headers.position.number)
            }
        }
        return numbers
    }
}

/// A shell that runs on a dedicated thread; it is stopped at the latest when nothing refers to it any more.
final class RunningShell {
    let machineShell: MachineShell
    let metrics = MetricsRegistry()
    private let thread: DedicatedThread

    init(
        _ harness: ShellHarness, _ instance: String, appendTimeout: @escaping @Sendable () -> Duration,
        producerQueueKiB: Int?, log: Log,
        _ makeProcessor: @escaping @Sendable (ProcessorContext) -> any PartitionProcessor
    ) {
        let spec = MachineSpec(
            name: "barrage", inbox: .barrageInbox, state: .barrageState, appendsTo: .roomFeed,
            makeProcessor: makeProcessor)
        var kafka = harness.settings
        if let producerQueueKiB { kafka.overrides["queue.buffering.max.kbytes"] = "\(producerQueueKiB)" }
        var settings = ShellSettings(
            kafka: kafka, instance: instance, partitions: ShellHarness.partitions, mode: harness.kafkaMode)
        settings.checkpointInterval = .seconds(1)
        settings.appendTimeout = appendTimeout
        let shell = MachineShell(spec, settings: settings, log: log, metrics: self.metrics)
        self.machineShell = shell
        self.thread = DedicatedThread("test") { shell.run() }
    }

    /// Stops the shell of a test that throws before it calls `stop`; its thread ends by itself.
    deinit { self.machineShell.stop() }

    /// The number of partitions that the shell owns.
    var ownedPartitionCount: Int {
        self.metrics.gauge(MetricNames.Shell.partitions, help: "", labels: ["machine": "barrage"]).value
    }

    /// The partitions that the shell owns, as its metrics name them.
    var ownedPartitions: Set<Int> {
        let family = self.metrics.snapshot().first { $0.name == MetricNames.Shell.ownedPartition }
        return Set(
            (family?.samples ?? []).filter { $0.value == .number(1) }.compactMap { sample in
                sample.labels.pairs.first { $0.name == "partition" }.flatMap { Int($0.value) }
            })
    }

    /// The number of partitions whose rows the shell cannot restore.
    var damagedPartitionCount: Int {
        self.metrics.gauge(MetricNames.Shell.damagedPartitions, help: "", labels: ["machine": "barrage"]).value
    }

    /// The number of inputs and rows that the shell has set aside.
    var deadLetterCount: Int {
        self.metrics.counter(MetricNames.Shell.deadLetters, help: "", labels: ["machine": "barrage"]).value
    }

    /// Waits until the shell has ended, without stopping it.
    ///
    /// - Returns: whether the shell ended in time.
    func waitUntilEnded(timeout: Duration) -> Bool { self.thread.join(timeout: timeout) }

    /// Waits until the shell reports by `isLive` that it makes no progress.
    ///
    /// - Returns: whether the shell reported that in time.
    func waitUntilNotLive(timeout: Milliseconds) -> Bool {
        let deadline = MonotonicClock.now + timeout
        while self.machineShell.isLive, MonotonicClock.now < deadline {
            _ = self.waitUntilEnded(timeout: .milliseconds(50))
        }
        return !self.machineShell.isLive
    }

    /// Whether the shell has ended.
    var hasEnded: Bool { self.thread.join(timeout: .zero) }

    /// Stops the shell.
    ///
    /// - Returns: whether the shell's thread ended within 10 s.
    func stop() -> Bool {
        self.machineShell.stop()
        return self.thread.join(timeout: .seconds(10))
    }
}
