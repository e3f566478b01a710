// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// A gateway in memory: it decides as the real gateway does, but has no network, threads or buffers.
///
/// Its inputs are the frames of clients and the records of the services. Its outputs are frames for clients and records
/// for the services.
struct SimulatedGateway: Sendable {
    let id = GatewayID("simulated")
    /// The time of day when the monotonic clock is 0.
    let startTime: Timestamp
    let policies: Policies
    var now: MonotonicTime
    /// The connections by their numbers.
    var connections: [Int: SimulatedConnection] = [:]
    /// The numbers of the connections by their sessions.
    var connectionOfSession: [SessionID: Int] = [:]
    var model = ReadModel()
    /// Sorts the lives for lists.
    var ranking: Ranking
    /// The last notices, for clients that connect again.
    var notices = NoticeRing()
    /// The replies that wait until `model`, the gateway's knowledge of the lives, has the revision that they require.
    var prematureReplies = PrematureReplies()
    /// The last items of each feed.
    var feeds: [LiveKey: FeedLog] = [:]
    var random: SeededRandom
    /// The frames for clients, and the connections to close, that `takeOutputs` has not returned yet.
    private var outputs: [ConnectionOutput] = []
    /// The records for the services that `takeEffects` has not returned yet.
    private var effects: [Effect] = []
    /// The offset of the last notice; 0 before the first.
    var noticeOffset: Int64 = 0
    /// When `ranking`, the order of the lives in lists, was last refreshed.
    private var rankedAt = MonotonicTime.distantPast
    /// When heartbeats were last sent.
    private var heartbeatsSentAt = MonotonicTime.distantPast
    /// The audience counts that wait to be sent, and for each live the time at which a count was last sent.
    private var countSchedule = CountSchedule()

    /// The gateway sends nine heartbeats of each member in the duration of a lease: one every 90 s / 9 = 10 s.
    private static let heartbeatInterval = Milliseconds(ServiceGroup.lease.count / 9)
    /// The interval at which the gateway checks the deadlines of connections and calls.
    private static let sweepInterval = Milliseconds(100)

    init(policies: Policies, startTime: Timestamp, at now: MonotonicTime, seed: UInt64) {
        self.policies = policies
        self.startTime = startTime
        self.now = now
        self.ranking = Ranking(gateway: self.id)
        self.random = SeededRandom(seed: seed)
        self.refreshRanking()
    }

    /// The time of day, for replies and records.
    var wallTime: Timestamp { self.startTime + (self.now - SimulationClock.zero) }

    /// Removes and returns the frames for clients, and the connections to close.
    mutating func takeOutputs() -> [ConnectionOutput] {
        defer { self.outputs = [] }
        return self.outputs
    }

    /// Removes and returns the records for the services.
    mutating func takeEffects() -> [Effect] {
        defer { self.effects = [] }
        return self.effects
    }

    // MARK: Outputs

    mutating func send(_ frame: ServerFrame, to connection: Int) { self.send(Wire.encode(frame), to: connection) }

    mutating func send(_ text: [UInt8], to connection: Int) {
        self.outputs.append(ConnectionOutput(connection: connection, .text(text)))
    }

    mutating func reply(_ id: Int64, _ outcome: Outcome, to connection: Int) {
        self.send(.reply(id: id, outcome), to: connection)
    }

    /// Writes a record for the services.
    mutating func write(_ effect: Effect) { self.effects.append(effect) }

    /// Closes a connection from the server's side, and forgets it.
    mutating func disconnect(_ number: Int, _ code: DisconnectCode) {
        guard let connection = self.connections[number] else { return }
        // After these codes the client cannot resume, so its membership ends at once.
        if code.endsMembership { self.endMembership(of: connection) }
        self.outputs.append(ConnectionOutput(connection: number, .close(code: Int(code.code))))
        self.connectionClosed(number)
    }

    // MARK: Connections

    /// Handles a new connection.
    mutating func connectionOpened(_ number: Int) {
        self.connections[number] = SimulatedConnection(number, at: self.now)
    }

    /// Handles the end of a connection; the lease in presence remains, so that the client may connect again and resume.
    mutating func connectionClosed(_ number: Int) {
        guard let connection = self.connections.removeValue(forKey: number) else { return }
        if self.connectionOfSession[connection.session] == number { self.connectionOfSession[connection.session] = nil }
        self.sendLastHeartbeat(of: connection)
    }

    // MARK: Time

    /// When `tick` must be called next.
    var nextTick: MonotonicTime {
        let nextRanking = self.rankedAt + Ranking.interval
        // Without connections there are no deadlines to check.
        guard !self.connections.isEmpty else { return nextRanking }
        return min(nextRanking, self.now + Self.sweepInterval)
    }

    /// Advances the clock, and does everything that has become due.
    mutating func tick(at now: MonotonicTime) {
        self.now = max(self.now, now)
        if self.now - self.rankedAt >= Ranking.interval { self.refreshRanking() }
        for reply in self.prematureReplies.takeDue(in: self.model, at: self.now) { self.handleReply(reply) }
        for number in self.connections.keys.sorted() { self.checkDeadlines(of: number) }
        for (live, count) in self.countSchedule.takeDue(at: self.now) { self.sendCount(count, in: live) }
        if self.now - self.heartbeatsSentAt >= Self.heartbeatInterval {
            self.heartbeatsSentAt = self.now
            self.sendHeartbeats()
        }
    }

    /// Closes a connection that is overdue; otherwise fails its calls that have timed out, and writes the records of
    /// its unanswered calls again.
    private mutating func checkDeadlines(of number: Int) {
        if let code = self.connections[number]?.core.disconnectCode(at: self.now) {
            return self.disconnect(number, code)
        }
        for ended in self.connections[number]?.core.failOverdueCalls(at: self.now) ?? [] {
            self.complete(ended, number)
        }
        for sent in self.connections[number]?.core.takeRecordsToResend(at: self.now) ?? [] { self.write(sent.effect) }
    }

    /// Sorts the lives again, and drops old notices.
    private mutating func refreshRanking() {
        self.rankedAt = self.now
        self.ranking.refresh(self.model.rankingEntries(), at: self.now)
        self.notices.prune(at: self.now)
    }

    // MARK: Records

    /// Handles a record of the services.
    mutating func recordReceived(_ effect: Effect) {
        switch effect {
        case .live(let record): self.model.apply(record)
        case .stage(let record): self.model.apply(record)
        case .app(let record): self.model.apply(record)
        case .count(let record):
            // The model rejects a count that is older than the one it has.
            guard self.model.apply(record) else { return }
            self.countReceived(LiveCount(record), in: record.key)
        case .liveRemoved(let key):
            self.model.removeLive(key)
            self.feeds[key] = nil
            for number in self.viewers(of: key) { self.liveEnded(number, key) }
        case .stageRemoved(let key): self.model.removeStage(key)
        case .countRemoved(let key): self.model.removeCount(key)
        // Presence has lost its leases, so the gateway tells it again which members the lives have.
        case .presenceEpoch: self.assertMembers()
        case .feed(let item): self.feedItemReceived(item)
        case .notice(let notice): self.noticeReceived(notice)
        case .reply(let reply):
            // A reply does not change the model, so no other reply becomes due.
            if !self.prematureReplies.bufferIfPremature(reply, in: self.model, at: self.now) { self.handleReply(reply) }
            return
        // A gateway does not read the services' inputs. A simulated cluster has no webhooks.
        case .webhook, .directory, .audience, .barrage, .seat, .connection: return
        }
        // Replies may wait for the revision that this record has brought to the model.
        for reply in self.prematureReplies.takeDue(in: self.model, at: self.now) { self.handleReply(reply) }
    }

    /// Sends a count at once, or lets it wait if the last count of the live was sent only recently.
    private mutating func countReceived(_ count: LiveCount, in key: LiveKey) {
        guard let dueCount = self.countSchedule.schedule(count, of: key, at: self.now) else { return }
        self.sendCount(dueCount, in: key)
    }

    private mutating func sendCount(_ count: LiveCount, in key: LiveKey) {
        for number in self.viewers(of: key) { self.send(.counts(count), to: number) }
    }

    /// Ends the call that a reply answers; ignores the reply if its session has no connection or no such open call.
    private mutating func handleReply(_ reply: Reply) {
        guard let number = self.connectionOfSession[reply.request.session],
            let ended = self.connections[number]?.core.callAnswered(reply.request.counter, reply.outcome)
        else { return }
        self.complete(ended, number)
    }
}
