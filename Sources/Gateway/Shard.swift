// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// One event loop of a gateway with its connections and rooms: made on the loop's thread, and touched there only.
///
/// What comes from other threads comes by the mailbox, in batches. Nothing here waits.
final class Shard {
    let gateway: Gateway
    let number: Int
    let loop: EventLoop
    let group: WebSocketGroup
    var server: WebSocketServer?
    /// Logged-in clients by session.
    var sessions: [SessionID: Client] = [:]
    /// The first of each user's clients; the others are linked.
    var users: [UserKey: Client] = [:]
    var rooms: [LiveKey: Room] = [:]
    var roomList: [Room] = []
    /// Clients with open calls, and those that had some until lately.
    var calling: [Client] = []
    /// Clients that get nothing of their feed until they have caught up.
    var behind: [Client] = []
    /// Clients that are to enter a live whose partition is not read up to its end yet.
    var entering: [Entering] = []
    /// Clients that wait for the reader of the past, by the number of their question.
    var asking: [UInt64: Asking] = [:]
    /// Clients that come back to a place of their feed that has not come by here yet, by a number of the same row.
    var ahead: [UInt64: Asking] = [:]
    var lastQuestion: UInt64 = 0
    /// Open calls over HTTP.
    var requests: [SessionID: OpenRequest] = [:]
    /// Rooms to flush at the end of this turn, and rooms that wait for their time.
    var dueRooms: [Room] = []
    var waitingRooms: [Room] = []
    /// Rooms whose members are to be asserted to presence, and how far each has come.
    var asserting: [(room: Room, from: Int)] = []
    var ledger = DeliveryLedger()
    var publishedLedger = DeliveryLedger()
    var flushHook: TurnEndHook?
    var flushTimer: LoopTimer?
    var timers: [LoopTimer] = []
    var heartbeatStep = 0
    var sweepPosition = 0
    var drainTicks = 0
    var isDraining = false
    private var nextToken: UInt64 = 1
    private var random = SystemRandomNumberGenerator()

    /// Calls over HTTP that wait at once, at most.
    static let requestLimit = 10_000
    /// How long entering a live may wait for its partition.
    static let loadPatience = Milliseconds.seconds(2)
    static let sweepMilliseconds: UInt64 = 100

    /// A join or resume that is answered, and waits for the feed.
    struct Entering {
        var client: Client
        var call: Int64
        var key: LiveKey
        var epoch: Int64
        var until: Timestamp
        /// The reply of a join; a resume makes its own.
        var outcome: Outcome
        var resume: ResumePoint?
    }

    /// A call over HTTP that waits for its answer.
    struct OpenRequest {
        var calls: OpenCalls<SentRecord>
        var completes: [@Sendable (Outcome) -> Void]
    }

    init(_ gateway: Gateway, number: Int, loop: EventLoop, port: UInt16) throws(LoopError) {
        self.gateway = gateway
        self.number = number
        self.loop = loop
        let settings = gateway.settings
        var configuration = WebSocketConfiguration()
        configuration.maxMessageBytes = Limits.clientFrameBytes
        // What is beyond the budget for feeds is left for replies and notices.
        configuration.maxPendingBytes = settings.budget.bytes * 2 + (512 << 10)
        configuration.overflowCode = CloseCode(rawValue: DisconnectCode.slowReader.code)
        configuration.maxConnections = max(1, settings.maxConnections / settings.shards)
        configuration.sendBufferBytes = settings.sendBufferBytes
        configuration.policy = HandshakePolicy(paths: ["/", "/v1"], subprotocols: ["liveplaza.v1"])
        self.group = WebSocketGroup(loop: loop, configuration: configuration)
        self.server = try WebSocketServer(
            group: self.group, host: settings.host, port: port, sharesPort: settings.shards > 1, delegate: self)
        self.server?.screen = { request in
            // A client may offer no subprotocol at all, but not others alone.
            let offer = request.header("sec-websocket-protocol")
            return offer == nil || request.subprotocol != nil ? nil : .malformed(.subprotocol)
        }
        try self.group.startSweeping()
        self.flushHook = TurnEndHook(loop: loop) { [unowned self] in self.flushDueRooms() }
        self.flushTimer = try LoopTimer(loop: loop) { [unowned self] _ in self.flushWaitingRooms() }
        try self.every(Self.sweepMilliseconds) { [unowned self] in self.sweep() }
        let step = UInt64(HeartbeatPlan(lease: settings.lease).step.count)
        try self.every(step) { [unowned self] in self.beat() }
    }

    /// The port that the shard listens on.
    var port: UInt16 { self.server?.port ?? 0 }

    /// The loop's time.
    var now: Timestamp { Timestamp(milliseconds: Int64(self.loop.nowMilliseconds)) }

    /// Repeats `action` on the loop until it ends.
    func every(_ milliseconds: UInt64, _ action: @escaping () -> Void) throws(LoopError) {
        let timer = try LoopTimer(loop: self.loop) { _ in action() }
        timer.start(afterMilliseconds: milliseconds, repeatingMilliseconds: milliseconds)
        self.timers.append(timer)
    }

    /// A batch of the mailbox.
    func received(_ messages: [ShardMessage]) {
        for message in messages {
            switch message {
            case .feed(let key, let epoch, let pieces): self.feedCame(key, epoch: epoch, pieces)
            case .loaded(let partition): self.partitionLoaded(partition)
            case .replayed(let outcome, let stock): self.pastCame(outcome, stock)
            case .reply(let reply): self.answered(reply)
            case .notice(let entry, let frame): self.noticeCame(entry, frame)
            case .count(let key, let count): self.countCame(key, count)
            case .gone(let key): self.liveGone(key)
            case .assert(let partition): self.beginAsserting(partition)
            case .replaced(let session, let generation): self.sessionReplaced(session, generation)
            case .notDelivered(let token): self.recordLost(token)
            case .request(let call): self.begin(call)
            case .asked(let session, let generation, let call, let verdict):
                self.verdictCame(session, generation: generation, call: call, verdict)
            case .drain: self.beginDraining()
            }
        }
    }

    /// A token by which the loss of a record of this shard is told.
    func takeToken() -> UInt64 {
        defer { self.nextToken = (self.nextToken &+ 1) & 0xFFFF_FFFF_FFFF }
        return UInt64(self.number) << 48 | max(1, self.nextToken)
    }

    /// Unforeseeable bits.
    func bits() -> UInt64 { self.random.next() }

    /// Hands a record over, with a trace of its own.
    func write(_ record: TopicRecord, token: UInt64) throws(SinkRefusal) {
        try self.gateway.write(record, token: token)
    }

    /// Sends a frame to one client.
    func send(_ frame: ServerFrame, to client: Client) {
        client.socket.sendText(Wire.encode(frame).span)
    }

    /// Ends a connection for a reason of ours, and lets go of it at once.
    func disconnect(_ client: Client, _ code: DisconnectCode) {
        let isTold = code.endsStay && self.signOff(client)
        self.detach(client, isSilent: isTold || code == .replaced)
        client.socket.close(CloseCode(rawValue: code.code), reason: code.reason)
    }

    /// Lets go of a client: it gets nothing more, and presence hears of it for the last time.
    ///
    /// - Parameters:
    ///   - client: who goes.
    ///   - isSilent: presence is told nothing, for the session goes on elsewhere.
    func detach(_ client: Client, isSilent: Bool) {
        if client.isDetached { return }
        client.isDetached = true
        if let room = client.room {
            if !isSilent, let ticket = client.core.ticket {
                self.departed(client, ticket, from: room)
            }
            self.remove(client, from: room)
        }
        if self.sessions[client.session] === client { self.sessions[client.session] = nil }
        self.unlink(client)
        if client.core.isLoggedIn { self.gateway.registry.release(client.session, generation: client.generation) }
        self.cancelEntering(client)
    }

    private func unlink(_ client: Client) {
        let key = client.userKey
        guard var current = self.users[key] else { return }
        if current === client {
            self.users[key] = client.nextOfUser
        } else {
            while let next = current.nextOfUser {
                if next === client {
                    current.nextOfUser = client.nextOfUser
                    break
                }
                current = next
            }
        }
        client.nextOfUser = nil
    }
}

extension Shard: WebSocketDelegate {
    func webSocketOpened(_ connection: WebSocketConnection, _ request: UpgradeRequest?) {
        if self.isDraining {
            return connection.close(
                CloseCode(rawValue: DisconnectCode.draining.code), reason: DisconnectCode.draining.reason)
        }
        connection.context = Client(connection, at: self.now)
    }

    func webSocket(_ connection: WebSocketConnection, receivedText text: Span<UInt8>) {
        guard let client = connection.context as? Client, !client.isDetached else { return }
        self.received(text, from: client)
    }

    func webSocket(_ connection: WebSocketConnection, receivedBinary bytes: Span<UInt8>) {
        guard let client = connection.context as? Client, !client.isDetached else { return }
        self.disconnect(client, .protocolViolation)
    }

    func webSocketWritable(_ connection: WebSocketConnection) {
        guard let client = connection.context as? Client, !client.isDetached, client.backlog != nil else { return }
        self.catchUp(client)
    }

    func webSocketClosed(_ connection: WebSocketConnection, _ closure: WebSocketClosure) {
        self.gateway.metrics.closed(closure.code.rawValue)
        guard let client = connection.context as? Client else { return }
        self.detach(client, isSilent: false)
    }
}
