// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import ServiceShell

/// Reads feed partitions on a dedicated thread, and passes the records to the `FeedHub`, which caches them for all
/// shards.
///
/// The reader reads only the partitions that the `FeedHub` follows. In each partition, it begins with the records of
/// the last minute, or of the configured span, so that most resumes can be served from the cache immediately.
final class FeedReader: FeedSource {
    private let gateway: Gateway
    private let log: Log
    private let kafka: KafkaSettings
    private let loop: ConsumerLoop
    private let recentOffsetFinder: RecentOffsetFinder
    private let requested = Locked(RequestedPartitions())

    /// The state of a partition that is being read.
    private struct AssignedPartition {
        /// Drops the records that a former owner of the partition appended after another instance had taken it over.
        ///
        /// The owner is the instance of `barrage-fanout` that writes the feeds of the partition.
        var filter: BatchFilter
        /// The offset at which the cached span begins.
        ///
        /// Reading may begin at an earlier offset, because the filter must have seen all takeovers of the partition.
        var firstOffset: Int64
    }

    /// The largest number of records of one poll.
    private static let maxPollRecords = 2000
    /// The interval at which the `FeedHub` removes expired items.
    private static let sweepInterval = Milliseconds(1000)
    /// The poll timeout after a failed assignment; the assignment is tried again after the poll.
    private static let retryMilliseconds = 50

    init(_ gateway: Gateway, kafka: KafkaSettings, mode: KafkaMode) {
        self.gateway = gateway
        self.log = gateway.log
        self.kafka = kafka
        // The shorter the wait for records, the sooner the consumer reacts to new partitions, but the more requests it
        // sends. The in-memory broker can afford more requests, so the wait for that broker is shorter.
        self.loop = ConsumerLoop(kafka, fetchWait: mode == .embedded ? .milliseconds(5) : .milliseconds(20))
        self.recentOffsetFinder = RecentOffsetFinder(span: gateway.settings.feedCacheSpan, mode: mode)
    }

    /// Whether the thread has begun a turn of its loop within the last 30 s.
    var isTurning: Bool { self.loop.isTurning }

    /// The reader's progress, and whether it has something to read.
    var status: ReadStatus { self.loop.status }

    func follow(_ partition: Int, request: Int64) {
        self.changeRequested { $0.follow(partition, request: request) }
    }

    func unfollow(_ partition: Int, request: Int64) {
        self.changeRequested { $0.unfollow(partition, request: request) }
    }

    /// Makes `run` return soon.
    ///
    /// May be called from any thread.
    func stop() { self.loop.stop() }

    /// Reads until `stop` is called.
    func run() {
        self.loop.run { (consumer) throws(KafkaError) in
            try self.readFollowedPartitions(consumer)
        } failed: { error in
            ConsumerLoop.logFailure(
                error, "the feeds cannot be read now", isStarting: !self.gateway.areTablesFilled, in: self.log)
        }
    }

    private func changeRequested(_ body: (inout RequestedPartitions) -> Void) {
        self.requested.withLock { body(&$0) }
        self.loop.wakeUp()
    }

    /// Reads the followed partitions until `stop` is called.
    ///
    /// - Throws: The error that makes the consumer unusable.
    private func readFollowedPartitions(_ consumer: KafkaConsumer) throws(KafkaError) {
        // Without the topic's metadata the first viewer's join would be delayed by half a second, so the metadata is
        // fetched in advance.
        _ = try consumer.loadTopicMetadata(PlazaTopic.roomFeed.rawValue, timeout: .seconds(10))
        let checkpointClient = try AppendedFeed.makeCheckpointClient(self.kafka, mode: self.recentOffsetFinder.mode)
        defer { checkpointClient?.close() }
        var assigned: [Int: AssignedPartition] = [:]
        // The assigned partitions that were not read up to their ends yet.
        var loading: Set<Int> = []
        var records: [IncomingRecord] = []
        var nextSweepAt = MonotonicClock.now + Self.sweepInterval
        while self.loop.beginTurn() {
            let now = MonotonicClock.now
            let areAllAssigned = self.assignFollowed(consumer, checkpointClient, &assigned, &loading)
            let timeout = areAllAssigned ? Int(max(1, (nextSweepAt - now).count)) : Self.retryMilliseconds
            records.removeAll(keepingCapacity: true)
            let outcome = try self.status.poll(
                consumer, max: Self.maxPollRecords, timeout: .milliseconds(timeout), into: &records)
            self.passToHub(records, &assigned)
            for (topicPartition, end) in outcome.reachedEnds {
                let number = Int(topicPartition.partition)
                guard loading.remove(number) != nil else { continue }
                // The offset up to which the filter has decided about all records.
                let completeOffset = assigned[number]?.filter.completeOffset(upTo: end)
                self.gateway.feeds.partitionLoaded(number, endOffset: completeOffset ?? end)
            }
            if MonotonicClock.now >= nextSweepAt {
                nextSweepAt = MonotonicClock.now + Self.sweepInterval
                self.gateway.feeds.sweep(at: MonotonicClock.now)
            }
        }
    }

    /// Assigns the followed partitions to the consumer, and unassigns the others.
    ///
    /// - Parameters:
    ///   - consumer: The consumer of the feed topic.
    ///   - checkpointClient: The consumer that looks up a partition's last checkpoint; nil with the in-memory broker.
    ///   - assigned: The assigned partitions.
    ///   - loading: The assigned partitions whose end was not reached yet.
    /// - Returns: False if a change failed; the earlier changes stay, and the caller must call again.
    private func assignFollowed(
        _ consumer: KafkaConsumer, _ checkpointClient: KafkaConsumer?, _ assigned: inout [Int: AssignedPartition],
        _ loading: inout Set<Int>
    ) -> Bool {
        let (followed, unfollowed) = self.requested.withLock { ($0.followed, $0.unfollowed) }
        // If the assigned partitions are exactly the followed ones, there is nothing to do.
        if unfollowed.isEmpty, followed.count == assigned.count, followed.allSatisfy({ assigned[$0] != nil }) {
            return true
        }
        do throws(KafkaError) {
            self.status.report { $0.partitionsUnassigned(unfollowed.map(Self.topicPartition)) }
            let removed = unfollowed.filter { assigned[$0] != nil }.sorted()
            if !removed.isEmpty {
                try consumer.incrementalUnassign(removed.map(Self.topicPartition))
                for number in removed { assigned[number] = nil }
                loading.subtract(removed)
            }
            self.requested.withLock { $0.unassigned(unfollowed) }
            for number in followed.subtracting(assigned.keys).sorted() {
                self.loop.recordProgress()
                let partition = Self.topicPartition(number)
                let offset = try self.recentOffsetFinder.find(consumer, partition)
                let (filter, startOffset) = try AppendedFeed.batchFilter(
                    of: Int32(number), from: offset, checkpointClient: checkpointClient)
                try consumer.incrementalAssign([partition: startOffset])
                self.status.report { $0.partitionsAssigned([partition: startOffset], at: MonotonicClock.now) }
                assigned[number] = AssignedPartition(filter: filter, firstOffset: offset)
                loading.insert(number)
            }
            return true
        } catch {
            self.log.warning("a feed cannot be followed now", [.detail: .string(error.description)])
            let unread = followed.subtracting(assigned.keys).map(Self.topicPartition)
            self.status.report { $0.readFailed(unread, at: MonotonicClock.now) }
            return false
        }
    }

    /// Passes the records that the filters accept to the hub, grouped by partition; their JSON is not parsed.
    private func passToHub(_ records: [IncomingRecord], _ assigned: inout [Int: AssignedPartition]) {
        if records.isEmpty { return }
        let now = MonotonicClock.now
        var accepted: [IncomingRecord] = []
        // The offset up to which each partition was read, even if no record of the partition was accepted.
        var endOffsets: [Int: Int64] = [:]
        for record in records {
            let partition = Int(record.partition)
            assigned[partition]?.filter.accept(record, into: &accepted)
            endOffsets[partition] = assigned[partition]?.filter.completeOffset(upTo: record.offset + 1)
        }
        var recordsByPartition: [Int: [FeedRecord]] = [:]
        for record in accepted {
            guard let firstOffset = assigned[Int(record.partition)]?.firstOffset,
                self.recentOffsetFinder.includes(record, from: firstOffset),
                let feedRecord = FeedRecord(record, at: now)
            else { continue }
            recordsByPartition[Int(record.partition), default: []].append(feedRecord)
        }
        for (partition, endOffset) in endOffsets {
            self.gateway.feeds.received(recordsByPartition[partition] ?? [], partition: partition, endOffset: endOffset)
        }
        let tracer = self.gateway.settings.tracer
        if tracer.isOn { Self.recordSpans(of: accepted, tracer) }
    }

    /// Records a tracing span for each traced feed item: from the time of its record in the broker to now, when it has
    /// been posted to the shards' mailboxes.
    private static func recordSpans(of records: [IncomingRecord], _ tracer: Tracer) {
        let now = tracer.now
        for record in records {
            guard let context = tracer.sampledContext(from: record.header(TraceContext.headerName)) else { continue }
            // The timestamp of a record is in milliseconds, the start of a span in nanoseconds.
            tracer.record(
                TraceSpan(
                    "fan-out", .consumer, tracer.child(of: context), parentID: context.spanID,
                    start: record.timestamp.milliseconds.saturatingMultiply(1_000_000), end: now,
                    attributes: [
                        TraceSpan.Attribute("messaging.destination.name", .text(record.topic)),
                        TraceSpan.Attribute("messaging.destination.partition.id", .text("\(record.partition)")),
                        TraceSpan.Attribute("messaging.kafka.message.offset", .integer(record.offset)),
                    ]))
        }
    }

    private static func topicPartition(_ number: Int) -> TopicPartition {
        TopicPartition(PlazaTopic.roomFeed.rawValue, Int32(number))
    }
}

extension FeedRecord {
    /// Decodes a record of the feed topic; nil if it is malformed.
    init?(_ record: IncomingRecord, at now: MonotonicTime) {
        guard let value = record.value, let key = record.key,
            let live = LiveKey(text: String(decoding: key, as: UTF8.self)),
            let headers = FeedHeaders({ record.header($0) })
        else { return nil }
        let item = EncodedFeedItem(
            number: headers.position.number, feedClass: headers.feedClass, isEnd: headers.isEnd, readAt: now,
            offset: record.offset, bytes: value)
        self.init(key: live, epoch: headers.position.epoch, item: item)
    }
}
