// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import HTTPClient
internal import KafkaClient
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// The sender's loop: reads events, sends those that are due, and commits what is done with. On one thread.
final class WebhookRound {
    private static let batch = 200
    private static let commitMilliseconds: Int64 = 500

    private let consumer: KafkaConsumer
    private let hooks: [AppID: AppHooks]
    private let log: Log
    private let metrics: WebhookMetrics
    /// Sends a request for the event at a place; the time when it began goes with it.
    private let send: (HTTPPost, DeliveryQueue.Place, Int64) -> Void
    private var queue: DeliveryQueue
    private var bodies: [DeliveryQueue.Place: (app: AppID, event: WebhookName, body: [UInt8])] = [:]
    private var assigned: [TopicPartition] = []
    private var committed: [Int32: Int64] = [:]
    private var commitAt: Int64 = 0
    private var isPaused = false
    private var isMember = false

    init(
        consumer: KafkaConsumer, hooks: [AppID: AppHooks], limits: DeliveryQueue.Limits, log: Log,
        metrics: WebhookMetrics, send: @escaping (HTTPPost, DeliveryQueue.Place, Int64) -> Void
    ) {
        self.consumer = consumer
        self.hooks = hooks
        self.queue = DeliveryQueue(limits)
        self.log = log
        self.metrics = metrics
        self.send = send
    }

    /// The group's decision; what was done with is committed before it is another's.
    func rebalanced(_ event: RebalanceEvent) {
        self.isMember = true
        switch event {
        case .assigned(let places): self.assigned = places
        case .revoked(let places, let isLost):
            if !isLost { self.commit() }
            for place in places { self.queue.revoke(place.partition) }
            self.bodies = self.bodies.filter { entry in !places.contains { $0.partition == entry.key.partition } }
            self.assigned.removeAll { places.contains($0) }
            self.committed = [:]
        }
        self.isPaused = false
    }

    /// One turn: results, new events, what is due, and a commit now and then.
    ///
    /// - Returns: whether the sender is a member of its group.
    func turn(_ results: [WebhookTry]) throws(KafkaError) -> Bool {
        for result in results { self.ended(result) }
        self.sendDue()
        var wait: Int64 = 500
        let now = MonotonicClock.milliseconds
        if let due = self.queue.nextDue(after: Timestamp(milliseconds: now)) {
            wait = max(1, min(wait, due.milliseconds - now))
        }
        var records: [IncomingRecord] = []
        let outcome = try self.consumer.poll(
            max: Self.batch, timeoutMilliseconds: Int(results.isEmpty ? wait : 0), into: &records)
        if outcome.rebalanced { self.isMember = true }
        for record in records { self.take(record) }
        self.sendDue()
        self.metrics.pending.set(self.queue.count)
        try self.balance()
        if MonotonicClock.milliseconds >= self.commitAt { self.commit() }
        return self.isMember
    }

    /// Commits up to the first event of each partition that is not done with.
    func commit() {
        self.commitAt = MonotonicClock.milliseconds + Self.commitMilliseconds
        var offsets: [TopicPartition: OffsetAndMetadata] = [:]
        for partition in self.queue.partitions {
            guard let offset = self.queue.committable(partition), self.committed[partition] != offset else { continue }
            offsets[TopicPartition(PlazaTopic.webhooks.rawValue, partition)] = OffsetAndMetadata(offset: offset)
        }
        guard !offsets.isEmpty else { return }
        do {
            try self.consumer.commit(offsets)
            for (place, offset) in offsets { self.committed[place.partition] = offset.offset }
        } catch {
            // They are told again after a takeover; the next turn tries anew.
            self.log.info("webhook offsets were not committed", [.detail: .string(error.description)])
        }
    }

    /// Reads no more while too much waits.
    private func balance() throws(KafkaError) {
        if self.queue.isFull, !self.isPaused, !self.assigned.isEmpty {
            try self.consumer.pause(self.assigned)
            self.isPaused = true
        } else if self.isPaused, !self.queue.isFull {
            try self.consumer.resume(self.assigned)
            self.isPaused = false
        }
    }

    private func take(_ record: IncomingRecord) {
        let place = DeliveryQueue.Place(partition: record.partition, offset: record.offset)
        guard let value = record.value else { return self.queue.skip(place) }
        let event: WebhookEvent
        do throws(WireError) {
            event = try Wire.decode(WebhookEvent.self, from: value)
        } catch {
            self.log.warning(
                "a record cannot be read", [.offset: .int(Int(record.offset)), .detail: .string("\(error)")])
            return self.queue.skip(place)
        }
        guard let hooks = self.hooks[event.app], hooks.wants(event.content.name) else {
            return self.queue.skip(place)
        }
        guard self.queue.add(place, of: event.key) else {
            self.metrics.backlog.add()
            self.log.warning(
                "a webhook event is given up: its app is too far behind",
                [.app: .string(event.app.text), .live: .string(event.live.text)])
            return
        }
        // The record, with the id by which a backend knows an event that comes again.
        let id = Array("{\"id\":\"\(record.partition)-\(record.offset)\",".utf8)
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
