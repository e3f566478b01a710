// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import EventLoop
package import GatewayCore
package import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket
package import Webhooks

/// Why a gateway does not start.
package enum GatewayError: Error, Sendable {
    /// The loop or its listener could not be made.
    case listening(String)
    /// The HTTP server could not be made.
    case http(String)
}

/// A gateway without its Kafka side: shards, read models, calls.
///
/// Sendable: what comes from the topics comes in by `received…` on the threads that read them, and what is written
/// goes out by the sink. It authenticates, forwards, aggregates and delivers, and decides nothing about a room.
package final class Gateway: Sendable {
    /// What it was told.
    package let settings: GatewaySettings
    let gate: any TokenGate
    let asker: HookAsker?
    let log: Log
    let metrics: GatewayMetrics
    let tables: Tables
    let registry = SessionRegistry()
    /// The rings of feeds, and who wants which.
    package let feeds: FeedHub
    private let mailboxes: [Mailbox<ShardMessage>]
    private let sink = Locked<(any RecordSink)?>(nil)
    private let past = Locked<(any ReplaySource)?>(nil)
    let health = Locked(BrokerHealth())
    let probe = Locked<BrokerProbe?>(nil)
    private let state = Locked(State())

    private struct State: Sendable {
        var threads: [LoopThread] = []
        var port: UInt16 = 0
        var isFilled = false
        var isStopping = false
        var onFilled: (@Sendable () -> Void)?
        /// Presence's epoch of each partition, as far as it was told.
        var epochs: [Int: String] = [:]
    }

    /// Messages that wait for one shard at most; a shard that has so many does not move any more.
    private static let mailboxCapacity = 100_000

    /// A gateway that does not listen yet.
    ///
    /// - Parameters:
    ///   - settings: what it is told.
    ///   - gate: checks tokens.
    ///   - asker: asks apps' backends before messages and gifts; nil: none is asked.
    ///   - log: takes lines.
    ///   - registry: takes metrics.
    package init(
        _ settings: GatewaySettings, gate: any TokenGate, asker: HookAsker? = nil, log: Log = .none,
        registry: MetricsRegistry
    ) {
        self.settings = settings
        self.asker = asker
        self.gate = gate
        self.log = log
        let metrics = GatewayMetrics(registry)
        self.metrics = metrics
        self.tables = Tables(gateway: settings.id)
        let mailboxes = (0..<settings.shards).map { _ in Mailbox<ShardMessage>(capacity: Self.mailboxCapacity) }
        self.mailboxes = mailboxes
        self.feeds = FeedHub(
            partitions: settings.partitions, span: settings.ring, policies: settings.policies
        ) { shard, messages in Self.post(messages, to: shard, of: mailboxes, metrics) }
        self.observe(registry)
    }

    /// The port of WebSockets, once it listens.
    package var port: UInt16 { self.state.withLock { $0.port } }

    /// Whether the tables have been read up to their ends.
    var isFilled: Bool { self.state.withLock { $0.isFilled } }

    /// Whether it serves all that it should: the tables are filled, and it does not stop.
    package var isReady: Bool { self.state.withLock { $0.isFilled && !$0.isStopping } }

    /// Whether it is about to end.
    package var isStopping: Bool { self.state.withLock { $0.isStopping } }

    /// Begins to listen, one thread per shard.
    ///
    /// - Parameters:
    ///   - sink: takes the records that go into inboxes.
    ///   - source: reads feeds on demand.
    ///   - past: reads what was written before; without it nothing is replayed but what is in memory.
    /// - Throws: `listening` when the address cannot be had.
    package func start(sink: any RecordSink, source: any FeedSource, past: (any ReplaySource)? = nil)
        throws(GatewayError)
    {
        self.sink.withLock { $0 = sink }
        self.past.withLock { $0 = past }
        self.feeds.attach(source)
        for number in self.mailboxes.indices {
            let mailbox = self.mailboxes[number]
            let port = self.port == 0 ? self.settings.port : self.port
            do throws(LoopError) {
                let (thread, bound) = try EventLoop.start(name: "shard-\(number)") {
                    (loop) throws(LoopError) -> UInt16 in
                    let shard = try Shard(self, number: number, loop: loop, port: port)
                    try mailbox.attach(to: loop) { messages in shard.received(messages) }
                    return shard.port
                }
                self.state.withLock { state in
                    state.threads.append(thread)
                    state.port = bound
                }
            } catch {
                self.cut()
                throw .listening("\(error)")
            }
        }
    }

    /// Tells all clients to go, closes their connections one after the other, and ends the shards.
    ///
    /// Waits for that; at most about the drain's time.
    package func stop() {
        let threads = self.state.withLock { state in
            state.isStopping = true
            return state.threads
        }
        self.feeds.detach()
        self.past.withLock { $0 = nil }
        for shard in self.mailboxes.indices { self.post(shard, [.drain]) }
        for thread in threads { thread.join() }
        for mailbox in self.mailboxes { mailbox.close() }
    }

    /// Ends the shards at once, as a crash would.
    package func cut() {
        let threads = self.state.withLock { state in
            state.isStopping = true
            return state.threads
        }
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }

    /// Posts to a shard; what a full mailbox does not take is counted, and feeds are filled from the ring.
    func post(_ shard: Int, _ messages: [ShardMessage]) {
        Self.post(messages, to: shard, of: self.mailboxes, self.metrics)
    }

    func postToAll(_ message: ShardMessage) {
        for shard in self.mailboxes.indices { self.post(shard, [message]) }
    }

    private static func post(
        _ messages: [ShardMessage], to shard: Int, of mailboxes: [Mailbox<ShardMessage>], _ metrics: GatewayMetrics
    ) {
        guard shard < mailboxes.count else { return }
        do throws(MailboxError) {
            try mailboxes[shard].post(contentsOf: messages)
        } catch {
            metrics.mailboxDrops.add(messages.count)
        }
    }

    /// Hands a record to the broker's client.
    func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
        guard let sink = self.sink.withLock({ $0 }) else { throw .unavailable }
        try sink.write(record, token: token)
    }

    /// Asks the reader of the past.
    ///
    /// - Returns: false when too many ask already.
    func ask(_ id: ReplayID, _ request: ReplayRequest, until: Timestamp) -> Bool {
        guard let past = self.past.withLock({ $0 }) else { return false }
        return past.ask(id, request, partition: self.feeds.partition(of: request.key), until: until)
    }

    /// What the reader of the past found; any thread.
    ///
    /// - Parameters:
    ///   - outcomes: questions with their answers.
    ///   - stock: counts the bytes that they share, as long as somebody holds them.
    package func replayed(_ outcomes: [ReplayOutcome], stock: ReplayStock?) {
        self.feeds.learn(outcomes)
        for outcome in outcomes { self.post(outcome.id.shard, [.replayed(outcome, stock)]) }
    }

    /// Begins a call over HTTP, on the shard that its session belongs to.
    func begin(_ call: RequestCall) {
        let shard = PlazaTopic.partition(of: call.session.text, among: self.settings.shards)
        do throws(MailboxError) {
            try self.mailboxes[shard].post(.request(call))
        } catch {
            call.complete(.failure(error: ReplyError(.unavailable, "the gateway stops", retryAfter: 1000)))
        }
    }

    /// Passes an answer to the shard that waits for it.
    func route(_ reply: Reply) {
        let session = reply.request.session
        if SessionName.isOfRequest(session) {
            self.post(PlazaTopic.partition(of: session.text, among: self.settings.shards), [.reply(reply)])
        } else if let shard = self.registry.shard(of: session) {
            self.post(shard, [.reply(reply)])
        } else {
            self.metrics.lateReplies.add()
        }
    }
}

extension Gateway {
    /// The tables have been read up to their ends.
    package func tablesFilled() {
        self.tables.refreshRanking(at: Timestamp(milliseconds: WallClock.milliseconds()))
        let told = self.state.withLock { state in
            state.isFilled = true
            defer { state.onFilled = nil }
            return state.onFilled
        }
        told?()
    }

    /// Calls `action` once, when the tables have been read up to their ends.
    func onFilled(_ action: @escaping @Sendable () -> Void) {
        let isFilled = self.state.withLock { state in
            if !state.isFilled { state.onFilled = action }
            return state.isFilled
        }
        if isFilled { action() }
    }

    /// Whether presence began anew, as far as this gateway has members to tell of; a record that comes again says nothing.
    func isNewEpoch(_ record: PresenceEpochRecord) -> Bool {
        self.state.withLock { state in
            let known = state.epochs.updateValue(record.epoch, forKey: record.partition)
            return known != record.epoch && state.isFilled && !state.isStopping
        }
    }

    /// Is not ready any more.
    func beginStopping() { self.state.withLock { $0.isStopping = true } }

    private func observe(_ registry: MetricsRegistry) {
        registry.observe(MetricNames.Gateway.connections, help: "Connections that are logged in.") { [weak self] in
            Double(self?.registry.count ?? 0)
        }
        registry.observe("gateway_mailbox_messages", help: "Messages that wait for shards.") { [weak self] in
            Double(self?.mailboxes.reduce(0) { $0 + $1.count } ?? 0)
        }
        registry.observe("gateway_ring_items", help: "Feed items kept for resumes.") { [weak self] in
            Double(self?.feeds.sizes.items ?? 0)
        }
        registry.observe("gateway_ring_bytes", help: "Bytes of the feed items kept for resumes.") { [weak self] in
            Double(self?.feeds.sizes.bytes ?? 0)
        }
        registry.observe("gateway_history_bytes", help: "Bytes of the messages kept for newcomers.") { [weak self] in
            Double(self?.feeds.sizes.messageBytes ?? 0)
        }
        registry.observe("gateway_feed_partitions", help: "Feed partitions that are read.") { [weak self] in
            Double(self?.feeds.sizes.partitions ?? 0)
        }
        registry.observe("gateway_lives", help: "Lives known.") { [weak self] in
            Double(self?.tables.sizes.rooms ?? 0)
        }
        registry.observe("gateway_replies_waiting", help: "Replies that wait for a revision.") { [weak self] in
            Double(self?.tables.sizes.awaited ?? 0)
        }
    }
}
