// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import Synchronization

/// Writes records to Kafka: idempotent, acknowledged by all replicas (`acks=all`), and with a bounded queue.
///
/// Each producer has a thread that waits for librdkafka's delivery reports and errors and calls `onDelivery`. All
/// methods may be called from any thread. Methods with a timeout block the calling thread, so they must not be called
/// from Swift concurrency's threads or from `onDelivery`.
package final class KafkaProducer: Sendable {
    /// The producer's state; nil after `close`.
    private let core: Locked<Core?>

    /// Creates a producer; it connects in the background.
    ///
    /// - Parameters:
    ///   - settings: the brokers' addresses and the client id.
    ///   - transactionalID: if it is not nil, the producer is transactional, and a newer producer with the same id
    ///     fences it.
    ///   - transactionTimeout: how long a transaction may be open before the broker aborts it.
    ///   - queueLimit: the capacity of the queue in records; when it is full, `send` throws `queueFull`.
    ///   - onDelivery: receives each record's delivery report, on the event thread. It must be quick and must not
    ///     block.
    /// - Throws: `invalidConfiguration` when librdkafka rejects a setting.
    package init(
        _ settings: KafkaSettings, transactionalID: String? = nil, transactionTimeout: Duration = .seconds(2),
        queueLimit: Int = 100_000, onDelivery: (@Sendable (DeliveryReport) -> Void)? = nil
    ) throws(KafkaError) {
        let client = try ClientHandle(
            .producer,
            settings.producer(
                transactionalID: transactionalID, transactionTimeout: transactionTimeout,
                queueLimit: queueLimit), log: settings.log)
        self.core = Locked(try Core(client, settings, onDelivery: onDelivery))
    }

    deinit { self.close(timeout: .zero) }

    /// The number of records in the queue or in flight, plus delivery reports that are not handled yet; 0 after
    /// `close`.
    package var queueDepth: Int { (try? self.client)?.queueDepth ?? 0 }

    /// The error that made the producer unusable, such as `fenced`; nil if there is none, and after `close`.
    package var fatalError: KafkaError? { (try? self.client)?.fatalError }

    /// Loads a topic's metadata.
    ///
    /// With loaded metadata the first record is sent at once instead of after up to 1 s.
    ///
    /// - Returns: the number of partitions.
    /// - Throws: `unknownTopic` if the topic does not exist; `timedOut` or `brokerDown` if no broker responds in time.
    @discardableResult
    package func loadTopicMetadata(_ topic: String, timeout: Duration) throws(KafkaError) -> Int {
        let info = try self.client.clusterInfo(topic: topic, timeout: timeout)
        return info.topics[topic] ?? 0
    }

    /// Checks that the leader of each partition responds, by a query of the partition's end offset.
    ///
    /// - Throws: the error of the first partition that has one; `timedOut` or `brokerDown` if a leader does not respond
    ///   in time.
    package func checkLeaders(of partitions: [TopicPartition], timeout: Duration) throws(KafkaError) {
        let list = PartitionList(partitions, offset: LogicalOffset.end)
        try self.client.readOffsetsForTimes(list, timeout: timeout)
    }

    /// Puts a record into the queue; never blocks.
    ///
    /// - Parameters:
    ///   - record: the record, which is copied before the call returns.
    ///   - token: a number below 2^63 that the delivery report contains.
    /// - Throws: `queueFull`, `messageTooLarge`, `unknownTopic`, a fatal error, or `closed`; `onDelivery` is then not
    ///   called.
    package func send(_ record: borrowing OutgoingRecord, token: UInt64 = 0) throws(KafkaError) {
        precondition(token < DeliveryWaiters.tokenBit, "A delivery token must be less than 2^63.")
        try self.client.produce(record, opaque: token)
    }

    /// Sends a record and waits for its delivery report.
    ///
    /// - Returns: the record's offset.
    /// - Throws: the errors of `send`, the error of the delivery report, or `timedOut` when the outcome is unknown.
    package func sendAndWait(_ record: OutgoingRecord, timeout: Duration) throws(KafkaError) -> Int64 {
        try self.sendAndWait([record], timeout: timeout)[0]
    }

    /// Sends records at once, and waits for the delivery reports of all of them.
    ///
    /// After an error, some of the other records may have been written, or may be written later.
    ///
    /// - Parameters:
    ///   - records: the records.
    ///   - timeout: how long to wait for each report, one after the other.
    /// - Returns: the records' offsets, in the order of `records`.
    /// - Throws: the errors of `send`, the error of a delivery report, or `timedOut` when an outcome is unknown.
    package func sendAndWait(_ records: [OutgoingRecord], timeout: Duration) throws(KafkaError) -> [Int64] {
        guard let core = self.core.withLock({ $0 }) else { throw .closed }
        let waiters = records.map { _ in core.waiters.add() }
        defer { for (token, _) in waiters { core.waiters.remove(token) } }
        for (record, (token, _)) in zip(records, waiters) { try core.client.produce(record, opaque: token) }
        var offsets: [Int64] = []
        for (_, waiter) in waiters {
            guard let delivery = waiter.wait(timeout) else {
                throw KafkaError(
                    .timedOut, "No delivery report in \(timeout.rdkafkaMilliseconds) ms.", codeName: "_TIMED_OUT",
                    isRetriable: true
                )
            }
            if let error = delivery.error { throw error }
            offsets.append(delivery.offset)
        }
        return offsets
    }

    /// Waits until `onDelivery` has been called for every record that was sent before.
    ///
    /// - Throws: `timedOut` when delivery reports are missing after the timeout.
    package func flush(timeout: Duration) throws(KafkaError) {
        try self.client.flush(timeout: timeout)
    }

    /// Waits until the queued records are delivered, but no longer than `timeout`; then ends the event thread (the
    /// thread that waits for delivery reports) and the connections.
    ///
    /// Records that are not delivered within the timeout are dropped without a report. Later calls of other methods
    /// throw `closed`. A second call does nothing.
    package func close(timeout: Duration) {
        let core = self.core.withLock { core in
            defer { core = nil }
            return core
        }
        guard let core else { return }
        if timeout > .zero {
            // Delivery reports say which records were delivered, so a timeout here needs no handling.
            try? core.client.flush(timeout: timeout)
        }
        core.stop()
    }

    var client: ClientHandle {
        get throws(KafkaError) {
            guard let core = self.core.withLock({ $0 }) else { throw .closed }
            return core.client
        }
    }

    /// The state of an open producer; a call in progress retains it until the call returns.
    private final class Core: Sendable {
        let client: ClientHandle
        let waiters = DeliveryWaiters()
        private let queue: EventQueue
        private let stopFlag: StopFlag
        private let thread: DedicatedThread

        init(_ client: ClientHandle, _ settings: KafkaSettings, onDelivery: (@Sendable (DeliveryReport) -> Void)?)
            throws(KafkaError)
        {
            let queue = EventQueue(.producer, of: client)
            let stopFlag = StopFlag()
            let waiters = self.waiters
            self.client = client
            self.queue = queue
            self.stopFlag = stopFlag
            do {
                self.thread = try DedicatedThread.start("kafka-producer") {
                    KafkaProducer.handleEvents(queue, settings, until: stopFlag) { delivery in
                        if delivery.token >= DeliveryWaiters.tokenBit {
                            waiters.complete(delivery)
                        } else {
                            onDelivery?(delivery)
                        }
                    }
                }
            } catch {
                throw KafkaError(.other, "The event thread could not be created: error \(error.errno).")
            }
        }

        /// Ends the event thread.
        func stop() {
            self.stopFlag.isSet.store(true, ordering: .releasing)
            self.queue.wakeUp()
            self.thread.join()
        }
    }

    /// Tells the event thread to end.
    private final class StopFlag: Sendable {
        let isSet = Atomic<Bool>(false)
    }

    /// The body of the event thread: handles events until `stopFlag` is set.
    ///
    /// It waits in librdkafka for the next event or for `wakeUp`.
    private static func handleEvents(
        _ queue: EventQueue, _ settings: KafkaSettings, until stopFlag: StopFlag, deliver: (DeliveryReport) -> Void
    ) {
        var names = TopicNames()
        var records: [IncomingRecord] = []
        while !stopFlag.isSet.load(ordering: .acquiring) {
            switch queue.next(timeout: nil, names: &names, into: &records, deliver: deliver) {
            case .failed(let error): settings.onError?(error)
            case .statistics(let statistics): settings.onStatistics?(statistics)
            // `deliver` has received the delivery reports. The events of consumers do not occur.
            case nil, .record, .endOfPartition, .partitionFailed, .assigned, .revoked, .other: break
            }
        }
    }
}

/// The waiters of `sendAndWait`, each for the delivery report of one record, by token.
private final class DeliveryWaiters: Sendable {
    /// The bit that is set in the tokens of `sendAndWait`; callers of `send` pass tokens without it.
    static let tokenBit: UInt64 = 1 << 63

    private struct State {
        var nextToken: UInt64 = DeliveryWaiters.tokenBit
        var waiters: [UInt64: Waiter] = [:]
    }

    private let state = Locked(State())

    /// Adds a waiter with a new token.
    func add() -> (token: UInt64, waiter: Waiter) {
        let waiter = Waiter()
        let token = self.state.withLock { state in
            let token = state.nextToken
            // After `UInt64.max` the tokens begin again at `tokenBit`.
            state.nextToken = (state.nextToken &+ 1) | Self.tokenBit
            state.waiters[token] = waiter
            return token
        }
        return (token, waiter)
    }

    /// Removes a waiter that no longer waits; does nothing if its report has been received.
    func remove(_ token: UInt64) { self.state.withLock { $0.waiters[token] = nil } }

    /// Passes a delivery report to its waiter, which then stops waiting.
    func complete(_ delivery: DeliveryReport) {
        self.state.withLock { $0.waiters.removeValue(forKey: delivery.token) }?.complete(delivery)
    }

    /// Waits for the delivery report of one record.
    final class Waiter: Sendable {
        private let delivery = ConditionVariable<DeliveryReport?>(nil)

        func complete(_ delivery: DeliveryReport) { self.delivery.update { $0 = delivery } }

        /// Blocks until the report is received; nil after the timeout.
        func wait(_ timeout: Duration) -> DeliveryReport? {
            self.delivery.wait(timeout: timeout) { $0 }
        }
    }
}
