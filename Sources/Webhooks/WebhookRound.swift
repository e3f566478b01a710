// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import HTTPClient
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The sender's loop: reads events, sends those that are due, and commits what is done with.
///
/// On one thread. It never stops reading for a backend that is slow: what finds no room is read again by a second consumer, once its
/// app has room.
final class WebhookRound {
    private static let batch = 200
    private static let commitMilliseconds: Int64 = 500

    private static let rereadMilliseconds = 20

    private let consumer: KafkaConsumer
    /// Reads again; a member of no group.
    private let second: KafkaConsumer
    private let hooks: [AppID: AppHooks]
    private let log: Log
    private let metrics: WebhookMetrics
    /// Sends a request for the event at a place; the time when it began goes with it.
    private let send: (HTTPPost, DeliveryQueue.Place, Int64) -> Void
    private var queue: DeliveryQueue
    private var bodies: [DeliveryQueue.Place: (app: AppID, event: WebhookName, body: [UInt8])] = [:]
    private var committed: [Int32: ReadingProgress.Commitment] = [:]
    private var commitAt: Int64 = 0
    private var isMember = false
    /// What is read again just now, and where that stands.
    private var rereading: DeliveryQueue.Rereading?
    private var rereadTo: Int64 = 0
    private var lastReread: Int32 = -1
    /// Why partitions that came could not be taken on.
    private var fault: KafkaError?

    init(
        consumer: KafkaConsumer, second: KafkaConsumer, hooks: [AppID: AppHooks], limits: DeliveryQueue.Limits,
        log: Log, metrics: WebhookMetrics,
        send: @escaping (HTTPPost, DeliveryQueue.Place, Int64) -> Void
    ) {
        self.consumer = consumer
        self.second = second
        self.hooks = hooks
        self.queue = DeliveryQueue(limits, apps: hooks.count)
        self.log = log
        self.metrics = metrics
        self.send = send
    }

    /// The group's decision; what was done with is committed before it is another's.
    func rebalanced(_ event: RebalanceEvent) {
        self.isMember = true
        switch event {
        case .assigned(let places): self.takeOn(places)
        case .revoked(let places, let isLost):
            if !isLost { self.commit() }
            for place in places {
                self.queue.revoke(place.partition)
                self.committed[place.partition] = nil
            }
            self.bodies = self.bodies.filter { entry in !places.contains { $0.partition == entry.key.partition } }
            if places.contains(where: { $0.partition == self.rereading?.partition }) { self.endRereading() }
        }
    }

    /// Goes on where the owner before stopped, each app from its own place.
    private func takeOn(_ places: [TopicPartition]) {
        do throws(KafkaError) {
            var offsets: [TopicPartition: Int64] = [:]
            for (place, entry) in try self.consumer.committed(places, timeoutMilliseconds: 5000) {
                offsets[place] = LogicalOffset.beginning
                guard let entry else { continue }
                offsets[place] = entry.offset
                guard
                    var commitment = ReadingProgress.Commitment(offset: entry.offset, metadata: entry.metadata)
                else {
                    self.log.warning("what is committed beside an offset cannot be read", [.topic: .string("\(place)")])
                    continue
                }
                commitment.marks = commitment.marks.filter { self.hooks[$0.key] != nil }
                self.queue.assign(place.partition, commitment)
            }
            try self.consumer.assign(offsets)
        } catch {
            self.fault = error
        }
    }

    /// One turn: results, new events, what is due, and a commit now and then.
    ///
    /// - Returns: whether the sender is a member of its group.
    func turn(_ results: [WebhookTry]) throws(KafkaError) -> Bool {
        for result in results { self.ended(result) }
        try self.beginRereading()
        self.sendDue()
        var wait: Int64 = self.rereading == nil ? 500 : 0
        let now = MonotonicClock.milliseconds
        if let due = self.queue.nextDue(after: Timestamp(milliseconds: now)) {
            wait = min(wait, max(1, due.milliseconds - now))
        }
        var records: [IncomingRecord] = []
        let outcome = try self.consumer.poll(
            max: Self.batch, timeoutMilliseconds: Int(results.isEmpty ? wait : 0), into: &records)
        if outcome.rebalanced { self.isMember = true }
        if let fault = self.fault { throw fault }
        for record in records { self.take(record) }
        try self.reread()
        self.sendDue()
        self.metrics.pending.set(self.queue.count)
        self.metrics.behind.set(self.queue.behindCount)
        if MonotonicClock.milliseconds >= self.commitAt { self.commit() }
        return self.isMember
    }

    /// Commits what of each partition is done with.
    func commit() {
        self.commitAt = MonotonicClock.milliseconds + Self.commitMilliseconds
        var offsets: [TopicPartition: OffsetAndMetadata] = [:]
        var commitments: [Int32: ReadingProgress.Commitment] = [:]
        for partition in self.queue.partitions {
            guard let commitment = self.queue.commitment(partition), self.committed[partition] != commitment else {
                continue
            }
            commitments[partition] = commitment
            offsets[TopicPartition(PlazaTopic.webhooks.rawValue, partition)] = OffsetAndMetadata(
                offset: commitment.offset, metadata: commitment.metadata)
        }
        guard !offsets.isEmpty else { return }
        do {
            try self.consumer.commit(offsets)
            self.committed.merge(commitments) { _, new in new }
        } catch {
            // They are told again after a takeover; the next turn tries anew.
            self.log.info("webhook offsets were not committed", [.detail: .string(error.description)])
        }
    }

    /// Begins to read again what had no room, if nothing is read again and an app has room now.
    private func beginRereading() throws(KafkaError) {
        guard self.rereading == nil, let rereading = self.queue.rereading(after: self.lastReread) else { return }
        try self.second.assign([TopicPartition(PlazaTopic.webhooks.rawValue, rereading.partition): rereading.offset])
        self.rereading = rereading
        self.rereadTo = rereading.offset
        self.lastReread = rereading.partition
    }

    /// Reads again, until all was, or nobody has room.
    private func reread() throws(KafkaError) {
        guard let partition = self.rereading?.partition else { return }
        var records: [IncomingRecord] = []
        let outcome = try self.second.poll(
            max: Self.batch, timeoutMilliseconds: Self.rereadMilliseconds, into: &records)
        for record in records where record.partition == partition {
            self.rereadTo = max(self.rereadTo, record.offset + 1)
            self.takeAgain(record)
        }
        let place = TopicPartition(PlazaTopic.webhooks.rawValue, partition)
        if let end = outcome.ends[place] { self.rereadTo = max(self.rereadTo, end) }
        guard let rereading = self.rereading, self.queue.readAgain(rereading, upTo: self.rereadTo) else { return }
        self.endRereading()
    }

    private func endRereading() {
        self.rereading = nil
        // A failure here is the client's end, and its next use tells of it.
        try? self.second.unassign()
    }

    private func take(_ record: IncomingRecord) {
        let place = DeliveryQueue.Place(partition: record.partition, offset: record.offset)
        guard let (event, value) = self.event(of: record) else { return self.queue.skip(place) }
        if self.queue.add(place, of: event.key) { self.keep(event, value, at: place) }
    }

    private func takeAgain(_ record: IncomingRecord) {
        guard var rereading = self.rereading, let (event, value) = self.event(of: record) else { return }
        let place = DeliveryQueue.Place(partition: record.partition, offset: record.offset)
        let isHeld = self.queue.addAgain(place, of: event.key, in: &rereading)
        self.rereading = rereading
        if isHeld { self.keep(event, value, at: place) }
    }

    /// The event of a record, if its app wants it.
    private func event(of record: IncomingRecord) -> (WebhookEvent, [UInt8])? {
        guard let value = record.value else { return nil }
        do throws(WireError) {
            let event = try Wire.decode(WebhookEvent.self, from: value)
            guard let hooks = self.hooks[event.app], hooks.wants(event.content.name) else { return nil }
            return (event, value)
        } catch {
            self.log.warning(
                "a record cannot be read", [.offset: .int(Int(record.offset)), .detail: .string("\(error)")])
            return nil
        }
    }

    /// Keeps the record, with the id by which a backend knows an event that comes again.
    private func keep(_ event: WebhookEvent, _ value: [UInt8], at place: DeliveryQueue.Place) {
        let id = Array("{\"id\":\"\(place.partition)-\(place.offset)\",".utf8)
        self.bodies[place] = (event.app, event.content.name, id + value.dropFirst())
    }

    private func sendDue() {
        for place in self.queue.due(at: Timestamp(milliseconds: MonotonicClock.milliseconds)) {
            guard let (app, event, body) = self.bodies[place], let hooks = self.hooks[app] else { continue }
            let post = HookPost.make(
                body, event: event.rawValue, hooks: hooks, at: WallClock.milliseconds() / 1000,
                timeoutMilliseconds: WebhookSender.timeoutMilliseconds)
            self.send(post, place, MonotonicClock.milliseconds)
        }
    }

    private func ended(_ entry: WebhookTry) {
        let now = MonotonicClock.milliseconds
        self.metrics.tries.record(milliseconds: Int(now - entry.began))
        var isDelivered = false
        if case .answered(200..<300, _) = entry.result { isDelivered = true }
        let ending = self.queue.ended(
            entry.place, isDelivered: isDelivered, chance: Double.random(in: 0...1),
            at: Timestamp(milliseconds: now))
        switch ending {
        case .delivered:
            self.metrics.delivered.add()
            self.bodies[entry.place] = nil
        case .again, .unknown:
            if !isDelivered { self.metrics.failed.add() }
        case .givenUp:
            self.metrics.failed.add()
            self.metrics.exhausted.add()
            self.log.warning(
                "a webhook event is given up: no try succeeded",
                [
                    .app: .string(self.bodies[entry.place]?.app.text ?? ""),
                    .offset: .int(Int(entry.place.offset)), .detail: .string("\(entry.result)".prefix(200).description),
                ])
            self.bodies[entry.place] = nil
        }
    }
}
