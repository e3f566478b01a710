// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
package import GatewayCore
internal import MachineKit
package import Observability
internal import PlazaModel
internal import PlazaWire
package import Webhooks

/// The reason why a gateway could not be started.
package enum GatewayError: Error, Sendable {
    /// The event loop or its listener could not be created; the text is the loop's error.
    case startFailed(String)
}

/// A gateway without its Kafka clients: shards (event loops with their connections), tables (the read model in memory)
/// and calls.
///
/// The threads that read topics pass records to the `received` methods. Records that the gateway makes, such as those
/// of calls, are written to the sink. The gateway authenticates clients, forwards calls and delivers feeds; it makes no
/// decision about a live.
package final class Gateway: Sendable {
    /// The gateway's settings.
    package let settings: GatewaySettings
    let webhookClient: WebhookClient?
    let log: Log
    let metrics: GatewayMetrics
    let admission: AdmissionControl
    let tokens: VerifiedTokens
    let tables: Tables
    let sessionRegistry = SessionRegistry()
    /// The calls that wait for answers that several of them share; the gateway sends one request for each such answer.
    let sharedReads: Locked<SharedReads<WaitingRead>>
    /// The caches of the feeds that this gateway reads, and the shards that are subscribed to each live's feed.
    package let feeds: FeedHub
    /// The mailbox of each shard, by the shard's number.
    private let mailboxes: [Mailbox<MailboxMessage>]
    /// When each shard's loop last turned, by the shard's number.
    let shardTurns: [TurnClock]
    /// Where the gateway's records are written; nil before `start`.
    private let sink = Locked<(any RecordSink)?>(nil)
    /// Reads the items that are no longer cached; nil before `start`, after `stop`, or if there is no replay reader.
    private let replaySource = Locked<(any ReplaySource)?>(nil)
    /// The circuit breaker for calls to the broker.
    let brokerHealth = Locked(BrokerHealth())
    /// Sends requests to an unreachable broker until the broker answers; nil if no probe was attached.
    let brokerProbe = Locked<BrokerProbe?>(nil)
    private let state = Locked(State())

    /// What changes between the start and the stop.
    private struct State: Sendable {
        /// The threads of the shards that were started.
        var threads: [LoopThread] = []
        /// The port that the shards listen on; 0 before the first shard listens.
        var port: UInt16 = 0
        var areTablesFilled = false
        var isStopping = false
        /// The action that `tablesFilled` calls once; nil if no action was set, or if it was already called.
        var tablesFilledAction: (@Sendable () -> Void)?
        /// The last known presence epoch of each partition; a new epoch means that presence has lost its members.
        var presenceEpochs: [Int: String] = [:]
    }

    /// The largest number of messages in one shard's mailbox; only the mailbox of a shard whose loop hangs reaches it.
    private static let mailboxCapacity = 100_000

    /// Creates a gateway that does not listen yet.
    ///
    /// - Parameters:
    ///   - settings: The gateway's settings.
    ///   - authenticator: Checks tokens.
    ///   - webhookClient: Asks apps' backends before messages and gifts; nil if no app has a backend to ask.
    ///   - log: The log to write to.
    ///   - registry: The registry for metrics.
    package init(
        _ settings: GatewaySettings, authenticator: any TokenAuthenticator, webhookClient: WebhookClient? = nil,
        log: Log = .none,
        registry: MetricsRegistry
    ) {
        self.settings = settings
        self.webhookClient = webhookClient
        self.tokens = VerifiedTokens(authenticator)
        self.log = log
        let metrics = GatewayMetrics(registry)
        self.metrics = metrics
        self.admission = AdmissionControl(settings, metrics)
        self.sharedReads = Locked(SharedReads(hasSeveralApps: settings.hasSeveralApps))
        self.tables = Tables(gateway: settings.id)
        let mailboxes = (0..<settings.shards).map { _ in Mailbox<MailboxMessage>(capacity: Self.mailboxCapacity) }
        self.mailboxes = mailboxes
        self.shardTurns = mailboxes.map { _ in TurnClock() }
        self.feeds = FeedHub(
            partitions: settings.partitions, span: settings.feedCacheSpan, policies: settings.policies
        ) { shard, messages in Self.post(messages, to: shard, of: mailboxes, metrics) }
        self.observe(registry)
    }

    /// The port for WebSocket connections; 0 before the gateway listens.
    package var port: UInt16 { self.state.withLock { $0.port } }

    /// Whether the tables were read up to their ends.
    var areTablesFilled: Bool { self.state.withLock { $0.areTablesFilled } }

    /// Whether the gateway is ready: the tables are filled, and it is not stopping.
    package var isReady: Bool { self.state.withLock { $0.areTablesFilled && !$0.isStopping } }

    /// Returns the numbers of the shards whose loop has recorded no turn within the last 10 s; a healthy shard records
    /// ten turns a second (`Shard.sweep`).
    func hungShards(at now: MonotonicTime) -> [Int] {
        self.shardTurns.indices.filter { now - self.shardTurns[$0].lastTurnAt >= .seconds(10) }
    }

    /// Starts one thread per shard, and listens for connections.
    ///
    /// - Parameters:
    ///   - sink: Writes records to the inbox topics.
    ///   - source: Reads the feed partitions whose lives have viewers on this gateway.
    ///   - replaySource: Reads items that are no longer cached; without it, only cached items are replayed.
    /// - Throws: `startFailed` if a shard cannot be started, for example because the address is not available.
    package func start(sink: any RecordSink, source: any FeedSource, replaySource: (any ReplaySource)? = nil)
        throws(GatewayError)
    {
        self.sink.withLock { $0 = sink }
        self.replaySource.withLock { $0 = replaySource }
        self.feeds.attach(source)
        for number in self.mailboxes.indices {
            let mailbox = self.mailboxes[number]
            // If the port setting is 0, the first shard gets a free port, and the other shards share that port.
            let port = self.port == 0 ? self.settings.port : self.port
            do throws(LoopError) {
                let (thread, boundPort) = try EventLoop.start(name: "shard-\(number)") {
                    (loop) throws(LoopError) -> UInt16 in
                    let shard = try Shard(self, number: number, loop: loop, port: port)
                    try mailbox.attach(to: loop) { messages in shard.received(messages) }
                    return shard.port
                }
                self.state.withLock { state in
                    state.threads.append(thread)
                    state.port = boundPort
                }
            } catch {
                self.stopImmediately()
                throw .startFailed("\(error)")
            }
        }
    }

    /// Asks all clients to reconnect to another gateway, closes their connections gradually, and ends the shards.
    ///
    /// Blocks until the shards have ended, which takes at most about the drain time.
    package func stop() {
        let threads = self.state.withLock { state in
            state.isStopping = true
            return state.threads
        }
        self.feeds.detach()
        self.replaySource.withLock { $0 = nil }
        for shard in self.mailboxes.indices { self.post(shard, [.drain]) }
        for thread in threads { thread.join() }
        for mailbox in self.mailboxes { mailbox.close() }
    }

    /// Ends the shards immediately, as a crash would.
    package func stopImmediately() {
        let threads = self.state.withLock { state in
            state.isStopping = true
            return state.threads
        }
        for thread in threads { thread.stop() }
        for thread in threads { thread.join() }
    }

    /// Posts messages to a shard.
    ///
    /// If the mailbox is full or closed, the messages are dropped and counted; the shard reads dropped feed items from
    /// the feed cache.
    func post(_ shard: Int, _ messages: [MailboxMessage]) {
        Self.post(messages, to: shard, of: self.mailboxes, self.metrics)
    }

    /// Posts a message to all shards.
    func postToAll(_ message: MailboxMessage) {
        for shard in self.mailboxes.indices { self.post(shard, [message]) }
    }

    /// Posts messages to a mailbox; if it is full or closed, drops and counts them.
    ///
    /// Messages to a shard that does not exist are ignored, because `FeedHub` does not know how many shards there are:
    /// it posts `partitionLoaded` to each number that a shard can have, 0 to 63. The method is static, because `init`
    /// passes it to `FeedHub`.
    private static func post(
        _ messages: [MailboxMessage], to shard: Int, of mailboxes: [Mailbox<MailboxMessage>], _ metrics: GatewayMetrics
    ) {
        guard shard < mailboxes.count else { return }
        do throws(MailboxError) {
            try mailboxes[shard].post(contentsOf: messages)
        } catch {
            metrics.mailboxDrops.add(messages.count)
        }
    }

    /// Writes a record to the sink.
    ///
    /// `token` identifies the record when its loss is reported (`RecordToken`).
    ///
    /// - Throws: The reason why the sink rejected the record; `unavailable` before `start`.
    func write(_ record: TopicRecord, token: UInt64) throws(SinkRejection) {
        guard let sink = self.sink.withLock({ $0 }) else { throw .unavailable }
        try sink.write(record, token: token)
    }

    /// Sends a request to the replay reader; its outcome is useless after `deadline`.
    ///
    /// - Returns: False if the reader's queue is full, or if there is no reader.
    func requestReplay(_ id: ReplayID, _ request: ReplayRequest, deadline: MonotonicTime) -> Bool {
        guard let source = self.replaySource.withLock({ $0 }) else { return false }
        return source.request(id, request, partition: self.feeds.partition(of: request.key), deadline: deadline)
    }

    /// Caches the outcomes of the replay reader, and posts them to the requesting shards.
    ///
    /// May be called from any thread.
    ///
    /// - Parameters:
    ///   - outcomes: The requests with their answers.
    ///   - reservation: The memory that the items of all these outcomes occupy; it counts towards
    ///     `ReplayLimits.maxUnsentBytes` until the last reference to the reservation is gone.
    package func replayReceived(_ outcomes: [ReplayOutcome], reservation: ReplayReservation?) {
        self.feeds.addReplayed(outcomes)
        for outcome in outcomes { self.post(outcome.id.shard, [.replay(outcome, reservation)]) }
    }

    /// Posts an HTTP call to the shard that the hash of its session selects.
    func begin(_ call: HTTPCall) {
        let shard = PlazaTopic.partition(of: call.session.text, among: self.settings.shards)
        do throws(MailboxError) {
            try self.mailboxes[shard].post(.request(call))
        } catch {
            // The caller may try again after 1000 ms.
            let rejection =
                switch error {
                case .overflow: ReplyError(.overloaded, "too many messages wait for this gateway", retryAfter: 1000)
                case .closed: ReplyError(.unavailable, "the gateway stops", retryAfter: 1000)
                }
            call.complete(.failure(error: rejection))
        }
    }

    /// Posts a reply to the shard whose call it answers.
    func route(_ reply: Reply) {
        let session = reply.request.session
        if SessionName.isHTTPRequest(session) {
            // An HTTP request has no entry in the registry. Its shard follows from the session's name, as in `begin`.
            self.post(PlazaTopic.partition(of: session.text, among: self.settings.shards), [.reply(reply)])
        } else if let shard = self.sessionRegistry.shard(of: session) {
            self.post(shard, [.reply(reply)])
        } else {
            // The session has ended, or is connected to another gateway.
            self.metrics.lateReplies.add()
        }
    }
}

extension Gateway {
    /// Marks the tables as read up to their ends, and calls the action of `onTablesFilled`.
    package func tablesFilled() {
        self.tables.refreshRanking(at: MonotonicClock.now)
        let action = self.state.withLock { state in
            state.areTablesFilled = true
            defer { state.tablesFilledAction = nil }
            return state.tablesFilledAction
        }
        action?()
    }

    /// Calls `action` once: when the tables have been read up to their ends, or now if that has already happened.
    func onTablesFilled(_ action: @escaping @Sendable () -> Void) {
        let areTablesFilled = self.state.withLock { state in
            if !state.areTablesFilled { state.tablesFilledAction = action }
            return state.areTablesFilled
        }
        if areTablesFilled { action() }
    }

    /// Stores a presence epoch, and returns whether the partition's members must be asserted, that is, reported again.
    ///
    /// A new epoch means that presence, the machine that knows who is in a live, has lost this knowledge for the
    /// partition. The result is false while the tables are being filled, because the gateway has no clients yet, and
    /// while the gateway stops.
    func storePresenceEpoch(_ record: PresenceEpochRecord) -> Bool {
        self.state.withLock { state in
            let previousEpoch = state.presenceEpochs.updateValue(record.epoch, forKey: record.partition)
            return previousEpoch != record.epoch && state.areTablesFilled && !state.isStopping
        }
    }

    /// Makes the gateway report that it is not ready, before it stops.
    func beginStopping() { self.state.withLock { $0.isStopping = true } }

    /// Registers the metrics whose values are read when the metrics are exported.
    private func observe(_ registry: MetricsRegistry) {
        registry.observe(MetricNames.Gateway.connections, help: "Connections that are logged in.") { [weak self] in
            Double(self?.sessionRegistry.count ?? 0)
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
        registry.observe("gateway_history_bytes", help: "Bytes of the messages kept for new viewers.") { [weak self] in
            Double(self?.feeds.sizes.messageBytes ?? 0)
        }
        registry.observe("gateway_feed_partitions", help: "Feed partitions that are read.") { [weak self] in
            Double(self?.feeds.sizes.partitions ?? 0)
        }
        registry.observe("gateway_lives", help: "Lives known.") { [weak self] in
            Double(self?.tables.sizes.liveRecords ?? 0)
        }
        registry.observe("gateway_replies_waiting", help: "Replies that wait for a revision.") { [weak self] in
            Double(self?.tables.sizes.prematureReplies ?? 0)
        }
        for (index, clock) in self.shardTurns.enumerated() {
            registry.observe(
                MetricNames.Gateway.shardTurnAge, help: "How long ago the loop of a shard turned; 0 before it runs.",
                labels: ["shard": "\(index)"]
            ) { [weak self] in
                // The age is 0 before the gateway listens, because shards may not have started, and after it has begun
                // to stop, because the shards' loops end one after another.
                guard let self, self.port != 0, self.isReady else { return 0 }
                let milliseconds = max(0, (MonotonicClock.now - clock.lastTurnAt).count)
                // The metric is in seconds.
                return Double(milliseconds) / 1000
            }
        }
    }
}
