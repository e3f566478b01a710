// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import ServiceShell

/// Reads feed items that are no longer cached, for all shards of the gateway, on a dedicated thread.
///
/// A shard is an event loop with a part of the gateway's connections. The reader reads the items that resuming clients
/// missed, and earlier messages for new viewers. One consumer scans a few partitions concurrently. A scan reads a range
/// of a partition once, for several requests whose ranges of offsets are near each other.
final class ReplayReader: ReplaySource {
    private let gateway: Gateway
    private let log: Log
    private let kafka: KafkaSettings
    private let loop: ConsumerLoop
    private let queue: Locked<ReplayQueue>
    /// The bytes of the items that were read and are not sent yet.
    private let reservedBytes = ReplayReservation.ReservedBytes()
    private let recordCounter: Counter
    private let mode: KafkaMode

    /// The largest number of records of one poll.
    private static let maxPollRecords = 2000
    /// The poll timeout while requests are open.
    private static let busyTimeout: Duration = .milliseconds(20)
    /// The poll timeout without requests; a new request wakes the poll earlier.
    private static let idleTimeout: Duration = .milliseconds(500)

    /// A scan with its filter.
    private struct RunningScan {
        var scan: ReplayScan
        /// Drops the records that a former owner of the partition appended after another instance had taken it over.
        ///
        /// The owner is the instance of `barrage-fanout` that writes the feeds of the partition. The filter is set
        /// before the scan's partition is assigned to the consumer.
        var filter = BatchFilter()
    }

    init(_ gateway: Gateway, kafka: KafkaSettings, mode: KafkaMode, registry: MetricsRegistry) {
        self.gateway = gateway
        self.queue = Locked(ReplayQueue(hasSeveralApps: gateway.settings.hasSeveralApps))
        self.log = gateway.log
        var settings = kafka
        // The consumer prefetches little, because a scan is short, and records beyond its end are not needed.
        settings.overrides["queued.max.messages.kbytes"] = "4096"
        settings.overrides["queued.min.messages"] = "5000"
        self.mode = mode
        self.kafka = settings
        // The shorter the wait for records, the sooner the consumer reacts to new requests, but the more fetches it
        // sends. The in-memory broker can afford more fetches, so the wait for that broker is shorter.
        self.loop = ConsumerLoop(settings, fetchWait: mode == .embedded ? .milliseconds(5) : .milliseconds(20))
        self.recordCounter = registry.counter(
            "gateway_replay_records_total", help: "Feed records read again for resuming clients and new viewers.")
        registry.observe("gateway_replay_waiting", help: "Replay requests that wait for the reader.") {
            [weak self] in Double(self?.queue.withLock { $0.count } ?? 0)
        }
        registry.observe("gateway_replay_bytes", help: "Bytes of items that were read again and are not sent yet.") {
            [reservedBytes] in Double(reservedBytes.count)
        }
    }

    /// Whether the thread has begun a turn of its loop within the last 30 s.
    var isTurning: Bool { self.loop.isTurning }

    /// The reader's progress, and whether it has something to read.
    var status: ReadStatus { self.loop.status }

    func request(_ id: ReplayID, _ request: ReplayRequest, partition: Int, deadline: MonotonicTime) -> Bool {
        let isQueued = self.queue.withLock { $0.add(id, request, partition: partition, deadline: deadline) }
        if isQueued { self.loop.wakeUp() }
        return isQueued
    }

    /// Makes `run` return.
    ///
    /// May be called from any thread.
    func stop() { self.loop.stop() }

    /// Reads until `stop` is called.
    func run() {
        self.loop.run { (consumer) throws(KafkaError) in
            var scans: [Int: RunningScan] = [:]
            do throws(KafkaError) {
                try self.runScans(consumer, &scans)
            } catch {
                let unread = scans.keys.map(Self.topicPartition)
                self.status.report { $0.readFailed(unread, at: MonotonicClock.now) }
                // The next consumer restarts these scans, unless their deadlines have passed.
                for (partition, running) in scans {
                    self.queue.withLock { $0.putBack(running.scan.unansweredEntries, partition: partition) }
                }
                throw error
            }
        } failed: { error in
            ConsumerLoop.logFailure(
                error, "old feed items cannot be read now", isStarting: !self.gateway.areTablesFilled, in: self.log)
        }
    }

    /// Runs scans for the queued requests until `stop` is called.
    ///
    /// - Throws: An error of the consumer; `scans` then contains the scans that were interrupted.
    private func runScans(_ consumer: KafkaConsumer, _ scans: inout [Int: RunningScan]) throws(KafkaError) {
        // The topic's metadata is fetched in advance, so that the first scan does not wait for it.
        _ = try consumer.loadTopicMetadata(PlazaTopic.roomFeed.rawValue, timeout: .seconds(10))
        // This second consumer looks up at which offset a scan must begin to read. The offset may be below the scan's
        // range, because the scan's filter must have seen all takeovers of the partition.
        let checkpointClient = try AppendedFeed.makeCheckpointClient(self.kafka, mode: self.mode)
        defer { checkpointClient?.close() }
        var records: [IncomingRecord] = []
        while self.loop.beginTurn() {
            try self.startScans(consumer, checkpointClient, &scans)
            let queuedPartitions = self.queue.withLock { $0.partitions }
            let isIdle = scans.isEmpty && queuedPartitions.isEmpty
            self.status.report {
                $0.forgetWithoutScan(
                    queuedPartitions: Set(queuedPartitions.map(Self.topicPartition)), at: MonotonicClock.now)
            }
            records.removeAll(keepingCapacity: true)
            let outcome = try self.status.poll(
                consumer, max: Self.maxPollRecords, timeout: isIdle ? Self.idleTimeout : Self.busyTimeout,
                into: &records)
            self.recordCounter.add(records.count)
            let now = MonotonicClock.now
            for record in records { Self.passToScan(record, &scans, at: now) }
            for (partition, end) in outcome.reachedEnds {
                guard let running = scans[Int(partition.partition)] else { continue }
                // If the last batch is incomplete, the filter has not decided about its records yet.
                scans[Int(partition.partition)]?.scan.partitionEndReached(at: running.filter.completeOffset(upTo: end))
            }
            try self.finishScans(consumer, &scans, at: now)
        }
    }

    /// Starts scans, within the limits of concurrent scans and unsent bytes.
    private func startScans(
        _ consumer: KafkaConsumer, _ checkpointClient: KafkaConsumer?, _ scans: inout [Int: RunningScan]
    ) throws(KafkaError) {
        while scans.count < ReplayLimits.maxConcurrentScans, self.reservedBytes.count < ReplayLimits.maxUnsentBytes {
            let scannedPartitions = Set(scans.keys)
            var usage = self.reservedBytes.countsByApp.mapValues { ReplayUsage(unsentBytes: $0) }
            for running in scans.values { usage[running.scan.app, default: ReplayUsage()].scanCount += 1 }
            let nextScan = self.queue.withLock { [usage] in
                $0.nextScan(excluding: scannedPartitions, usage: usage)
            }
            guard var scan = nextScan else { return }
            // The requests have left the queue. They are stored in `scans` first, so that an error does not lose them.
            scans[scan.partition] = RunningScan(scan: scan)
            let topicPartition = Self.topicPartition(scan.partition)
            // A search goes backwards, at most to the first offset of the partition's log.
            if scan.includesSearch {
                scan.limit(toLogStart: try consumer.beginningOffset(of: topicPartition, timeout: .seconds(1)))
                scans[scan.partition]?.scan = scan
            }
            // If the log begins after the scan's range, there is nothing to read. `finishScans` computes the outcomes.
            if scan.isFinished { continue }
            do throws(KafkaError) {
                let (filter, startOffset) = try AppendedFeed.batchFilter(
                    of: topicPartition.partition, from: scan.bounds.lowerBound, checkpointClient: checkpointClient)
                scans[scan.partition]?.filter = filter
                try consumer.incrementalAssign([topicPartition: startOffset])
                self.status.report { $0.partitionsAssigned([topicPartition: startOffset], at: MonotonicClock.now) }
            } catch {
                // The error affects only this partition; the scans of other partitions continue.
                scans[scan.partition] = nil
                self.queue.withLock { $0.putBack(scan.unansweredEntries, partition: scan.partition) }
                self.status.report { $0.readFailed([topicPartition], at: MonotonicClock.now) }
                return self.log.info("old items of a feed cannot be read now", [.detail: .string(error.description)])
            }
        }
    }

    /// Passes a record through its partition's filter to the scan.
    private static func passToScan(_ record: IncomingRecord, _ scans: inout [Int: RunningScan], at now: MonotonicTime) {
        let partition = Int(record.partition)
        guard scans[partition]?.scan.isFinished == false else { return }
        var accepted: [IncomingRecord] = []
        scans[partition]?.filter.accept(record, into: &accepted)
        for acceptedRecord in accepted {
            let key = acceptedRecord.key.flatMap { LiveKey(text: String(decoding: $0, as: UTF8.self)) }
            var feedRecord: FeedRecord?
            if let key, scans[partition]?.scan.hasRequest(for: key) == true {
                feedRecord = FeedRecord(acceptedRecord, at: now)
            }
            // A record that no request needs only advances the scan.
            scans[partition]?.scan.recordRead(feedRecord, at: acceptedRecord.offset)
        }
        // A record that the filter has dropped advances the scan, too, but only if the filter has decided about this
        // record and all earlier ones.
        let completeOffset = scans[partition]?.filter.completeOffset(upTo: record.offset + 1) ?? 0
        if completeOffset > record.offset { scans[partition]?.scan.recordRead(nil, at: record.offset) }
    }

    /// Reports the outcomes of expired requests and of ended scans to the gateway.
    private func finishScans(
        _ consumer: KafkaConsumer, _ scans: inout [Int: RunningScan], at now: MonotonicTime
    ) throws(KafkaError) {
        var expired = self.queue.withLock { $0.removeExpired(at: now) }
        for partition in scans.keys.sorted() {
            expired += scans[partition]?.scan.removeExpired(at: now) ?? []
            guard let scan = scans[partition]?.scan, scan.isFinished else { continue }
            scans[partition] = nil
            let result = scan.makeResult()
            // Each group has the outcomes for one live. It has none if the scan served only searches of the live, and
            // they all continue.
            for group in result.groups {
                guard let app = group.outcomes.first?.request.key.app else { continue }
                let reservation = ReplayReservation(bytes: group.bytes, of: app, in: self.reservedBytes)
                self.gateway.replayReceived(group.outcomes, reservation: reservation)
            }
            self.queue.withLock { $0.putBack(result.unfinished, partition: partition) }
            // A scan without offsets was never assigned to the consumer.
            guard !scan.bounds.isEmpty else { continue }
            self.status.report { $0.scanEnded(in: Self.topicPartition(partition)) }
            try consumer.incrementalUnassign([Self.topicPartition(partition)])
        }
        // Expired requests get no items, so nothing is reserved for their outcomes.
        if !expired.isEmpty { self.gateway.replayReceived(expired, reservation: nil) }
    }

    private static func topicPartition(_ number: Int) -> TopicPartition {
        TopicPartition(PlazaTopic.roomFeed.rawValue, Int32(number))
    }
}
