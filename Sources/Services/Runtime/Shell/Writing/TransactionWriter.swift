// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import MachineKit
internal import PlazaModel

/// Writes each batch in one transaction: records, rows and offsets commit together, exactly once.
///
/// A delayed request to end a transaction ends whichever transaction of the producer's epoch is open when the request
/// arrives. librdkafka repeats an unanswered request, so a delayed copy may remain after the answer. After a transaction
/// whose end may have been requested twice, the next transaction therefore begins with a new epoch
/// (`docs/decisions/0010-new-epoch-after-a-doubtful-end.md`).
final class TransactionWriter: BatchWriter {
    /// The duration from which the end of a transaction counts as repeated: less than the `socket.timeout.ms` of 1.9 s
    /// after which librdkafka repeats the request.
    private static let repeatedAfter = Milliseconds.seconds(1)
    /// The same duration if a connection failed meanwhile: librdkafka needs at least this time to detect the failure and
    /// to connect again.
    ///
    /// A shorter end was not repeated: the failed connection was one to another, unreachable broker.
    private static let repeatedAfterError = Milliseconds(20)

    private let settings: KafkaSettings
    private let transactionalID: String
    private var producer: KafkaProducer
    private let state: PlazaTopic
    /// How long the broker may take to answer before the writer gives up.
    private let timeout: Milliseconds
    /// The number of failed connections to brokers; librdkafka repeats a request whose connection failed.
    private let connectionErrors: Locked<Int>
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
        self.state = state
        self.producer = try Self.makeProducer(settings, transactionalID)
    }

    private static func makeProducer(
        _ settings: KafkaSettings, _ transactionalID: String
    ) throws(KafkaError) -> KafkaProducer {
        // The unused delivery callback is needed: delivery reports wake the flush inside the commit at once. A
        // transaction then takes 4.5 ms instead of 14.
        try KafkaProducer(
            settings, transactionalID: transactionalID, transactionTimeout: .seconds(2), onDelivery: { _ in })
    }

    var fatalError: KafkaError? { self.producer.fatalError }

    func prepare() throws(KafkaError) { try self.producer.initTransactions(timeout: .seconds(2)) }

    /// Writes a batch.
    ///
    /// - Throws: a fatal error when the commit or the abort was not answered. The outcome is then unknown, and
    ///   librdkafka rejects every call except the same one: only `prepare` of a new producer ends the transaction.
    ///   After any other error nothing of the batch was written, and the next batch may begin.
    func commit(_ batch: BatchOutput, group: GroupMetadata, consumer: KafkaConsumer) throws(KafkaError) {
        if self.needsNewEpoch { try self.renewEpoch() }
        do {
            try self.producer.beginTransaction()
            // Send the offsets before the first record. While the broker still writes the last transaction's markers,
            // it rejects both; librdkafka retries offsets after retry.backoff.ms, but a partition's first record only
            // after a fixed 20 ms.
            //
            // Without offsets, or with refreshed group metadata, the broker would accept the commit of a former owner.
            // Therefore every transaction contains offsets, with the metadata from before its first input.
            try self.retrying { () throws(KafkaError) in
                try self.producer.sendOffsets(batch.offsets, group: group, timeout: .seconds(2))
            }
            for record in batch.records(state: self.state) {
                try self.producer.send(record)
            }
        } catch {
            throw try self.aborted(after: error)
        }
        do {
            try self.end { () throws(KafkaError) in try self.producer.commitTransaction(timeout: .seconds(2)) }
        } catch {
            if error.isFatal { throw error }
            throw try self.aborted(after: error)
        }
    }

    /// Aborts the open transaction.
    ///
    /// - Returns: `error`, for the caller to throw.
    private func aborted(after error: KafkaError) throws(KafkaError) -> KafkaError {
        if error.isFatal || error.kind == .fenced { return error }
        try self.end { () throws(KafkaError) in try self.producer.abortTransaction(timeout: .seconds(2)) }
        return error
    }

    /// Ends the open transaction by `call`, and records whether the request may have been sent twice.
    ///
    /// - Throws: a fatal error when the request was not answered.
    private func end(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        let began = MonotonicClock.now
        let errors = self.connectionErrors.withLock { $0 }
        do {
            try self.retrying(call)
        } catch {
            let isUnanswered = !error.requiresAbort && (error.isRetriable || error.kind == .timedOut)
            guard isUnanswered else { throw error }
            throw KafkaError(
                .fatal, "A transaction's end was not answered: \(error.description)", codeName: error.codeName,
                isFatal: true)
        }
        let hasConnectionError = self.connectionErrors.withLock { $0 } != errors
        let limit = hasConnectionError ? Self.repeatedAfterError : Self.repeatedAfter
        self.needsNewEpoch = MonotonicClock.now - began >= limit
    }

    /// Replaces the producer by one with the next epoch; the broker then rejects delayed requests of the old producer.
    private func renewEpoch() throws(KafkaError) {
        let producer = try Self.makeProducer(self.settings, self.transactionalID)
        try self.retrying { () throws(KafkaError) in try producer.initTransactions(timeout: .seconds(2)) }
        self.producer.close(timeout: .zero)
        self.producer = producer
        self.needsNewEpoch = false
        try self.warmUp()
    }

    func warmUp() throws(KafkaError) {
        for topic in PlazaTopic.allCases {
            try self.producer.topicMetadata(topic.rawValue, timeout: .seconds(5))
        }
    }

    func restoreValue(_ topic: String, partition: Int32, key: String, value: [UInt8]?) {}

    func close() { self.producer.close(timeout: .milliseconds(500)) }

    /// Repeats a call while its error is retriable; librdkafka continues the same operation, so a repeated call waits
    /// for its result.
    private func retrying(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        let deadline = MonotonicClock.now + self.timeout
        while true {
            do {
                return try call()
            } catch {
                let canRetry = (error.isRetriable || error.kind == .timedOut) && !error.requiresAbort && !error.isFatal
                guard canRetry, MonotonicClock.now < deadline else { throw error }
            }
        }
    }
}
