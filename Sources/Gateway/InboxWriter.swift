// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
package import KafkaClient
internal import Observability
internal import PlazaModel
package import PlazaWire
package import ServiceShell

/// The one idempotent producer of a gateway: all shards write inbox records through it, without waiting.
package final class InboxWriter: RecordSink {
    private let producer: KafkaProducer
    private let partitions: Int
    private let drops: Counter

    /// The writer's name among the metrics.
    private static let name = "inboxes"
    /// Records that wait for the broker at most; beyond, calls are refused as overloaded.
    private static let queueLimit = 50_000
    /// What is written to.
    private static let topics: [PlazaTopic] = [
        .directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox, .userNotices,
    ]

    /// A producer that tells `gateway` of records that are lost.
    ///
    /// - Parameters:
    ///   - gateway: whose records these are.
    ///   - kafka: where the brokers are.
    ///   - meter: shows how the producer does.
    ///   - patience: how long the broker may take for a record, in milliseconds.
    /// - Throws: `invalidConfiguration`.
    package init(
        _ gateway: Gateway, kafka: KafkaSettings, meter: KafkaMeter, patience: Int = 5000
    ) throws(KafkaError) {
        var settings = kafka
        // Nobody waits longer for a call's answer; once one has waited so long, further ones are refused at once.
        settings.overrides["message.timeout.ms"] = String(patience)
        settings.onError = { [weak gateway] error in if error.kind == .brokerDown { gateway?.brokerLost() } }
        self.partitions = gateway.settings.partitions
        self.drops = meter.drops(of: Self.name)
        let failures = meter.failures(of: Self.name)
        self.producer = try KafkaProducer(settings, queueLimit: Self.queueLimit) { [weak gateway] delivery in
            if delivery.error == nil {
                gateway?.brokerDelivered()
            } else {
                failures.add()
                let isBrokerAway = delivery.error?.kind == .timedOut
                if !isBrokerAway { gateway?.brokerLost() }
                gateway?.notDelivered(token: delivery.token, isBrokerAway: isBrokerAway)
            }
        }
        meter.show(self.producer, as: Self.name)
    }

    /// Makes the client know the inboxes; a first record would otherwise wait up to a second for that.
    package func warmUp() throws(KafkaError) {
        for topic in Self.topics { try self.producer.topicMetadata(topic.rawValue, timeoutMilliseconds: 5000) }
    }

    /// Whether the inboxes' leaders answer; blocks for at most so long.
    package func answers(milliseconds: Int) -> Bool {
        let deadline = MonotonicClock.milliseconds + Int64(milliseconds)
        func left() -> Int { Int(max(1, deadline - MonotonicClock.milliseconds)) }
        do throws(KafkaError) {
            // Who leads now is learnt first, for the client may know the leaders of before.
            for topic in Self.topics { try self.producer.topicMetadata(topic.rawValue, timeoutMilliseconds: left()) }
            let partitions = Self.topics.flatMap { topic in
                (0..<self.partitions).map { TopicPartition(topic.rawValue, Int32($0)) }
            }
            try self.producer.askLeaders(of: partitions, timeoutMilliseconds: left())
            return true
        } catch {
            return false
        }
    }

    package func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
        do throws(KafkaError) {
            try self.producer.send(record.outgoing(partitions: self.partitions), token: token)
        } catch {
            switch error.kind {
            case .queueFull:
                self.drops.add()
                throw .full
            case .messageTooLarge: throw .tooLarge
            default: throw .unavailable
            }
        }
    }

    /// Waits for what is on its way, at most so long, and ends.
    package func close(milliseconds: Int) { self.producer.close(timeoutMilliseconds: milliseconds) }
}
