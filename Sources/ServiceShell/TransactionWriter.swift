// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import PlazaModel

/// Writes each batch in one transaction: records, rows and offsets commit together (design: exactly once).
final class TransactionWriter: BatchWriter {
    /// How long a commit may take before the writer gives up and starts anew.
    private static let patience = 10_000
    private let producer: KafkaProducer
    private let state: PlazaTopic

    init(_ settings: KafkaSettings, transactionalID: String, state: PlazaTopic) throws(KafkaError) {
        // Delivery reports are on: the commit's flush then wakes at once (4.5 ms a transaction instead of 14).
        self.producer = try KafkaProducer(
            settings, transactionalID: transactionalID, transactionTimeoutMilliseconds: 2000, onDelivery: { _ in })
        self.state = state
    }

    func prepare() throws(KafkaError) { try self.producer.initTransactions(timeoutMilliseconds: 2000) }

    func commit(_ batch: BatchOutput, group: GroupMetadata, consumer: KafkaConsumer) throws(KafkaError) {
        do {
            try self.producer.beginTransaction()
            // Before the first record: while the broker still writes the last transaction's markers, offsets are tried again
            // after retry.backoff.ms, but a partition's first record only after a fixed 20 ms.
            //
            // Always with the offsets and the group's metadata as it was before the first input: without them, or with
            // newer metadata, the broker accepts the commit of an owner that is none any more.
            try Self.retrying { () throws(KafkaError) in
                try self.producer.sendOffsets(batch.offsets, group: group, timeoutMilliseconds: 2000)
            }
            for record in batch.records(state: self.state) {
                try self.producer.send(record)
            }
            try Self.retrying { () throws(KafkaError) in
                try self.producer.commitTransaction(timeoutMilliseconds: 2000)
            }
        } catch {
            if error.isFatal || error.kind == .fenced { throw error }
            try Self.retrying { () throws(KafkaError) in
                try self.producer.abortTransaction(timeoutMilliseconds: 2000)
            }
            throw error
        }
    }

    func warmUp() throws(KafkaError) {
        for topic in PlazaTopic.allCases {
            try self.producer.topicMetadata(topic.rawValue, timeoutMilliseconds: 5000)
        }
    }

    func learn(_ topic: String, partition: Int32, key: String, value: [UInt8]?) {}

    func close() { self.producer.close(timeoutMilliseconds: 500) }

    /// Makes a call again while it says that it may be; librdkafka keeps the outcome, so each try waits for the same.
    private static func retrying(_ call: () throws(KafkaError) -> Void) throws(KafkaError) {
        let deadline = MonotonicClock.milliseconds + Int64(Self.patience)
        while true {
            do {
                return try call()
            } catch {
                let again = (error.isRetriable || error.kind == .timedOut) && !error.requiresAbort && !error.isFatal
                guard again, MonotonicClock.milliseconds < deadline else { throw error }
            }
        }
    }
}
