// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import PlazaModel

/// Writes each batch in one transaction: records, rows and offsets commit together, exactly once.
///
/// In this type, an epoch is the epoch of the Kafka producer: the broker rejects the requests of a producer with a
/// lower epoch.
///
/// A delayed request to end a transaction ends whichever transaction of the producer's epoch is open when the request
/// arrives. librdkafka repeats an unanswered request, so a delayed copy may remain after the answer. After a
/// transaction whose end may have been requested twice, the next transaction therefore begins with a new epoch
/// (`docs/decisions/0010-new-epoch-after-a-doubtful-end.md`). If the broker rejected records of a transaction, the
/// next transaction begins with a new epoch, too.
final class TransactionWriter: BatchWriter {
    /// If the end of a transaction takes at least this time, its request may have been repeated.
    ///
    /// librdkafka repeats an unanswered request after `socket.timeout.ms`, which it sets to 1.9 s for the transaction
    /// timeout of 2 s.
    private static let minRepeatedEndTime = Milliseconds.seconds(1)
    /// If an end during which a connection failed takes at least this time, its request may have been repeated.
    ///
    /// librdkafka needs at least this time to detect the failure and to connect again. If the end took less time, its
    /// request was not repeated: the failed connection was to another, unreachable broker.
    private static let minRepeatedEndTimeAfterError = Milliseconds(20)
    /// How long one call of the producer waits for the broker; `retrying` repeats a call until `timeout`.
    private static let callTimeout = Duration.seconds(2)

    private let settings: KafkaSettings
    private let transactionalID: String
    private var producer: KafkaProducer
    private let stateTopic: PlazaTopic
    /// How long `retrying` repeats an unanswered call before the writer gives up.
    private let timeout: Milliseconds
    /// The number of failed connections to brokers; librdkafka repeats a request whose connection failed.
    private let connectionErrors: Locked<Int>
    /// The records that a broker rejected since the last transaction began.
    private let rejectedRecords = Locked(RejectedRecords())
    /// Whether the next transaction needs a new epoch: in the current epoch, the end of a transaction may have been
    /// requested twice, or records were rejected.
    private var needsNewEpoch = false

    init(
        _ settings: KafkaSettings, transactionalID: String, state: PlazaTopic, timeout: Milliseconds = .seconds(10)
    ) throws(KafkaError) {
        let connectionErrors = Locked(0)
        var settings = settings
        let report = settings.onError
        settings.onError = { error in
            connectionErrors.withLock { $0 += 1 }
            report?(error)
        }
        self.settings = settings
        self.transactionalID = transactionalID
        self.connectionErrors = connectionErrors
        self.timeout = timeout
        self.stateTopic = state
        self.producer = try Self.makeProducer(settings, transactionalID, self.rejectedRecords)
    }

    private static func makeProducer(
        _ settings: KafkaSettings, _ transactionalID: String, _ rejectedRecords: Locked<RejectedRecords>
    ) throws(KafkaError) -> KafkaProducer {
        // The delivery reports also wake the flush inside the commit at once. A transaction then takes 4.5 ms instead
        // of 14 ms.
        try KafkaProducer(settings, transactionalID: transactionalID, transactionTimeout: .seconds(2)) { delivery in
            if delivery.error != nil { rejectedRecords.withLock { $0.add(delivery) } }
        }
    }

    var fatalError: KafkaError? { self.producer.fatalError }

    func prepare() throws(KafkaError) { try self.producer.initTransactions(timeout: Self.callTimeout) }

    /// Writes a batch.
    ///
    /// - Throws: `unanswered` when the commit or the abort was not answered. The outcome is then unknown. librdkafka
    ///   accepts only a repetition of the unanswered call, so only `prepare` of a new producer ends the transaction.
    ///   After any other error nothing of the batch was written, and the next batch may begin. If the broker rejected
    ///   records, the error is `RejectedRecords.reason`. If the batch is larger than the producer's queue, it is
    ///   `messageTooLarge`.
    func commit(_ batch: BatchOutput, group: GroupMetadata, consumer: KafkaConsumer) throws(KafkaError) {
        if self.needsNewEpoch { try self.renewEpoch() }
        self.rejectedRecords.withLock { $0 = RejectedRecords() }
        do {
            try self.producer.beginTransaction()
            // The offsets are sent before the first record. While the broker still writes the markers of the last
            // transaction, it rejects offsets and records. librdkafka sends rejected offsets again after
            // the short `retry.backoff.ms`. It sends the rejected first record of a partition again only after a fixed
            // 20 ms.
            //
            // Without offsets, or with refreshed group metadata, the broker would accept the commit of a former owner.
            // Therefore every transaction contains offsets, with the group metadata from before its first input.
            try self.retrying { () throws(KafkaError) in
                try self.producer.sendOffsets(batch.offsets, group: group, timeout: Self.callTimeout)
            }
            try self.producer.send(batch: batch.records(state: self.stateTopic))
        } catch {
            throw try self.abort(after: error)
        }
        do {
            try self.endTransaction { () throws(KafkaError) in
                try self.producer.commitTransaction(timeout: Self.callTimeout)
            }
        } catch {
            // After a fatal error, such as `unanswered`, this producer can no longer abort.
            if error.isFatal { throw error }
            throw try self.abort(after: error)
        }
    }

    /// Aborts the open transaction, unless the error makes that impossible.
    ///
    /// - Returns: the error for the caller to throw: why the broker rejected records, or else `error`.
    /// - Throws: `unanswered` when the abort was not answered.
    private func abort(after error: KafkaError) throws(KafkaError) -> KafkaError {
        if error.isFatal || error.kind == .fenced { return error }
        try self.endTransaction { () throws(KafkaError) in
            try self.producer.abortTransaction(timeout: Self.callTimeout)
        }
        // The abort waits for all delivery reports.
        guard let rejection = self.rejectedRecords.withLock({ $0.reason }) else { return error }
        // librdkafka has counted the rejected records, but the broker has not. The broker would therefore reject the
        // next record of the same partition and epoch, because its sequence number leaves a gap.
        self.needsNewEpoch = true
        return rejection
    }

    /// Ends the open transaction, and records whether the request may have been sent twice.
    ///
    /// - Parameter call: commits or aborts the transaction.
    /// - Throws: `unanswered` when the request was not answered.
    private func endTransaction(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        let beganAt = MonotonicClock.now
        let errorsBefore = self.connectionErrors.withLock { $0 }
        // A failed commit or abort may have been requested twice as well, so this also runs after a failure.
        defer {
            let hasConnectionError = self.connectionErrors.withLock { $0 } != errorsBefore
            let minTime = hasConnectionError ? Self.minRepeatedEndTimeAfterError : Self.minRepeatedEndTime
            if MonotonicClock.now - beganAt >= minTime { self.needsNewEpoch = true }
        }
        do {
            try self.retrying(call)
        } catch {
            let isUnanswered = !error.requiresAbort && (error.isRetriable || error.kind == .timedOut)
            guard isUnanswered else { throw error }
            throw KafkaError(
                .unanswered, "A transaction's end was not answered: \(error.description)", codeName: error.codeName,
                isFatal: true)
        }
    }

    /// Replaces the producer by a producer with the next epoch; the broker then rejects delayed requests of the old
    /// producer.
    private func renewEpoch() throws(KafkaError) {
        let producer = try Self.makeProducer(self.settings, self.transactionalID, self.rejectedRecords)
        try self.retrying { () throws(KafkaError) in try producer.initTransactions(timeout: Self.callTimeout) }
        self.producer.close(timeout: .zero)
        self.producer = producer
        self.needsNewEpoch = false
        try self.warmUp()
    }

    /// Loads the metadata of all topics, so that the first records need not wait for them.
    func warmUp() throws(KafkaError) {
        for topic in PlazaTopic.allCases {
            try self.producer.loadTopicMetadata(topic.rawValue, timeout: .seconds(5))
        }
    }

    /// Does nothing, because this writer never writes an old value of a compacted topic again.
    func restoreValue(_ topic: String, partition: Int32, key: String, value: [UInt8]?) {}

    func close() { self.producer.close(timeout: .milliseconds(500)) }

    /// Repeats a call while its error is retriable, until the timeout.
    ///
    /// After a failed call, librdkafka continues the operation; the repeated call waits for the operation's result.
    ///
    /// - Throws: the error of the last call.
    private func retrying(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        var retries = CallRetries(until: MonotonicClock.now + self.timeout)
        while true {
            do {
                return try call()
            } catch {
                guard let pause = retries.pause(after: error, at: MonotonicClock.now) else { throw error }
                DedicatedThread.sleep(for: Duration(pause))
            }
        }
    }
}
