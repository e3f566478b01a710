// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// One event loop of a gateway with its connections.
///
/// The shard owns the components that handle logins, calls, delivery and so on, and routes events to them. It is
/// created on the loop's thread, and only that thread accesses the shard and its components. Other threads post
/// messages to the shard's mailbox. No code of a shard may block.
final class Shard {
    let gateway: Gateway
    /// The shard's number in its gateway, from 0.
    let number: Int
    let loop: EventLoop
    /// The shard's connections.
    let group: WebSocketGroup
    private(set) lazy var sessions = ShardSessions(self)
    private(set) lazy var login = ShardLogin(self)
    private(set) lazy var calls = ShardCalls(self)
    private(set) lazy var webhooks = ShardWebhooks(self)
    private(set) lazy var sharedReads = ShardSharedReads(self)
    private(set) lazy var httpCalls = ShardHTTPCalls(self)
    private(set) lazy var lives = ShardLives(self)
    private(set) lazy var joins = ShardJoins(self)
    private(set) lazy var missedEnds = ShardMissedEnds(self)
    private(set) lazy var delivery = ShardDelivery(self)
    private(set) lazy var replay = ShardReplay(self)
    private(set) lazy var heartbeats = ShardHeartbeats(self)
    private(set) lazy var drain = ShardDrain(self)
    /// The listener; nil only until `init` has created it.
    private var server: WebSocketServer?
    private var timers: [LoopTimer] = []
    /// The index of the first connection that the next call of `sweepConnections` will check.
    private var sweepIndex = 0

    /// The interval of `sweep`.
    static let sweepInterval = Milliseconds(100)

    init(_ gateway: Gateway, number: Int, loop: EventLoop, port: UInt16) throws(LoopError) {
        self.gateway = gateway
        self.number = number
        self.loop = loop
        let settings = gateway.settings
        self.group = WebSocketGroup(loop: loop, configuration: Self.configuration(settings))
        self.server = try WebSocketServer(
            group: self.group, host: settings.host, port: port, sharesPort: settings.shards > 1, delegate: self)
        self.server?.admission = gateway.admission
        // The filter returns nil to accept a request.
        self.server?.requestFilter = { request in
            if !settings.origins.allows(request.header("origin"), host: request.header("host")) { return .forbidden }
            // A client may offer no subprotocol. If it offers some, the gateway's must be among them; only then is
            // `request.subprotocol` set.
            let offersSubprotocols = request.header("sec-websocket-protocol") != nil
            return offersSubprotocols && request.subprotocol == nil ? .malformed(.subprotocol) : nil
        }
        try self.group.startSweeping()
        try self.delivery.start()
        try self.sharedReads.start()
        try self.repeatAction(every: Self.sweepInterval) { [unowned self] in self.sweep() }
        // One round of heartbeats, which reports all members, is divided into steps of equal size.
        let heartbeatInterval = HeartbeatPlan(lease: settings.lease).stepInterval
        try self.repeatAction(every: heartbeatInterval) { [unowned self] in self.heartbeats.sendNextStep() }
    }

    /// Returns the configuration of the shard's WebSockets; the gateway's limits are divided equally among its shards.
    private static func configuration(_ settings: GatewaySettings) -> WebSocketConfiguration {
        var configuration = WebSocketConfiguration()
        configuration.maxMessageBytes = Limits.clientFrameBytes
        // Feed items may use `budget.bytes`, the delivery budget of a connection. As many bytes again, and 512 KiB, are
        // for replies and notices.
        configuration.maxPendingBytes = settings.budget.bytes * 2 + (512 << 10)
        configuration.maxQueuedBytes = settings.maxQueuedBytes / settings.shards
        configuration.outputTimeout = Duration(settings.slowReaderTimeout)
        configuration.overflowCode = CloseCode(rawValue: DisconnectCode.slowReader.code)
        configuration.maxConnections = max(1, settings.maxConnections / settings.shards)
        var inbound = InboundLimits(frames: settings.admission.frames, bytes: settings.admission.bytes)
        inbound.framesBeforeAccepted = settings.admission.framesBeforeLogin
        inbound.bytesBeforeAccepted = settings.admission.bytesBeforeLogin
        configuration.inbound = inbound
        configuration.maxUnfinishedBytes = settings.maxUnfinishedBytes / settings.shards
        configuration.trustedProxies = settings.trustedProxies
        configuration.speaksProxyProtocol = settings.speaksProxyProtocol
        configuration.sendBufferBytes = settings.sendBufferBytes
        configuration.policy = HandshakePolicy(paths: ["/", "/v1"], subprotocols: ["liveplaza.v1"])
        return configuration
    }

    /// The port that the shard listens on.
    var port: UInt16 { self.server?.port ?? 0 }

    /// The loop's current monotonic time.
    var now: MonotonicTime { self.loop.now }

    /// Repeats `action` on the loop, until the loop ends.
    ///
    /// - Throws: `LoopError` when the timer cannot be created.
    private func repeatAction(every interval: Milliseconds, _ action: @escaping () -> Void) throws(LoopError) {
        let timer = try LoopTimer(loop: self.loop) { _ in action() }
        timer.start(after: .milliseconds(interval.count), repeating: .milliseconds(interval.count))
        self.timers.append(timer)
    }

    /// Handles a batch of messages from the mailbox.
    func received(_ messages: [MailboxMessage]) {
        var lostTokens: Set<UInt64> = []
        for message in messages {
            switch message {
            case .feed(let key, let epoch, let items): self.delivery.feedItemsReceived(key, epoch: epoch, items)
            case .partitionLoaded(let partition): self.joins.partitionLoaded(partition)
            case .replay(let outcome, let reservation): self.replay.replayReceived(outcome, reservation: reservation)
            case .reply(let reply): self.replyReceived(reply)
            case .notice(let entry, let frame): self.sessions.noticeReceived(entry, frame)
            case .count(let key, let count): self.delivery.countReceived(key, count)
            case .liveRemoved(let key): self.lives.removeViewers(ofRemoved: key)
            case .assertMembers(let partition): self.heartbeats.beginAsserting(partition)
            // A session's generation distinguishes its connections: a new login of the session gets a higher one.
            case .sessionReplaced(let session, let generation):
                self.sessions.sessionReplaced(session, generation: generation)
            case .recordLost(let token): lostTokens.insert(token)
            case .request(let call): self.httpCalls.begin(call)
            case .sharedAnswer(let answer, let calls): self.sharedReads.answerReceived(answer, calls)
            case .webhookDecided(let session, let generation, let call, let decision):
                self.webhooks.webhookDecided(session, generation: generation, call: call, decision)
            case .drain: self.drain.begin()
            }
        }
        if !lostTokens.isEmpty { self.recordsLost(lostTokens) }
    }

    private func replyReceived(_ reply: Reply) {
        if SessionName.isHTTPRequest(reply.request.session) {
            self.httpCalls.replyReceived(reply)
        } else {
            self.calls.replyReceived(reply)
        }
    }

    /// Fails the calls whose records were lost.
    ///
    /// When the broker becomes unavailable, the producer reports all records of its queue at once. A separate pass over
    /// the open calls for each record would block the loop for seconds. So one pass looks up all records.
    private func recordsLost(_ tokens: Set<UInt64>) {
        self.gateway.metrics.lostRecords.add(tokens.count)
        // The tokens that belong to no connected client may belong to HTTP calls.
        let otherTokens = self.calls.recordsLost(tokens)
        if !otherTokens.isEmpty { self.httpCalls.recordsLost(otherTokens) }
    }

    /// Sends a frame to one client.
    func send(_ frame: ServerFrame, to client: Client) {
        client.socket.sendText(Wire.encode(frame).span)
    }

    /// Writes a record to the record sink, which queues records for the broker; if the record is lost later, the shard
    /// receives `recordLost` with `token`.
    ///
    /// - Throws: The reason why the sink rejected the record.
    func write(_ record: TopicRecord, token: UInt64) throws(SinkRejection) {
        try self.gateway.write(record, token: token)
    }

    /// Closes a connection with the given code, and detaches its client immediately.
    func disconnect(_ client: Client, _ code: DisconnectCode) {
        // If the connection has already ended because its client reads slowly, `webSocketClosed` counts the refusal.
        if code == .slowReader, client.socket.state == .open { self.gateway.metrics.refused(.outputOfConnection) }
        // `signOff` reports to presence that the client leaves its live. Afterwards no heartbeat may report the client.
        let isSignedOff = code.endsMembership && self.lives.signOff(client)
        self.detach(client, sendsLastHeartbeat: !isSignedOff && code != .replaced)
        client.socket.close(CloseCode(rawValue: code.code), reason: code.reason)
    }

    /// Detaches a client: removes it from its live and its session.
    ///
    /// - Parameters:
    ///   - client: The client.
    ///   - sendsLastHeartbeat: Whether the client is reported once more to presence, the machine that knows who is in a
    ///     live. False if presence was informed already, or if the session continues on another connection.
    func detach(_ client: Client, sendsLastHeartbeat: Bool) {
        if client.isDetached { return }
        client.isDetached = true
        // A client is not counted before its login, or if `AdmissionControl` has rejected the login.
        if client.isCounted { self.gateway.admission.removeLogin(client.userKey, role: client.role) }
        if let live = client.live {
            if sendsLastHeartbeat, let ticket = client.core.ticket { live.addDeparted(client, ticket) }
            self.lives.remove(client, from: live)
        }
        self.sessions.remove(client)
        self.joins.cancel(client)
    }

    /// Closes the listener, so that no new connection is accepted.
    func stopListening() { self.server?.stopListening() }

    /// Handles all timeouts and periodic work; called ten times a second.
    private func sweep() {
        let now = self.now
        self.gateway.shardTurns[self.number].recordTurn()
        self.calls.sweep(at: now)
        self.webhooks.sweep(at: now)
        self.httpCalls.sweep(at: now)
        // The shards share these reads, so only the first shard sweeps them.
        if self.number == 0 { self.gateway.sweepSharedReads(at: now) }
        self.delivery.sweepClientsCatchingUp(at: now)
        self.joins.sweep(at: now)
        self.missedEnds.sweep(at: now)
        self.replay.sweep(at: now)
        self.sweepConnections(at: now)
        self.delivery.sendDueCounts(at: now)
        self.heartbeats.continueAsserting()
        self.delivery.publishLedger()
        self.drain.continueIfDraining()
    }

    /// Checks a tenth of the connections for overdue logins, expired tokens, and sign-ins whose notice was lost.
    ///
    /// Sweeps happen ten times a second, so each connection is checked about once a second.
    private func sweepConnections(at now: MonotonicTime) {
        let connections = self.group.connections
        if self.sweepIndex >= connections.count { self.sweepIndex = 0 }
        let end = min(connections.count, self.sweepIndex + connections.count / 10 + 1)
        for connection in connections[self.sweepIndex..<end] {
            guard let client = connection.context as? Client, !client.isDetached else { continue }
            if let code = client.core.disconnectCode(at: now) {
                self.disconnect(client, code)
            } else if client.core.isLoggedIn, client.signIn.mustRepeatNotice(lastReceived: client.lastReceived) {
                self.sessions.repeatSignIn(client)
            }
        }
        self.sweepIndex = end
    }
}

extension Shard: WebSocketDelegate {
    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        if self.drain.isDraining {
            return connection.close(
                CloseCode(rawValue: DisconnectCode.draining.code), reason: DisconnectCode.draining.reason)
        }
        connection.context = Client(connection, at: self.now)
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        guard let client = connection.context as? Client, !client.isDetached else { return }
        self.calls.received(text, from: client)
    }

    func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>) {
        guard let client = connection.context as? Client, !client.isDetached else { return }
        self.disconnect(client, .protocolViolation)
    }

    func webSocket(_ connection: WebSocketConnection, exceeded limit: InboundExcess) {
        let (reason, code): (RefusalReason, DisconnectCode) =
            switch limit {
            case .frames: (.frames, .flooding)
            case .bytes: (.bytes, .flooding)
            case .beforeAccepted: (.beforeLogin, .flooding)
            case .unfinishedMessages: (.unfinishedMessages, .overloaded)
            }
        self.gateway.metrics.refused(reason)
        guard let client = connection.context as? Client, !client.isDetached else { return }
        self.disconnect(client, code)
    }

    func webSocketWritable(_ connection: WebSocketConnection) {
        guard let client = connection.context as? Client, !client.isDetached, client.backlog != nil else { return }
        // The client lacks items that were held back while its socket took no more bytes.
        self.delivery.catchUp(client)
    }

    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {
        self.gateway.metrics.connectionClosed(closure.code.rawValue, byPeer: closure.cause == .peer)
        switch closure.cause {
        case .slowReader: self.gateway.metrics.refused(.outputOfConnection)
        case .stalledReader: self.gateway.metrics.refused(.outputStalled)
        case .outputLimit: self.gateway.metrics.refused(.outputOfAll)
        // In all other cases, no limit has ended the connection, or another method has counted the refusal.
        default: break
        }
        guard let client = connection.context as? Client else { return }
        self.detach(client, sendsLastHeartbeat: true)
    }
}
