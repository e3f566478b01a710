// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import GatewayCore
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import ServiceShell

/// The thread that reads the past for all shards.
///
/// It reads what clients have missed that come back after memory let go of it, and messages of before for newcomers. One
/// consumer, a few partitions at once, each read by one pass for all who ask.
final class ReplayReader: ReplaySource {
    private let gateway: Gateway
    private let log: Log
    private let kafka: KafkaSettings
    private let loop: ReadLoop
    private let queue = Locked(ReplayQueue())
    private let held = ReplayStock.Sum()
    private let records: Counter
    private let mode: KafkaMode

    private static let batch = 2000
    /// How long a poll waits at most while somebody waits.
    private static let busyMilliseconds = 20
    private static let idleMilliseconds = 500

    /// A pass, and what counts of the records that it reads.
    private struct Pass {
        var sweep: ReplaySweep
        var appended = AppendedBatches()
    }

    init(_ gateway: Gateway, kafka: KafkaSettings, mode: KafkaMode, registry: MetricsRegistry) {
        self.gateway = gateway
        self.log = gateway.log
        var settings = kafka
        // A pass ends soon; what is fetched beyond its end is fetched in vain.
        settings.overrides["queued.max.messages.kbytes"] = "4096"
        settings.overrides["queued.min.messages"] = "5000"
        self.mode = mode
        self.kafka = settings
        self.loop = ReadLoop(settings, fetchWaitMilliseconds: mode == .embedded ? 5 : 20)
        self.records = registry.counter(
            "gateway_replay_records_total", help: "Feed records read again for clients that come back or are new.")
        registry.observe("gateway_replay_waiting", help: "Questions that wait for the reader of the past.") {
            [weak self] in Double(self?.queue.withLock { $0.count } ?? 0)
        }
        registry.observe("gateway_replay_bytes", help: "Bytes of items that were read again and are not sent yet.") {
            [held] in Double(held.count)
        }
    }

    /// When the thread last came round, by the monotonic clock.
    var lastTurnAt: Timestamp { self.loop.lastTurnAt }

    func ask(_ id: ReplayID, _ request: ReplayRequest, partition: Int, until: Timestamp) -> Bool {
        let isTaken = self.queue.withLock { $0.add(id, request, partition: partition, until: until) }
        if isTaken { self.loop.wake() }
        return isTaken
    }

    /// Ends `run`, from any thread.
    func stop() { self.loop.stop() }

    /// Reads until `stop`.
    func run() {
        self.loop.run { (consumer) throws(KafkaError) in
            var passes: [Int: Pass] = [:]
            do throws(KafkaError) {
                try self.read(consumer, &passes)
            } catch {
                // Another consumer begins them anew, if there is time.
                for (partition, pass) in passes {
                    self.queue.withLock { $0.putBack(pass.sweep.unanswered, partition: partition) }
                }
                throw error
            }
        } failed: { error in
            ReadLoop.tell(error, "the past cannot be read now", isStarting: !self.gateway.isFilled, in: self.log)
        }
    }

    private func read(_ consumer: KafkaConsumer, _ passes: inout [Int: Pass]) throws(KafkaError) {
        _ = try consumer.topicMetadata(PlazaTopic.roomFeed.rawValue, timeoutMilliseconds: 10_000)
        let asker = try AppendedFeed.asker(self.kafka, mode: self.mode)
        defer { asker?.close() }
        var records: [IncomingRecord] = []
        while self.loop.turns() {
            try self.begin(consumer, asker, &passes)
            let isIdle = passes.isEmpty && self.queue.withLock { $0.count } == 0
            records.removeAll(keepingCapacity: true)
            let outcome = try consumer.poll(
                max: Self.batch, timeoutMilliseconds: isIdle ? Self.idleMilliseconds : Self.busyMilliseconds,
                into: &records)
            self.records.add(records.count)
            let now = MonotonicClock.now
            for record in records { Self.take(record, &passes, at: now) }
            for (place, end) in outcome.ends {
                guard let pass = passes[Int(place.partition)] else { continue }
                passes[Int(place.partition)]?.sweep.reachedEnd(at: pass.appended.settled(upTo: end))
            }
            try self.conclude(consumer, &passes, at: now)
        }
    }

    /// Begins passes, as long as few enough run and not too much of what was read waits to be sent.
    private func begin(
        _ consumer: KafkaConsumer, _ asker: KafkaConsumer?, _ passes: inout [Int: Pass]
    ) throws(KafkaError) {
        while passes.count < ReplayLimits.partitions, self.held.count < ReplayLimits.bytes {
            let busy = Set(passes.keys)
            guard var sweep = self.queue.withLock({ $0.next(besides: busy) }) else { return }
            // From here on the questions are kept, whatever fails.
            passes[sweep.partition] = Pass(sweep: sweep)
            let place = Self.place(sweep.partition)
            if sweep.isSearch {
                sweep.begins(at: try consumer.beginning(of: place, timeoutMilliseconds: 1000))
                passes[sweep.partition]?.sweep = sweep
            }
            if sweep.isOver { continue }
            do throws(KafkaError) {
                let (batches, start) = try AppendedFeed.batches(
                    of: place.partition, from: sweep.bounds.lowerBound, by: asker)
                passes[sweep.partition]?.appended = batches
                try consumer.incrementalAssign([place: start])
            } catch {
                // It concerns this partition alone; the others' passes go on.
                passes[sweep.partition] = nil
                self.queue.withLock { $0.putBack(sweep.unanswered, partition: sweep.partition) }
                return self.log.info("the past of a feed cannot be read now", [.detail: .string(error.description)])
            }
        }
    }

    private static func take(_ record: IncomingRecord, _ passes: inout [Int: Pass], at now: Timestamp) {
        let partition = Int(record.partition)
        guard passes[partition]?.sweep.isOver == false else { return }
        var counting: [IncomingRecord] = []
        passes[partition]?.appended.take(record, counting: &counting)
        for record in counting {
            let key = record.key.flatMap { LiveKey(text: String(decoding: $0, as: UTF8.self)) }
            let isWanted = key.map { passes[partition]?.sweep.wants($0) ?? false } ?? false
            passes[partition]?.sweep.take(isWanted ? FeedRecord(record, at: now) : nil, at: record.offset)
        }
        // What counts not is passed too, once nothing before it waits.
        let settled = passes[partition]?.appended.settled(upTo: record.offset + 1) ?? 0
        if settled > record.offset { passes[partition]?.sweep.take(nil, at: record.offset) }
    }

    /// Ends passes that are over, and tells everybody what came of them.
    private func conclude(
        _ consumer: KafkaConsumer, _ passes: inout [Int: Pass], at now: Timestamp
    ) throws(KafkaError) {
        var late = self.queue.withLock { $0.expired(at: now) }
        for partition in passes.keys.sorted() {
            late += passes[partition]?.sweep.expire(at: now) ?? []
            guard let pass = passes[partition]?.sweep, pass.isOver else { continue }
            passes[partition] = nil
            let end = pass.finish()
            for group in end.groups {
                self.gateway.replayed(group.outcomes, stock: ReplayStock(bytes: group.bytes, of: self.held))
            }
            self.queue.withLock { $0.putBack(end.again, partition: partition) }
            if !pass.bounds.isEmpty { try consumer.incrementalUnassign([Self.place(partition)]) }
        }
        if !late.isEmpty { self.gateway.replayed(late, stock: nil) }
    }

    private static func place(_ number: Int) -> TopicPartition {
        TopicPartition(PlazaTopic.roomFeed.rawValue, Int32(number))
    }
}
