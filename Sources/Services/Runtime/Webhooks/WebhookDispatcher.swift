// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import HTTPClient
internal import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import ServiceShell

/// Reads webhook events from Kafka, sends the events that are due to the apps' backends, and commits the progress, all
/// on one thread.
///
/// A slow backend must not block the events of other apps. When an app's share of the queue is used up, its events are
/// therefore skipped, and a second consumer reads them again once the share has free capacity (*catch-up*).
final class WebhookDispatcher {
    /// The maximum number of records that one poll returns.
    private static let maxRecords = 200
    /// How long a turn waits for new records, if no other work is due earlier.
    private static let maxPollTimeout = Milliseconds(500)
    /// The time between two commits of the progress.
    private static let commitInterval = Milliseconds(500)
    /// How long a turn waits for the records of a catch-up.
    private static let catchUpTimeout: Duration = .milliseconds(20)

    private let consumer: KafkaConsumer
    /// Reads skipped events again; this consumer does not join the group.
    private let catchUpConsumer: KafkaConsumer
    /// The webhooks of each app that has some.
    private let hooks: [AppID: AppHooks]
    private let log: Log
    private let metrics: WebhookMetrics
    /// Where the progress of `consumer` is reported.
    private let readStatus: ReadStatus
    /// Where the progress of `catchUpConsumer` is reported; it has something to read only during a catch-up.
    private let catchUpStatus: ReadStatus
    /// Sends the request for the event at `position`, in an attempt that began at `beganAt`.
    private let send: (_ post: HTTPPost, _ position: DeliveryQueue.EventPosition, _ beganAt: MonotonicTime) -> Void
    private var queue: DeliveryQueue
    /// The app, the event's name and the request body of each queued event, because `queue` has only their positions.
    private var bodies: [DeliveryQueue.EventPosition: (app: AppID, eventName: WebhookName, body: [UInt8])] = [:]
    /// The last committed progress of each partition.
    private var committedCheckpoints: [Int32: ReadingProgress.Checkpoint] = [:]
    private var nextCommitAt = MonotonicTime.distantPast
    /// Whether this instance is a member of the consumer group.
    private var isMember = false
    /// The running catch-up; nil when none is running.
    private var catchUp: DeliveryQueue.CatchUp?
    /// The offset before which the running catch-up has read all records.
    private var catchUpReadOffset: Int64 = 0
    /// The partition of the last catch-up; -1 before the first.
    private var lastCatchUpPartition: Int32 = -1
    /// The error that prevented `rebalanced` from acquiring partitions.
    ///
    /// `rebalanced` cannot throw, because the consumer calls it during a poll. So it stores the error here; `runTurn`
    /// throws the error when the poll returns.
    private var failure: KafkaError?

    init(
        consumer: KafkaConsumer, catchUpConsumer: KafkaConsumer, hooks: [AppID: AppHooks], limits: DeliveryQueue.Limits,
        log: Log, metrics: WebhookMetrics, readStatus: ReadStatus, catchUpStatus: ReadStatus,
        send: @escaping (_ post: HTTPPost, _ position: DeliveryQueue.EventPosition, _ beganAt: MonotonicTime) -> Void
    ) {
        self.consumer = consumer
        self.catchUpConsumer = catchUpConsumer
        self.hooks = hooks
        self.queue = DeliveryQueue(limits, apps: hooks.count)
        self.log = log
        self.metrics = metrics
        self.readStatus = readStatus
        self.catchUpStatus = catchUpStatus
        self.send = send
    }

    /// Handles a rebalance; commits the progress before the revoked partitions go to another member.
    func rebalanced(_ event: RebalanceEvent) {
        // Only members of the group get rebalance events, even if no partition is assigned.
        self.isMember = true
        switch event {
        case .assigned(let partitions): self.acquire(partitions)
        case .revoked(let partitions, let isLost):
            // A lost partition belongs to another member already.
            if !isLost { self.commit() }
            self.readStatus.report { $0.partitionsUnassigned(partitions) }
            for partition in partitions {
                self.queue.partitionRevoked(partition.partition)
                self.committedCheckpoints[partition.partition] = nil
            }
            self.bodies = self.bodies.filter { entry in !partitions.contains { $0.partition == entry.key.partition } }
            if partitions.contains(where: { $0.partition == self.catchUp?.partition }) { self.endCatchUp() }
        }
    }

    /// Resumes at the offsets that the previous owner has committed.
    ///
    /// A lagging app (one whose events were skipped) resumes at an offset of its own, which is in the checkpoint.
    private func acquire(_ partitions: [TopicPartition]) {
        do throws(KafkaError) {
            var offsets: [TopicPartition: Int64] = [:]
            for (partition, entry) in try self.consumer.committedOffsets(of: partitions, timeout: .seconds(5)) {
                offsets[partition] = LogicalOffset.beginning
                // Without a valid checkpoint, the queue adds the partition when its first record is read.
                guard let entry else { continue }
                offsets[partition] = entry.offset
                guard
                    var checkpoint = ReadingProgress.Checkpoint(offset: entry.offset, metadata: entry.metadata)
                else {
                    self.log.warning(
                        "the metadata of a committed offset cannot be read", [.topic: .string("\(partition)")])
                    continue
                }
                // An app that no longer has webhooks has no events to catch up.
                checkpoint.laggingOffsets = checkpoint.laggingOffsets.filter { self.hooks[$0.key] != nil }
                self.queue.partitionAssigned(partition.partition, checkpoint)
            }
            try self.consumer.assign(offsets)
            self.readStatus.report { watch in
                watch.partitionsAssigned(offsets, at: MonotonicClock.now)
                // All other partitions are assigned to other members of the group.
                watch.forgetUnassigned()
            }
        } catch {
            self.failure = error
        }
    }

    /// Runs one turn: handles the attempts that have ended, reads new events, sends the events that are due, and
    /// commits at intervals.
    ///
    /// - Returns: whether `consumer` is a member of its group.
    /// - Throws: an error of a consumer, or an error if a consumer has read nothing for 10 s although the broker has
    ///   records for it. Both consumers must then be replaced.
    func runTurn(_ endedAttempts: [WebhookAttempt]) throws(KafkaError) -> Bool {
        for status in [self.readStatus, self.catchUpStatus] { status.report { $0.turnBegan(at: MonotonicClock.now) } }
        for attempt in endedAttempts { self.attemptEnded(attempt) }
        try self.beginCatchUp()
        // After another instance has taken the partition, or after an error, there may be no further catch-up of the
        // partition that `catchUpStatus` watches. The partition is then no longer watched.
        self.catchUpStatus.report { $0.forgetWithoutScan(queuedPartitions: [], at: MonotonicClock.now) }
        self.sendDueEvents()
        var pollTimeout = self.catchUp == nil ? Self.maxPollTimeout : Milliseconds(0)
        let now = MonotonicClock.now
        if let due = self.queue.nextDue(after: now) {
            pollTimeout = min(pollTimeout, max(Milliseconds(1), due - now))
        }
        var records: [IncomingRecord] = []
        // A turn that has handled attempts does not wait for records, so that the metrics and the commit below follow
        // at once.
        let outcome = try self.readStatus.poll(
            self.consumer, max: Self.maxRecords, timeout: endedAttempts.isEmpty ? Duration(pollTimeout) : .zero,
            into: &records)
        if outcome.hasRebalanced { self.isMember = true }
        if let failure = self.failure { throw failure }
        for record in records { self.recordReceived(record) }
        try self.readCatchUp()
        self.sendDueEvents()
        self.metrics.pendingEvents.set(self.queue.count)
        self.metrics.laggingApps.set(self.queue.laggingCount)
        if MonotonicClock.now >= self.nextCommitAt { self.commit() }
        return self.isMember
    }

    /// Commits the progress of each partition whose progress has changed.
    func commit() {
        self.nextCommitAt = MonotonicClock.now + Self.commitInterval
        var offsets: [TopicPartition: OffsetAndMetadata] = [:]
        var newCheckpoints: [Int32: ReadingProgress.Checkpoint] = [:]
        for partition in self.queue.partitions {
            guard let checkpoint = self.queue.checkpoint(partition), self.committedCheckpoints[partition] != checkpoint
            else { continue }
            newCheckpoints[partition] = checkpoint
            offsets[TopicPartition(PlazaTopic.webhooks.rawValue, partition)] = OffsetAndMetadata(
                offset: checkpoint.offset, metadata: checkpoint.metadata)
        }
        guard !offsets.isEmpty else { return }
        do {
            try self.consumer.commit(offsets)
            self.committedCheckpoints.merge(newCheckpoints) { _, new in new }
        } catch {
            // The next commit tries again. If another member takes the partition over before that, the events since
            // the last commit are sent twice.
            self.log.info("webhook offsets were not committed", [.detail: .string(error.description)])
        }
    }

    /// Starts a catch-up, unless one is running or no lagging app has half of its share free.
    ///
    /// - Throws: an error that makes `catchUpConsumer` unusable.
    private func beginCatchUp() throws(KafkaError) {
        guard self.catchUp == nil else { return }
        guard let catchUp = self.queue.nextCatchUp(after: self.lastCatchUpPartition) else { return }
        let offsets = [TopicPartition(PlazaTopic.webhooks.rawValue, catchUp.partition): catchUp.offset]
        try self.catchUpConsumer.assign(offsets)
        self.catchUpStatus.report { $0.partitionsAssigned(offsets, at: MonotonicClock.now) }
        self.catchUp = catchUp
        self.catchUpReadOffset = catchUp.offset
        self.lastCatchUpPartition = catchUp.partition
    }

    /// Reads the next records of the running catch-up, if there is one.
    ///
    /// The catch-up ends after the last record, or when the shares of all its apps are used up.
    ///
    /// - Throws: an error that makes `catchUpConsumer` unusable, or shows that it must be replaced.
    private func readCatchUp() throws(KafkaError) {
        guard let partition = self.catchUp?.partition else { return }
        var records: [IncomingRecord] = []
        let outcome = try self.catchUpStatus.poll(
            self.catchUpConsumer, max: Self.maxRecords, timeout: Self.catchUpTimeout, into: &records)
        // Records that were fetched for an earlier catch-up are ignored.
        for record in records where record.partition == partition {
            self.catchUpReadOffset = max(self.catchUpReadOffset, record.offset + 1)
            self.addInCatchUp(record)
        }
        let topicPartition = TopicPartition(PlazaTopic.webhooks.rawValue, partition)
        // The last offsets of the partition may be transaction markers, for which the poll returns no record.
        if let end = outcome.reachedEnds[topicPartition] {
            self.catchUpReadOffset = max(self.catchUpReadOffset, end)
        }
        guard let catchUp = self.catchUp else { return }
        let isComplete = self.queue.catchUpAdvanced(catchUp, upTo: self.catchUpReadOffset)
        if isComplete { self.endCatchUp() }
    }

    /// Stops the running catch-up.
    private func endCatchUp() {
        if let partition = self.catchUp?.partition {
            let topicPartition = TopicPartition(PlazaTopic.webhooks.rawValue, partition)
            self.catchUpStatus.report { $0.partitionsUnassigned([topicPartition]) }
        }
        self.catchUp = nil
        // If this fails, the consumer is unusable, and its next call throws.
        try? self.catchUpConsumer.unassign()
    }

    /// Queues the event of a record that was read for the first time.
    private func recordReceived(_ record: IncomingRecord) {
        let position = DeliveryQueue.EventPosition(partition: record.partition, offset: record.offset)
        guard let (event, value) = self.event(of: record) else { return self.queue.skip(position) }
        if self.queue.add(position, of: event.key) { self.storeBody(event, value, at: position) }
    }

    /// Queues the event of a record that the running catch-up has read again.
    private func addInCatchUp(_ record: IncomingRecord) {
        guard var catchUp = self.catchUp, let (event, value) = self.event(of: record) else { return }
        let position = DeliveryQueue.EventPosition(partition: record.partition, offset: record.offset)
        let isQueued = self.queue.addInCatchUp(position, of: event.key, in: &catchUp)
        self.catchUp = catchUp
        if isQueued { self.storeBody(event, value, at: position) }
    }

    /// Decodes the event of a record; nil if the app does not subscribe to the event or the record is malformed.
    private func event(of record: IncomingRecord) -> (event: WebhookEvent, value: [UInt8])? {
        guard let value = record.value else { return nil }
        do throws(WireError) {
            let event = try Wire.decode(WebhookEvent.self, from: value)
            guard let hooks = self.hooks[event.app], hooks.receives(event.content.name) else { return nil }
            return (event, value)
        } catch {
            self.log.warning(
                "a record cannot be read", [.offset: .int(Int(record.offset)), .detail: .string("\(error)")])
            return nil
        }
    }

    /// Stores the request body: the record's JSON object with an `id` as its first field, by which the backend
    /// recognizes repeated events.
    private func storeBody(_ event: WebhookEvent, _ value: [UInt8], at position: DeliveryQueue.EventPosition) {
        // This beginning replaces the opening brace of the record's object.
        let beginning = Array("{\"id\":\"\(position.partition)-\(position.offset)\",".utf8)
        self.bodies[position] = (event.app, event.content.name, beginning + value.dropFirst())
    }

    /// Sends a request for each event that is due.
    private func sendDueEvents() {
        for position in self.queue.startDueAttempts(at: MonotonicClock.now) {
            guard let (app, eventName, body) = self.bodies[position], let hooks = self.hooks[app] else { continue }
            let post = WebhookPost.make(
                body, event: eventName.rawValue, hooks: hooks, at: WallClock.now.seconds,
                timeout: WebhookSender.timeout)
            self.send(post, position, MonotonicClock.now)
        }
    }

    /// Passes the result of an attempt to the queue, and counts it.
    private func attemptEnded(_ attempt: WebhookAttempt) {
        let now = MonotonicClock.now
        self.metrics.attemptTime.record(milliseconds: Int((now - attempt.beganAt).count))
        var isDelivered = false
        if case .answered(200..<300, _) = attempt.result { isDelivered = true }
        let outcome = self.queue.attemptEnded(
            attempt.position, isDelivered: isDelivered, jitter: Double.random(in: 0...1), at: now)
        switch outcome {
        case .delivered:
            self.metrics.deliveredEvents.add()
            self.bodies[attempt.position] = nil
        // If an event was delivered but is not queued any more, the delivery is not counted: the partition's next owner
        // sends the event again.
        case .retry, .notQueued:
            if !isDelivered { self.metrics.failedAttempts.add() }
        case .abandoned:
            self.metrics.failedAttempts.add()
            self.metrics.abandonedEvents.add()
            self.log.warning(
                "a webhook event is abandoned: no attempt succeeded",
                [
                    .app: .string(self.bodies[attempt.position]?.app.text ?? ""),
                    .offset: .int(Int(attempt.position.offset)),
                    .detail: .string("\(attempt.result)".prefix(200).description),
                ])
            self.bodies[attempt.position] = nil
        }
    }
}
