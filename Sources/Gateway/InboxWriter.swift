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

    /// A producer that tells `gateway` of records that are lost.
    package init(_ gateway: Gateway, kafka: KafkaSettings, meter: KafkaMeter) throws(KafkaError) {
        var settings = kafka
        // Nobody waits longer for a call's answer; who asks hears early that the broker is away.
        settings.overrides["message.timeout.ms"] = "5000"
        settings.onError = { [weak gateway] error in if error.kind == .brokerDown { gateway?.brokerLost() } }
        self.partitions = gateway.settings.partitions
        self.drops = meter.drops(of: Self.name)
        let failures = meter.failures(of: Self.name)
        self.producer = try KafkaProducer(settings, queueLimit: Self.queueLimit) { [weak gateway] delivery in
            if delivery.error == nil {
                gateway?.brokerDelivered()
            } else {
                failures.add()
                gateway?.notDelivered(token: delivery.token)
            }
        }
        meter.show(self.producer, as: Self.name)
    }

    /// Makes the client know the inboxes; a first record would otherwise wait up to a second for that.
    func warmUp() throws(KafkaError) {
        for topic in [
            PlazaTopic.directoryInbox, .audienceInbox, .barrageInbox, .seatInbox, .connectionInbox, .userNotices,
        ] {
            try self.producer.topicMetadata(topic.rawValue, timeoutMilliseconds: 5000)
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
    func close(milliseconds: Int) { self.producer.close(timeoutMilliseconds: milliseconds) }
}
