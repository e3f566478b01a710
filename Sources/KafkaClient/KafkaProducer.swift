// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Dispatch
internal import Synchronization

/// Sends records: idempotent, `acks=all`, batched, with a bounded queue.
///
/// One thread per producer, made for it, waits for librdkafka's delivery reports and errors and calls `onDelivery`.
/// All methods may be called from any thread; those with a time-out block theirs, so never call them from Swift
/// concurrency's threads or from `onDelivery`.
package final class KafkaProducer: Sendable {
    private let core: Locked<Core?>

    /// Makes a producer; it connects in the background.
    ///
    /// - Parameters:
    ///   - settings: where and who.
    ///   - transactionalID: makes it transactional; a newer producer of the same id fences this one.
    ///   - transactionTimeoutMilliseconds: after it the broker aborts an open transaction.
    ///   - queueLimit: records that may wait; beyond it `send` throws `queueFull`.
    ///   - onDelivery: takes each record's fate, on the event thread. It must be quick and must not block.
    /// - Throws: `invalidConfiguration`.
    package init(
        _ settings: KafkaSettings, transactionalID: String? = nil, transactionTimeoutMilliseconds: Int = 2000,
        queueLimit: Int = 100_000, onDelivery: (@Sendable (Delivery) -> Void)? = nil
    ) throws(KafkaError) {
        let client = try ClientHandle(
            .producer,
            settings.producer(
                transactionalID: transactionalID, transactionTimeoutMilliseconds: transactionTimeoutMilliseconds,
                queueLimit: queueLimit), log: settings.log)
        self.core = Locked(try Core(client, settings, onDelivery: onDelivery))
    }

    deinit { self.close(timeoutMilliseconds: 0) }

    /// Records that wait or are on their way, and reports that were not taken yet.
    package var queueDepth: Int { (try? self.client)?.queueDepth ?? 0 }

    /// The error that made the producer useless, such as being fenced.
    package var fatalError: KafkaError? { (try? self.client)?.fatalError }

    /// Asks for a topic's number of partitions, and so makes the client know the topic: a first record is sent at once
    /// afterwards instead of after up to 1 s.
    ///
    /// - Throws: `unknownTopic`, `timedOut`, `brokerDown`.
    @discardableResult
    package func topicMetadata(_ topic: String, timeoutMilliseconds: Int) throws(KafkaError) -> Int {
        let info = try self.client.clusterInfo(topic: topic, timeoutMilliseconds: timeoutMilliseconds)
        return info.topics[topic] ?? 0
    }

    /// Asks the leader of each partition for something that it alone knows, and so shows that all of them answer.
    ///
    /// - Throws: the first partition's error, `timedOut`, `brokerDown`.
    package func askLeaders(of partitions: [TopicPartition], timeoutMilliseconds: Int) throws(KafkaError) {
        let list = PartitionList(partitions, offset: LogicalOffset.end)
        try self.client.readOffsetsForTimes(list, timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Puts a record into the queue; never blocks.
    ///
    /// - Parameters:
    ///   - record: copied before this returns.
    ///   - token: comes back with the delivery; less than 2^63.
    /// - Throws: `queueFull`, `messageTooLarge`, `unknownTopic`, a fatal kind, or `closed`; then no delivery follows.
    package func send(_ record: borrowing OutgoingRecord, token: UInt64 = 0) throws(KafkaError) {
        precondition(token < SyncWaiters.mark, "A delivery token must be less than 2^63.")
        try self.client.produce(record, opaque: token)
    }

    /// Sends a record and waits for its fate.
    ///
    /// - Returns: its offset.
    /// - Throws: as `send`, what the delivery said, or `timedOut`: then the outcome is unknown.
    package func sendAndWait(_ record: borrowing OutgoingRecord, timeoutMilliseconds: Int) throws(KafkaError) -> Int64 {
        guard let core = self.core.withLock({ $0 }) else { throw .closed }
        let (token, waiter) = core.waiters.add()
        defer { core.waiters.remove(token) }
        try core.client.produce(record, opaque: token)
        guard let delivery = waiter.wait(milliseconds: timeoutMilliseconds) else {
            throw KafkaError(
                .timedOut, "No delivery report in \(timeoutMilliseconds) ms.", codeName: "_TIMED_OUT", isRetriable: true
            )
        }
        if let error = delivery.error { throw error }
        return delivery.offset
    }

    /// Waits until every record sent before has had its fate and `onDelivery` was called for it.
    ///
    /// - Throws: `timedOut`.
    package func flush(timeoutMilliseconds: Int) throws(KafkaError) {
        try self.client.flush(timeoutMilliseconds: timeoutMilliseconds)
    }

    /// Waits for the records in the queue, then ends the thread and the connections.
    ///
    /// Calls after it throw `closed`.
    ///
    /// What is not delivered within the time is dropped without a report. A second call does nothing.
    package func close(timeoutMilliseconds: Int) {
        let core = self.core.withLock { core in
            defer { core = nil }
            return core
        }
        guard let core else { return }
        if timeoutMilliseconds > 0 {
            // Whether all was delivered, the deliveries told; there is nobody else to tell here.
            try? core.client.flush(timeoutMilliseconds: timeoutMilliseconds)
        }
        core.stop()
    }

    var client: ClientHandle {
        get throws(KafkaError) {
            guard let core = self.core.withLock({ $0 }) else { throw .closed }
            return core.client
        }
    }

    /// What lives from the start to `close`; whoever is inside a call keeps the client alive until it returns.
    private final class Core: Sendable {
        let client: ClientHandle
        let waiters = SyncWaiters()
        private let queue: EventQueue
        private let stopping: StopFlag
        private let thread: EventThread

        init(_ client: ClientHandle, _ settings: KafkaSettings, onDelivery: (@Sendable (Delivery) -> Void)?)
            throws(KafkaError)
        {
            let queue = EventQueue(.producer, of: client)
            let stopping = StopFlag()
            let waiters = self.waiters
            self.client = client
            self.queue = queue
            self.stopping = stopping
            self.thread = try EventThread {
                KafkaProducer.serve(queue, settings, until: stopping) { delivery in
                    if delivery.token >= SyncWaiters.mark {
                        waiters.complete(delivery)
                    } else {
                        onDelivery?(delivery)
                    }
                }
            }
        }

        func stop() {
            self.stopping.isSet.store(true, ordering: .releasing)
            self.queue.wake()
            self.thread.join()
        }
    }

    private final class StopFlag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// The body of the event thread: waits in librdkafka until there is an event or `wake`.
    private static func serve(
        _ queue: EventQueue, _ settings: KafkaSettings, until stopping: StopFlag, deliver: (Delivery) -> Void
    ) {
        var names = TopicNames()
        var records: [IncomingRecord] = []
        while !stopping.isSet.load(ordering: .acquiring) {
            switch queue.next(timeoutMilliseconds: -1, names: &names, into: &records, deliver: deliver) {
            case .failed(let error): settings.onError?(error)
            case .statistics(let statistics): settings.onStatistics?(statistics)
            case nil, .record, .endOfPartition, .partitionFailed, .assigned, .revoked, .other: break
            }
        }
    }
}

/// Threads that wait for the fate of one record each.
private final class SyncWaiters: Sendable {
    /// Tokens of waiters have this bit, those of callers do not.
    static let mark: UInt64 = 1 << 63

    private struct State {
        var next: UInt64 = SyncWaiters.mark
        var waiters: [UInt64: Waiter] = [:]
    }

    private let state = Locked(State())

    func add() -> (token: UInt64, waiter: Waiter) {
        let waiter = Waiter()
        let token = self.state.withLock { state in
            let token = state.next
            state.next = (state.next &+ 1) | Self.mark
            state.waiters[token] = waiter
            return token
        }
        return (token, waiter)
    }

    func remove(_ token: UInt64) { self.state.withLock { $0.waiters[token] = nil } }

    func complete(_ delivery: Delivery) {
        self.state.withLock { $0.waiters.removeValue(forKey: delivery.token) }?.complete(delivery)
    }

    final class Waiter: Sendable {
        private let delivery = Locked<Delivery?>(nil)
        private let done = DispatchSemaphore(value: 0)

        func complete(_ delivery: Delivery) {
            self.delivery.withLock { $0 = delivery }
            self.done.signal()
        }

        func wait(milliseconds: Int) -> Delivery? {
            _ = self.done.wait(timeout: .now() + .milliseconds(milliseconds))
            return self.delivery.withLock { $0 }
        }
    }
}
