// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The plain idempotent producer beside the transactions: replies after their commit, and the owner's ticks.
///
/// Replies are outside the transaction on purpose: an open transaction of a stopped instance would hold back every
/// reader of the partitions that it wrote. A reply lost in a crash is asked for again with the same request id.
final class SideProducer {
    /// The key of a tick; no app's name begins so.
    static let tickKey = Array("#tick".utf8)
    private static let tickValue = Array("{}".utf8)
    /// The header of the tick with which an owner takes a partition.
    private static let takeHeader = KafkaHeader(name: "take", text: "1")

    private let producer: KafkaProducer
    private let lost: Counter
    private let drops: Counter

    /// The delivery token of ticks; a reply has none.
    private static let tickToken: UInt64 = 1

    init(
        _ settings: KafkaSettings, machine: String, lost: Counter, meter: KafkaMeter
    ) throws(KafkaError) {
        self.lost = lost
        self.drops = meter.drops(of: machine)
        let failures = meter.failures(of: machine)
        self.producer = try KafkaProducer(settings) { delivery in
            guard delivery.error != nil else { return }
            failures.add()
            if delivery.token != Self.tickToken { lost.add() }
        }
        meter.show(self.producer, as: machine)
    }

    /// Makes the client know its topics, which otherwise costs the first tick up to a second.
    func warmUp(_ inbox: PlazaTopic) throws(KafkaError) {
        for topic in [inbox, .replies] {
            try self.producer.topicMetadata(topic.rawValue, timeoutMilliseconds: 5000)
        }
    }

    /// Sends what a committed batch answers; what cannot be queued is asked for again by its gateway.
    func send(_ replies: [OutgoingRecord]) {
        for reply in replies {
            do throws(KafkaError) {
                try self.producer.send(reply)
            } catch {
                self.lost.add()
                if error.kind == .queueFull { self.drops.add() }
            }
        }
    }

    /// Writes a tick and waits for its offset: the owner's generation.
    func tickAndWait(_ inbox: PlazaTopic, _ partition: Int32) throws(KafkaError) -> Int64 {
        var tick = Self.tick(inbox, partition)
        tick.headers.append(Self.takeHeader)
        return try self.producer.sendAndWait(tick, timeoutMilliseconds: 5000)
    }

    /// Whether a record is the tick with which an owner took the partition.
    static func isTake(_ record: IncomingRecord) -> Bool {
        record.key == Self.tickKey && record.header(Self.takeHeader.name) != nil
    }

    /// Writes a tick; one that is lost is followed by the next.
    func tick(_ inbox: PlazaTopic, _ partition: Int32) {
        do throws(KafkaError) {
            try self.producer.send(Self.tick(inbox, partition), token: Self.tickToken)
        } catch {
            if error.kind == .queueFull { self.drops.add() }
        }
    }

    func close() {
        try? self.producer.flush(timeoutMilliseconds: 500)
        self.producer.close(timeoutMilliseconds: 500)
    }

    private static func tick(_ inbox: PlazaTopic, _ partition: Int32) -> OutgoingRecord {
        OutgoingRecord(
            topic: inbox.rawValue, partition: partition, key: Self.tickKey, value: Self.tickValue, headers: [])
    }
}
