// SPDX-License-Identifier: Apache-2.0

/// Reads records, as a member of a group or from partitions that are named.
///
/// Belongs to one thread: nothing but `waker` may be used from another. `poll` waits in librdkafka's queue and returns
/// as soon as something is there; every other call with a time-out blocks the thread for at most that.
package final class KafkaConsumer {
    /// Makes a waiting `poll` return, from any thread.
    package let waker: ConsumerWaker

    private let settings: KafkaSettings
    private var queue: EventQueue?
    private var names = TopicNames()
    private var onRebalance: (RebalanceEvent) -> Void = { _ in }
    private var isAnswered = false
    private var isClosing = false

    /// Makes a consumer; it connects in the background.
    ///
    /// - Parameters:
    ///   - settings: where and who.
    ///   - group: the group to join; without one only named partitions can be read and nothing can be committed.
    ///   - isolation: which records of transactions are seen. `committed` and `end` depend on it too.
    ///   - fetchWaitMilliseconds: how long a broker holds back an empty answer. Less wakes a quiet consumer sooner when
    ///     its assignment changes, and costs the broker more.
    ///   - sessionTimeoutMilliseconds: how long the group waits for a silent member.
    ///   - heartbeatMilliseconds: how often the member tells that it lives; well below the session's time.
    ///   - assignor: `range`, `roundrobin` or `cooperative-sticky`.
    ///   - startAt: where to start without a committed offset.
    /// - Throws: `invalidConfiguration`.
    package init(
        _ settings: KafkaSettings, group: String? = nil, isolation: IsolationLevel = .committed,
        fetchWaitMilliseconds: Int = 100, sessionTimeoutMilliseconds: Int = 2000, heartbeatMilliseconds: Int = 500,
        assignor: String = "range", startAt: StartPosition = .earliest
    ) throws(KafkaError) {
        let start =
            switch startAt {
            case .earliest: "earliest"
            case .latest: "latest"
            case .fail: "error"
            }
        let role = [
            // librdkafka assigns nothing without a group's name. Nobody joins this one.
            ("group.id", group ?? "\(settings.clientID).reader"),
            ("isolation.level", isolation == .committed ? "read_committed" : "read_uncommitted"),
            ("fetch.wait.max.ms", String(fetchWaitMilliseconds)),
            ("session.timeout.ms", String(sessionTimeoutMilliseconds)),
            ("heartbeat.interval.ms", String(heartbeatMilliseconds)),
            ("partition.assignment.strategy", assignor),
            ("auto.offset.reset", start),
        ]
        let client = try ClientHandle(.consumer, settings.consumer(role), log: settings.log)
        let queue = EventQueue(.consumer, of: client)
        self.settings = settings
        self.queue = queue
        self.waker = ConsumerWaker(target: WakeTarget(queue))
    }

    /// Leaves the group if `close` was not called; the rebalance handler is not told, for its owner may be gone.
    deinit {
        self.onRebalance = { _ in }
        self.close()
    }

    /// Joins the group for one topic.
    ///
    /// - Parameters:
    ///   - topic: the topic.
    ///   - rebalance: called inside `poll` and `close`. If it calls neither `assign` nor `unassign` (nor the incremental
    ///     forms), the plain one is done for it. It must not touch the array that the poll fills. The consumer keeps it
    ///     until `close`, so refer to the consumer weakly in it.
    /// - Throws: if the topic's name is not valid, or `closed`.
    package func subscribe(_ topic: String, rebalance: @escaping (RebalanceEvent) -> Void) throws(KafkaError) {
        let client = try self.client
        self.onRebalance = rebalance
        try client.subscribe(topic)
    }

    /// Waits until there is something, then takes what is there.
    ///
    /// Returns at once after a rebalance; records of partitions that were revoked meanwhile are taken out again.
    ///
    /// - Parameters:
    ///   - max: records to take at most.
    ///   - timeoutMilliseconds: how long to wait for the first; 0 takes only what is there.
    ///   - records: the records are appended to it.
    /// - Returns: ends reached, problems, and whether there was a rebalance or a wake.
    /// - Throws: errors after which the consumer is of no more use, among them `sessionRefused`, or `closed`.
    package func poll(max: Int, timeoutMilliseconds: Int, into records: inout [IncomingRecord]) throws(KafkaError)
        -> PollOutcome
    {
        guard let queue = self.queue, !self.isClosing else { throw .closed }
        let client = queue.client
        let first = records.count
        var outcome = PollOutcome()
        var wait = timeoutMilliseconds
        // Other events count too, so that no stream of them keeps the caller here.
        for _ in 0..<max {
            guard let event = queue.next(timeoutMilliseconds: wait, names: &self.names, into: &records) else {
                break
            }
            wait = 0
            if case .record = event { continue }
            if try self.handle(event, of: client, from: first, &outcome, &records) { break }
        }
        outcome.count = records.count - first
        outcome.woken = self.waker.target.takeWoken()
        return outcome
    }

    /// Leaves the group, so that others take over at once; the rebalance handler is called for the last time.
    ///
    /// Waits for the coordinator's answer, at most about the session's time. A second call does nothing.
    package func close() {
        guard let client = self.queue?.client, !self.isClosing else { return }
        self.isClosing = true
        self.waker.target.close()
        let last = EventQueue(temporaryOf: client)
        var records: [IncomingRecord] = []
        // After a fatal error there is no group to leave, and this throws.
        if (try? client.beginClosing(into: last)) != nil {
            while !client.isClosed {
                records.removeAll()
                let event = last.next(timeoutMilliseconds: -1, names: &self.names, into: &records)
                if case .revoked(let partitions) = event {
                    self.rebalance(.revoked(partitions, lost: false), of: client)
                }
                if case .assigned(let partitions) = event { self.rebalance(.assigned(partitions), of: client) }
            }
        }
        self.onRebalance = { _ in }
        self.queue = nil
    }

    /// Remembers that the rebalance handler did its part.
    func answered() { self.isAnswered = true }

    /// The client, also during `close`, for the rebalance handler then still ends and commits what is open.
    var client: ClientHandle {
        get throws(KafkaError) {
            guard let queue = self.queue else { throw .closed }
            return queue.client
        }
    }

    /// Takes an event other than a record.
    ///
    /// - Returns: true if the poll should return to its caller.
    private func handle(
        _ event: ClientEvent, of client: ClientHandle, from first: Int, _ outcome: inout PollOutcome,
        _ records: inout [IncomingRecord]
    ) throws(KafkaError) -> Bool {
        switch event {
        case .endOfPartition(let partition, let offset):
            outcome.ends[partition] = offset
        case .partitionFailed(let partition, let error):
            if error.isFatal { throw error }
            outcome.partitionErrors[partition] = error
        case .failed(let error):
            // librdkafka would ask for the same session again and again.
            if error.isFatal || error.kind == .sessionRefused { throw error }
            outcome.errors.append(error)
            self.settings.onError?(error)
        case .statistics(let statistics):
            self.settings.onStatistics?(statistics)
        case .assigned(let partitions):
            outcome.rebalanced = true
            self.rebalance(.assigned(partitions), of: client)
            return true
        case .revoked(let partitions):
            outcome.rebalanced = true
            self.rebalance(.revoked(partitions, lost: client.isAssignmentLost), of: client)
            let revoked = Set(partitions)
            let kept = records[first...].filter { !revoked.contains($0.topicPartition) }
            records.replaceSubrange(first..., with: kept)
            outcome.ends = outcome.ends.filter { !revoked.contains($0.key) }
            return true
        case .record, .other:
            break
        }
        return false
    }

    private func rebalance(_ event: RebalanceEvent, of client: ClientHandle) {
        self.isAnswered = false
        self.onRebalance(event)
        guard !self.isAnswered else { return }
        // A failure here is the client's end, and the next poll tells of it.
        switch event {
        case .assigned(let partitions):
            let list = PartitionList(partitions)
            try? client.isCooperative ? client.incrementalAssign(list) : client.assign(list)
        case .revoked(let partitions, _):
            let list = PartitionList(partitions)
            try? client.isCooperative ? client.incrementalUnassign(list) : client.unassign()
        }
    }
}
