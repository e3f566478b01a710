// SPDX-License-Identifier: Apache-2.0

/// Reads records of Kafka, either as a member of a group or from explicitly assigned partitions.
///
/// A consumer belongs to one thread; only `waker` may be used from other threads. `poll` waits in the event queue of
/// librdkafka, the Kafka library, and returns as soon as there is an event. Any other call with a timeout blocks the
/// thread for at most the timeout.
package final class KafkaConsumer {
    /// Makes `poll` return; may be used from any thread.
    package let waker: ConsumerWaker

    private let settings: KafkaSettings
    /// The queue of all events of the librdkafka client; nil after `close`.
    private var queue: EventQueue?
    private var topicNames = TopicNames()
    private var onRebalance: (RebalanceEvent) -> Void = { _ in }
    /// Whether the rebalance handler has changed the assignment, so that the consumer must not change it.
    private var isRebalanceHandled = false
    private var isClosing = false

    /// Creates a consumer; it connects in the background.
    ///
    /// - Parameters:
    ///   - settings: the brokers' addresses and the client id.
    ///   - group: the group to join; without a group, partitions must be assigned explicitly, and nothing can be
    ///     committed.
    ///   - isolation: which records of transactions are read; the methods `committedOffsets` and `endOffset`
    ///     depend on it too.
    ///   - fetchWait: how long a broker may delay an empty fetch response. With a shorter time an idle consumer reacts
    ///     sooner to a changed assignment, but causes more requests.
    ///   - sessionTimeout: how long a member may send no heartbeat before the group removes it.
    ///   - heartbeatInterval: how often the member sends a heartbeat; well below the session timeout.
    /// - Throws: `invalidConfiguration` when librdkafka rejects a setting.
    package init(
        _ settings: KafkaSettings, group: String? = nil, isolation: IsolationLevel = .committed,
        fetchWait: Duration = .milliseconds(100), sessionTimeout: Duration = .seconds(2),
        heartbeatInterval: Duration = .milliseconds(500)
    ) throws(KafkaError) {
        let consumerSettings = [
            // librdkafka requires a group id even for explicitly assigned partitions. A consumer without `group` never
            // joins the group of this id.
            ("group.id", group ?? "\(settings.clientID).reader"),
            ("isolation.level", isolation == .committed ? "read_committed" : "read_uncommitted"),
            ("fetch.wait.max.ms", String(fetchWait.rdkafkaMilliseconds)),
            ("session.timeout.ms", String(sessionTimeout.rdkafkaMilliseconds)),
            ("heartbeat.interval.ms", String(heartbeatInterval.rdkafkaMilliseconds)),
            ("partition.assignment.strategy", "range"),
            ("auto.offset.reset", "earliest"),
        ]
        let client = try ClientHandle(.consumer, settings.consumer(consumerSettings), log: settings.log)
        let queue = EventQueue(.consumer, of: client)
        self.settings = settings
        self.queue = queue
        self.waker = ConsumerWaker(queue)
    }

    /// Leaves the group if `close` was not called.
    ///
    /// The rebalance handler is not called, because the objects that it uses may have been destroyed.
    deinit {
        self.onRebalance = { _ in }
        self.close()
    }

    /// Joins the group for one topic.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - rebalance: called inside `poll` and `close`. If the handler calls none of `assign`, `unassign` and their
    ///     incremental forms, the consumer itself assigns or unassigns the partitions after the handler. The handler
    ///     must not use the array that `poll` fills. The consumer retains the handler until `close`, so the handler
    ///     must reference the consumer weakly.
    /// - Throws: `closed`, or another error if the topic's name is not valid.
    package func subscribe(_ topic: String, rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) {
        let client = try self.client
        self.onRebalance = rebalance
        try client.subscribe(topic)
    }

    /// Waits for records or other events.
    ///
    /// Returns at once after a rebalance; records of partitions that were revoked in the same poll are removed.
    ///
    /// - Parameters:
    ///   - max: the maximum number of records to return.
    ///   - timeout: how long to wait for the first record; zero does not wait.
    ///   - records: the array to which the records are appended.
    /// - Returns: the partition ends that were reached, errors, and whether there was a rebalance or a wake-up.
    /// - Throws: errors that make the consumer unusable, such as `sessionTimeoutRejected` or `closed`.
    package func poll(max: Int, timeout: Duration, into records: inout [IncomingRecord]) throws(KafkaError)
        -> PollOutcome
    {
        guard let queue = self.queue, !self.isClosing else { throw .closed }
        let client = queue.client
        let firstIndex = records.count
        var outcome = PollOutcome()
        var remainingWait: Duration? = timeout
        // Events that are not records count towards `max`, too. Otherwise many of them could prolong the poll.
        for _ in 0..<max {
            guard let event = queue.next(timeout: remainingWait, names: &self.topicNames, into: &records) else {
                break
            }
            // Only the first event is waited for.
            remainingWait = .zero
            // `next` has appended the record already.
            if case .record = event { continue }
            if try self.handleEvent(event, of: client, from: firstIndex, &outcome, &records) { break }
        }
        outcome.recordCount = records.count - firstIndex
        outcome.wasWoken = self.waker.takeWakeUp()
        return outcome
    }

    /// Leaves the group, so that other members take over its partitions at once.
    ///
    /// The rebalance handler is called for the last time. This method waits for the coordinator's response, for at most
    /// about the session timeout. A second call does nothing.
    package func close() {
        guard let client = self.queue?.client, !self.isClosing else { return }
        self.isClosing = true
        self.waker.close()
        let closingQueue = EventQueue(temporaryOf: client)
        var records: [IncomingRecord] = []
        // After a fatal error the consumer is no longer a member of a group, and `beginClosing` throws.
        if (try? client.beginClosing(into: closingQueue)) != nil {
            while !client.isClosed {
                // Records that arrive while the consumer leaves the group are dropped.
                records.removeAll()
                let event = closingQueue.next(timeout: nil, names: &self.topicNames, into: &records)
                if case .revoked(let partitions) = event {
                    self.rebalance(.revoked(partitions, lost: client.isAssignmentLost), of: client)
                }
                if case .assigned(let partitions) = event { self.rebalance(.assigned(partitions), of: client) }
            }
        }
        self.onRebalance = { _ in }
        self.queue = nil
    }

    /// Records that the rebalance handler has assigned or unassigned partitions itself.
    func markRebalanceHandled() { self.isRebalanceHandled = true }

    /// The librdkafka client.
    ///
    /// It stays available during `close`, because the rebalance handler may commit then.
    var client: ClientHandle {
        get throws(KafkaError) {
            guard let queue = self.queue else { throw .closed }
            return queue.client
        }
    }

    /// Handles an event other than a record.
    ///
    /// The records from index `firstIndex` on belong to the current poll.
    ///
    /// - Returns: true if `poll` must return now.
    private func handleEvent(
        _ event: ClientEvent, of client: ClientHandle, from firstIndex: Int, _ outcome: inout PollOutcome,
        _ records: inout [IncomingRecord]
    ) throws(KafkaError) -> Bool {
        switch event {
        case .endOfPartition(let partition, let offset):
            outcome.reachedEnds[partition] = offset
        case .partitionFailed(let partition, let error):
            if error.isFatal { throw error }
            outcome.partitionErrors[partition] = error
        case .failed(let error):
            // `sessionTimeoutRejected`: without this throw librdkafka would propose the rejected session timeout again
            // and again.
            if error.isFatal || error.kind == .sessionTimeoutRejected { throw error }
            outcome.errors.append(error)
            self.settings.onError?(error)
        case .statistics(let statistics):
            self.settings.onStatistics?(statistics)
        case .assigned(let partitions):
            outcome.hasRebalanced = true
            self.rebalance(.assigned(partitions), of: client)
            return true
        case .revoked(let partitions):
            outcome.hasRebalanced = true
            self.rebalance(.revoked(partitions, lost: client.isAssignmentLost), of: client)
            let revoked = Set(partitions)
            let stillAssigned = records[firstIndex...].filter { !revoked.contains($0.topicPartition) }
            records.replaceSubrange(firstIndex..., with: stillAssigned)
            outcome.reachedEnds = outcome.reachedEnds.filter { !revoked.contains($0.key) }
            return true
        case .record, .other:
            break
        }
        return false
    }

    /// Calls the rebalance handler; assigns or unassigns the partitions if the handler has not.
    private func rebalance(_ event: RebalanceEvent, of client: ClientHandle) {
        self.isRebalanceHandled = false
        self.onRebalance(event)
        guard !self.isRebalanceHandled else { return }
        // A failure here makes the client unusable; the next poll throws.
        switch event {
        case .assigned(let partitions):
            let list = PartitionList(partitions)
            try? client.assign(list)
        case .revoked:
            try? client.unassign()
        }
    }
}
