// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
package import KafkaClient
internal import MachineKit
internal import Observability
internal import PlazaModel
package import PlazaWire
package import ServiceShell

/// The idempotent producer of a gateway, through which all shards write their records without blocking.
///
/// The records are calls to inboxes, and sign-in notices to `user.notices`.
package final class InboxWriter: RecordSink {
    private let producer: KafkaProducer
    /// The number of partitions of each topic.
    private let partitionCount: Int
    private let queueFullDrops: Counter
    private let deliveryWatch: Locked<DeliveryWatch>

    /// The producer's name in metric labels.
    private static let name = "inboxes"
    /// The largest number of records in the producer's queue; when it is full, calls are rejected as overloaded.
    private static let queueLimit = 50_000
    /// The topics that the producer writes to; `userNotices` gets the notices by which gateways tell each other of
    /// sign-ins.
    private static let topics: [PlazaTopic] = [
        .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox, .userNotices,
    ]

    /// Creates a writer that reports lost records to `gateway`.
    ///
    /// - Parameters:
    ///   - gateway: The gateway whose calls are written.
    ///   - kafka: The addresses of the brokers and the client's settings.
    ///   - meter: Exports the producer's metrics.
    ///   - timeout: The delivery timeout of a record.
    /// - Throws: `KafkaError` of the kind `invalidConfiguration`.
    package init(
        _ gateway: Gateway, kafka: KafkaSettings, meter: KafkaClientMetrics, timeout: Duration = .seconds(5)
    ) throws(KafkaError) {
        var settings = kafka
        // The timeout is shorter than a caller waits for its reply. After the first record that has timed out, further
        // calls are rejected immediately.
        settings.overrides["message.timeout.ms"] = String(Milliseconds(timeout).count)
        settings.onError = { [weak gateway] error in if error.kind == .brokerDown { gateway?.brokerConnectionLost() } }
        self.partitionCount = gateway.settings.partitions
        self.queueFullDrops = meter.drops(of: Self.name)
        let failures = meter.failures(of: Self.name)
        let deliveryWatch = Locked(DeliveryWatch())
        self.deliveryWatch = deliveryWatch
        self.producer = try KafkaProducer(settings, queueLimit: Self.queueLimit) { [weak gateway] delivery in
            deliveryWatch.withLock { $0.outcomeReported(at: MonotonicClock.now) }
            if delivery.error == nil {
                gateway?.recordDelivered()
            } else {
                failures.add()
                let hasTimedOut = delivery.error?.kind == .timedOut
                // After a timeout, `recordLost` opens the circuit breaker. After any other error the broker is only
                // suspected: the next call tests it.
                if !hasTimedOut { gateway?.brokerConnectionLost() }
                gateway?.recordLost(token: delivery.token, hasTimedOut: hasTimedOut)
            }
        }
        meter.exportQueueDepth(of: self.producer, as: Self.name)
    }

    /// The error after which the producer never writes again; nil while it works.
    package var fatalError: KafkaError? { self.producer.fatalError }

    /// Whether sent records wait for their outcomes, but no outcome was reported for 30 s (`DeliveryWatch.limit`).
    var isHung: Bool { self.deliveryWatch.withLock { $0.isHung(at: MonotonicClock.now) } }

    /// Fetches the metadata of all topics in advance; otherwise the first record would wait up to a second for it.
    ///
    /// - Throws: `KafkaError` when the broker does not answer within 5 s.
    package func warmUp() throws(KafkaError) {
        for topic in Self.topics { try self.producer.loadTopicMetadata(topic.rawValue, timeout: .seconds(5)) }
    }

    /// Returns whether each partition that the producer writes to has a leader that answers.
    ///
    /// Blocks for at most `timeout`.
    package func areLeadersReachable(within timeout: Duration) -> Bool {
        let deadline = MonotonicClock.now + Milliseconds(timeout)
        func remainingTime() -> Duration { .milliseconds(max(1, (deadline - MonotonicClock.now).count)) }
        do throws(KafkaError) {
            // The current leaders are looked up first, because the client may still know the previous ones.
            for topic in Self.topics { try self.producer.loadTopicMetadata(topic.rawValue, timeout: remainingTime()) }
            let partitions = Self.topics.flatMap { topic in
                (0..<self.partitionCount).map { TopicPartition(topic.rawValue, Int32($0)) }
            }
            try self.producer.checkLeaders(of: partitions, timeout: remainingTime())
            return true
        } catch {
            return false
        }
    }

    package func write(_ record: TopicRecord, token: UInt64) throws(SinkRejection) {
        do throws(KafkaError) {
            try self.producer.send(record.outgoing(partitions: self.partitionCount), token: token)
            self.deliveryWatch.withLock { $0.recordSent(at: MonotonicClock.now) }
        } catch {
            switch error.kind {
            case .queueFull:
                self.queueFullDrops.add()
                throw .full
            case .messageTooLarge: throw .tooLarge
            default: throw .unavailable
            }
        }
    }

    /// Closes the producer, after waiting at most `timeout` for the records in flight.
    package func close(timeout: Duration) { self.producer.close(timeout: timeout) }
}
