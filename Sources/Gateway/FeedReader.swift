// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import ServiceShell

/// The thread that reads feeds: only the partitions that have viewers here, each from a minute before now (or as the
/// gateway is set), so that memory answers most resumes at once.
final class FeedReader: FeedSource {
    private let gateway: Gateway
    private let log: Log
    private let kafka: KafkaSettings
    private let loop: ReadLoop
    private let recent: RecentOffset
    private let shared = Locked(Shared())

    private struct Shared: Sendable {
        /// What should be read.
        var wanted: Set<Int> = []
        /// What was not wanted for a moment: its ring is gone, so it must be read anew even if it is wanted again.
        var dropped: Set<Int> = []
    }

    private static let batch = 2000
    private static let tickMilliseconds: Int64 = 1000

    init(_ gateway: Gateway, kafka: KafkaSettings, mode: KafkaMode) {
        self.gateway = gateway
        self.log = gateway.log
        self.kafka = kafka
        self.loop = ReadLoop(kafka, fetchWaitMilliseconds: mode == .embedded ? 5 : 20)
        self.recent = RecentOffset(span: gateway.settings.ring, mode: mode)
    }

    /// When the thread last came round, by the monotonic clock.
    var lastTurnAt: Timestamp { self.loop.lastTurnAt }

    func follow(_ partition: Int) { self.change { $0.wanted.insert(partition) } }

    func unfollow(_ partition: Int) {
        self.change { shared in
            shared.wanted.remove(partition)
            shared.dropped.insert(partition)
        }
    }

    /// Ends `run`, from any thread.
    func stop() { self.loop.stop() }

    /// Reads until `stop`.
    func run() {
        self.loop.run { (consumer) throws(KafkaError) in
            try self.read(consumer)
        } failed: { error in
            ReadLoop.tell(error, "the feeds cannot be read now", isStarting: !self.gateway.isFilled, in: self.log)
        }
    }

    private func change(_ body: (inout Shared) -> Void) {
        self.shared.withLock { body(&$0) }
        self.loop.wake()
    }

    private func read(_ consumer: KafkaConsumer) throws(KafkaError) {
        // The client knows the topic before the first viewer comes, who would wait half a second otherwise.
        _ = try consumer.topicMetadata(PlazaTopic.roomFeed.rawValue, timeoutMilliseconds: 10_000)
        let asker = try AppendedFeed.asker(self.kafka, mode: self.recent.mode)
        defer { asker?.close() }
        var reading: [Int: AppendedBatches] = [:]
        var loading: Set<Int> = []
        var records: [IncomingRecord] = []
        var tickAt = MonotonicClock.now + Milliseconds(Self.tickMilliseconds)
        while self.loop.turns() {
            let now = MonotonicClock.now
            let isSettled = self.settle(consumer, asker, &reading, &loading)
            let timeout = isSettled ? Int(max(1, (tickAt - now).count)) : 50
            records.removeAll(keepingCapacity: true)
            let outcome = try consumer.poll(max: Self.batch, timeoutMilliseconds: timeout, into: &records)
            self.take(records, &reading)
            for (place, end) in outcome.ends where loading.remove(Int(place.partition)) != nil {
                let settled = reading[Int(place.partition)]?.settled(upTo: end)
                self.gateway.feeds.loaded(partition: Int(place.partition), end: settled ?? end)
            }
            if MonotonicClock.now >= tickAt {
                tickAt = MonotonicClock.now + Milliseconds(Self.tickMilliseconds)
                self.gateway.feeds.tick(at: MonotonicClock.now)
            }
        }
    }

    /// Begins and ends partitions as they are wanted.
    ///
    /// - Parameters:
    ///   - consumer: what reads.
    ///   - asker: asks who writes.
    ///   - reading: the partitions that are read, with what counts of them.
    ///   - loading: those of which the end has not been reached yet.
    /// - Returns: false when something could not be done now.
    private func settle(
        _ consumer: KafkaConsumer, _ asker: KafkaConsumer?, _ reading: inout [Int: AppendedBatches],
        _ loading: inout Set<Int>
    ) -> Bool {
        let (wanted, dropped) = self.shared.withLock { ($0.wanted, $0.dropped) }
        if dropped.isEmpty, wanted.count == reading.count, wanted.allSatisfy({ reading[$0] != nil }) { return true }
        do throws(KafkaError) {
            let gone = dropped.filter { reading[$0] != nil }.sorted()
            if !gone.isEmpty {
                try consumer.incrementalUnassign(gone.map(Self.partition))
                for number in gone { reading[number] = nil }
                loading.subtract(gone)
            }
            self.shared.withLock { $0.dropped.subtract(dropped) }
            for number in wanted.subtracting(reading.keys).sorted() {
                let partition = Self.partition(number)
                let offset = try self.recent.find(consumer, partition)
                let (batches, start) = try AppendedFeed.batches(of: Int32(number), from: offset, by: asker)
                try consumer.incrementalAssign([partition: start])
                reading[number] = batches
                loading.insert(number)
            }
            return true
        } catch {
            self.log.warning("a feed cannot be followed now", [.detail: .string(error.description)])
            return false
        }
    }

    /// Hands records over, by partition; their JSON is not read.
    private func take(_ records: [IncomingRecord], _ reading: inout [Int: AppendedBatches]) {
        if records.isEmpty { return }
        let now = MonotonicClock.now
        var counting: [IncomingRecord] = []
        var ends: [Int: Int64] = [:]
        for record in records {
            let partition = Int(record.partition)
            reading[partition]?.take(record, counting: &counting)
            ends[partition] = reading[partition]?.settled(upTo: record.offset + 1)
        }
        var batches: [Int: [FeedRecord]] = [:]
        for record in counting {
            guard self.recent.isRecent(record), let item = FeedRecord(record, at: now) else { continue }
            batches[Int(record.partition), default: []].append(item)
        }
        for (partition, end) in ends {
            self.gateway.feeds.received(batches[partition] ?? [], partition: partition, end: end)
        }
    }

    private static func partition(_ number: Int) -> TopicPartition {
        TopicPartition(PlazaTopic.roomFeed.rawValue, Int32(number))
    }
}

extension FeedRecord {
    /// A record of the feed topic; nil for one that is none.
    init?(_ record: IncomingRecord, at now: Timestamp) {
        guard let value = record.value, let key = record.key,
            let live = LiveKey(text: String(decoding: key, as: UTF8.self)),
            let headers = FeedHeaders({ record.header($0) })
        else { return nil }
        let piece = FeedPiece(
            number: headers.position.number, feedClass: headers.feedClass, isEnd: headers.isEnd, at: now,
            offset: record.offset, bytes: value)
        self.init(key: live, epoch: headers.position.epoch, piece: piece)
    }
}
