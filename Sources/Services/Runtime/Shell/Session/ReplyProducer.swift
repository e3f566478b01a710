// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Sends replies after their batch is committed, and writes ticks and records of attempts, with an idempotent producer.
///
/// A tick is an empty inbox record that advances a machine's time; for attempts, see `ProcessingAttempts`.
///
/// Replies are not part of the transaction, because an open transaction of a crashed instance blocks all consumers of
/// the partitions that it wrote. If a crash loses a reply, the gateway repeats the call with the same request id.
final class ReplyProducer {
    /// The key of a tick; no app id begins with `#`.
    static let tickKey = Array("#tick".utf8)
    private static let tickValue = Array("{}".utf8)
    /// The header of the tick with which an owner acquires a partition.
    private static let acquisitionHeader = KafkaHeader(name: "take", text: "1")

    private let producer: KafkaProducer
    /// Counts the replies that could not be queued or delivered.
    private let lostReplies: Counter
    /// Counts the records that the producer rejected because its queue was full.
    private let droppedRecords: Counter

    /// The delivery token of ticks and of records of attempts that are sent without waiting; replies have token 0.
    ///
    /// The token distinguishes lost replies, which are counted, from other lost records.
    private static let nonReplyToken: UInt64 = 1

    init(
        _ settings: KafkaSettings, machine: String, lostReplies: Counter, metrics: KafkaClientMetrics
    ) throws(KafkaError) {
        self.lostReplies = lostReplies
        self.droppedRecords = metrics.drops(of: machine)
        let failures = metrics.failures(of: machine)
        self.producer = try KafkaProducer(settings) { delivery in
            guard delivery.error != nil else { return }
            failures.add()
            if delivery.token != Self.nonReplyToken { lostReplies.add() }
        }
        metrics.exportQueueDepth(of: self.producer, as: machine)
    }

    /// The error that made the producer unusable; nil if there is none.
    var fatalError: KafkaError? { self.producer.fatalError }

    /// Loads the topics' metadata; without it the first record to each topic is delayed by up to a second.
    ///
    /// - Throws: `KafkaError` when the broker does not answer within 5 s.
    func warmUp(_ inbox: PlazaTopic, _ state: PlazaTopic) throws(KafkaError) {
        for topic in [inbox, state, .replies] {
            try self.producer.loadTopicMetadata(topic.rawValue, timeout: .seconds(5))
        }
    }

    /// Sends the replies of a committed batch.
    ///
    /// If a reply cannot be queued, it is counted as lost, and the gateway repeats the call.
    func send(_ replies: [OutgoingRecord]) {
        for reply in replies {
            do throws(KafkaError) {
                try self.producer.send(reply)
            } catch {
                self.lostReplies.add()
                if error.kind == .queueFull { self.droppedRecords.add() }
            }
        }
    }

    /// Writes an acquisition tick to each partition, and waits until the ticks are durable.
    ///
    /// - Returns: the offset of each partition's tick, which becomes the owner's generation.
    /// - Throws: `KafkaError` when a tick is not durable within 5 s.
    func writeAcquisitionTicks(_ inbox: PlazaTopic, _ partitions: [Int32]) throws(KafkaError) -> [Int32: Int64] {
        let ticks = partitions.map { partition in
            var tick = Self.tick(inbox, partition)
            tick.headers.append(Self.acquisitionHeader)
            return tick
        }
        let offsets = try self.producer.sendAndWait(ticks, timeout: .seconds(5))
        return Dictionary(uniqueKeysWithValues: zip(partitions, offsets))
    }

    /// Whether a record is the tick with which an owner acquired the partition.
    static func isAcquisition(_ record: IncomingRecord) -> Bool {
        record.key == Self.tickKey && record.header(Self.acquisitionHeader.name) != nil
    }

    /// Writes a tick without waiting; if it is lost, the next tick replaces it.
    func writeTick(_ inbox: PlazaTopic, _ partition: Int32) {
        do throws(KafkaError) {
            try self.producer.send(Self.tick(inbox, partition), token: Self.nonReplyToken)
        } catch {
            if error.kind == .queueFull { self.droppedRecords.add() }
        }
    }

    /// Writes a partition's record of attempts to the machine's state topic, and waits until the record is durable.
    ///
    /// - Throws: `KafkaError` when the record is not durable within 5 s.
    func writeDurably(
        _ attempts: ProcessingAttempts.Record, to state: PlazaTopic, _ partition: Int32
    ) throws(KafkaError) {
        _ = try self.producer.sendAndWait(
            OutgoingRecord(
                topic: state.rawValue, partition: partition, key: Array(ProcessingAttempts.key.utf8),
                value: Wire.encode(attempts)),
            timeout: .seconds(5))
    }

    /// Writes the records of attempts of all partitions that were acquired or are given up.
    ///
    /// Waits for at most 100 ms, because an unreachable broker must not delay a takeover. The loss of such a record is
    /// ignored.
    func write(
        _ attempts: [(partition: Int32, record: ProcessingAttempts.Record)], to state: PlazaTopic
    ) {
        for (partition, record) in attempts {
            try? self.producer.send(
                OutgoingRecord(
                    topic: state.rawValue, partition: partition, key: Array(ProcessingAttempts.key.utf8),
                    value: Wire.encode(record)),
                token: Self.nonReplyToken)
        }
        if !attempts.isEmpty { try? self.producer.flush(timeout: .milliseconds(100)) }
    }

    /// Closes the producer; waits up to a second for records in flight.
    func close() {
        try? self.producer.flush(timeout: .milliseconds(500))
        self.producer.close(timeout: .milliseconds(500))
    }

    private static func tick(_ inbox: PlazaTopic, _ partition: Int32) -> OutgoingRecord {
        OutgoingRecord(
            topic: inbox.rawValue, partition: partition, key: Self.tickKey, value: Self.tickValue, headers: [])
    }
}
