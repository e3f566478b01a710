// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import ServiceShell

/// The thread that fills the tables: `rooms`, `stages`, `audience.counts` and `apps` from their beginning, notices from
/// 60 s before now, and this gateway's replies from now on.
final class TableReader: Sendable {
    private let gateway: Gateway
    private let log: Log
    private let loop: ReadLoop
    private let recent: RecentOffset

    private static let tables: [PlazaTopic] = [.rooms, .stages, .audienceCounts, .apps]
    private static let batch = 1000
    /// How old the oldest notices are that are read at the start.
    private static let noticeSpan = Milliseconds.seconds(60)
    private static let refreshMilliseconds: Int64 = 5000

    init(_ gateway: Gateway, kafka: KafkaSettings, mode: KafkaMode) {
        self.gateway = gateway
        self.log = gateway.log
        self.loop = ReadLoop(kafka, fetchWaitMilliseconds: mode == .embedded ? 5 : 100)
        self.recent = RecentOffset(span: Self.noticeSpan, mode: mode)
    }

    /// When the thread last came round, by the monotonic clock.
    var lastTurnAt: Timestamp { self.loop.lastTurnAt }

    /// Ends `run`, from any thread.
    func stop() { self.loop.stop() }

    /// Reads until `stop`.
    func run() {
        self.loop.run { (consumer) throws(KafkaError) in
            try self.read(consumer)
        } failed: { error in
            ReadLoop.tell(
                error, "the tables cannot be read now", isStarting: !self.gateway.isFilled, in: self.log)
            self.gateway.brokerLost()
        }
    }

    private func read(_ consumer: KafkaConsumer) throws(KafkaError) {
        let offsets = try self.startingPlaces(consumer)
        try consumer.assign(offsets)
        var missing = Set(offsets.keys.filter { $0.topic != PlazaTopic.userNotices.rawValue })
        var records: [IncomingRecord] = []
        var refreshAt = MonotonicClock.now + Milliseconds(Self.refreshMilliseconds)
        while self.loop.turns() {
            let now = MonotonicClock.now
            let deadline = min(self.gateway.releaseReplies() ?? refreshAt, refreshAt)
            let timeout = Int(max(1, min(500, (deadline - now).count)))
            records.removeAll(keepingCapacity: true)
            let outcome = try consumer.poll(max: Self.batch, timeoutMilliseconds: timeout, into: &records)
            for record in records { self.take(record) }
            if !missing.isEmpty {
                missing.subtract(outcome.ends.keys)
                if missing.isEmpty { self.filled() }
            }
            if MonotonicClock.now >= refreshAt {
                refreshAt = MonotonicClock.now + Milliseconds(Self.refreshMilliseconds)
                self.gateway.refresh()
            }
        }
    }

    private func filled() {
        self.gateway.tablesFilled()
        self.log.info("the tables are filled", [.count: .int(self.gateway.tables.sizes.rooms)])
    }

    /// Every partition of the tables and the notices, and the one of this gateway's replies.
    private func startingPlaces(_ consumer: KafkaConsumer) throws(KafkaError) -> [TopicPartition: Int64] {
        var places: [TopicPartition: Int64] = [:]
        let partitions = Int32(self.gateway.settings.partitions)
        // A client that does not know a topic yet takes a second to begin with it.
        for topic in Self.tables + [.userNotices, .replies] {
            _ = try consumer.topicMetadata(topic.rawValue, timeoutMilliseconds: 10_000)
        }
        for topic in Self.tables {
            for number in 0..<partitions {
                places[TopicPartition(topic.rawValue, number)] = LogicalOffset.beginning
            }
        }
        for number in 0..<partitions {
            let partition = TopicPartition(PlazaTopic.userNotices.rawValue, number)
            let recent = try self.recent.find(consumer, partition)
            // One that could not read for long goes on where it was.
            let known = self.gateway.tables.notices(endOf: Int(number))
            places[partition] = recent >= 0 && known >= 0 ? min(recent, known + 1) : recent
        }
        let own = PlazaTopic.partition(of: self.gateway.settings.id.text, among: Int(partitions))
        places[TopicPartition(PlazaTopic.replies.rawValue, Int32(own))] = LogicalOffset.end
        return places
    }

    /// Takes one record; one that cannot be read is left out and told of.
    private func take(_ record: IncomingRecord) {
        guard let topic = PlazaTopic(rawValue: record.topic),
            let key = record.key.map({ String(decoding: $0, as: UTF8.self) })
        else { return }
        do throws(WireError) {
            switch topic {
            case .rooms:
                if let value = record.value {
                    self.gateway.received(try Wire.decode(RoomRecord.self, from: value))
                } else if let key = LiveKey(text: key) {
                    self.gateway.roomGone(key)
                }
            case .stages:
                if let value = record.value {
                    self.gateway.received(try Wire.decode(StageRecord.self, from: value))
                } else if let key = LiveKey(text: key) {
                    self.gateway.stageGone(key)
                }
            case .audienceCounts: try self.takeCount(record, key)
            case .apps:
                if let value = record.value {
                    self.gateway.received(try Wire.decode(AppRecord.self, from: value))
                }
            case .userNotices:
                guard let value = record.value, self.recent.isWanted(record) else { return }
                let notice = try Wire.decode(Notice.self, from: value)
                self.gateway.received(notice, partition: Int(record.partition), offset: record.offset)
            case .replies:
                // Other gateways share the partition.
                guard key == self.gateway.settings.id.text, let value = record.value else { return }
                self.gateway.received(try Wire.decode(Reply.self, from: value))
            default: break
            }
        } catch {
            self.log.warning(
                "a record cannot be read",
                [
                    .topic: .string(record.topic), .partition: .int(Int(record.partition)),
                    .offset: .int(Int(record.offset)), .detail: .string("\(error)"),
                ])
        }
    }

    private func takeCount(_ record: IncomingRecord, _ key: String) throws(WireError) {
        if key.hasPrefix(PresenceEpochRecord.keyPrefix) {
            if let value = record.value {
                self.gateway.received(try Wire.decode(PresenceEpochRecord.self, from: value))
            }
        } else if let value = record.value {
            self.gateway.received(try Wire.decode(CountRecord.self, from: value))
        } else if let key = LiveKey(text: key) {
            self.gateway.countGone(key)
        }
    }
}
