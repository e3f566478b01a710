// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// A gateway in memory: the decisions of the real one, without its network, threads and buffers.
///
/// Its inputs are the frames of clients and the records of the services. Its outputs are frames for clients and records
/// for the services.
struct SimulatedGateway: Sendable {
    let id = GatewayID("simulated")
    /// The time of clients and records at the gateway's monotonic 0.
    let epoch: Timestamp
    let policies: Policies
    var now: MonotonicTime
    var connections: [Int: SimulatedConnection] = [:]
    var bySession: [SessionID: Int] = [:]
    var model = ReadModel()
    var ranking: Ranking
    var notices = NoticeRing()
    var awaited = AwaitedReplies()
    var feeds: [LiveKey: FeedLog] = [:]
    var random: SeededRandom
    /// The outputs since the last call of `takeOutputs`.
    private var outputs: [(connection: Int, output: ConnectionOutput)] = []
    /// The records since the last call of `takeEffects`.
    private var effects: [Effect] = []
    private var noticeOffset: Int64 = 0
    private var rankedAt = MonotonicTime.distantPast
    private var heartbeatsAt = MonotonicTime.distantPast
    /// The counts that wait to be sent, and when those of each live were last sent.
    private var counts = CountSchedule()

    /// A member is reported to presence nine times in the duration of a lease.
    private static let heartbeatInterval = Milliseconds(ServiceGroup.lease.count / 9)
    /// The interval at which deadlines are checked.
    private static let sweepInterval = Milliseconds(100)

    init(policies: Policies, epoch: Timestamp, at now: MonotonicTime, seed: UInt64) {
        self.policies = policies
        self.epoch = epoch
        self.now = now
        self.ranking = Ranking(gateway: self.id)
        self.random = SeededRandom(seed: seed)
        self.refreshRanking()
    }

    /// The time that clients are shown.
    var wallTime: Timestamp { self.epoch + Milliseconds(self.now.milliseconds) }

    mutating func takeOutputs() -> [(connection: Int, output: ConnectionOutput)] {
        defer { self.outputs = [] }
        return self.outputs
    }

    mutating func takeEffects() -> [Effect] {
        defer { self.effects = [] }
        return self.effects
    }

    // MARK: Outputs

    mutating func send(_ frame: ServerFrame, to connection: Int) { self.send(Wire.encode(frame), to: connection) }

    mutating func send(_ text: [UInt8], to connection: Int) { self.outputs.append((connection, .text(text))) }

    mutating func reply(_ id: Int64, _ outcome: Outcome, to connection: Int) {
        self.send(.reply(id: id, outcome), to: connection)
    }

    mutating func write(_ effect: Effect) { self.effects.append(effect) }

    /// Closes a connection as the server does, and forgets it.
    mutating func disconnect(_ number: Int, _ code: DisconnectCode) {
        guard let connection = self.connections[number] else { return }
        let isFinal: [DisconnectCode] = [.kickedOffline, .tokenExpired]
        if isFinal.contains(code), let live = connection.core.live, let ticket = connection.core.ticket {
            let command = AudienceCommand.signOff(
                session: connection.session, user: connection.user.userID, ticket: ticket)
            self.write(.audience(AudienceInput(connection.key(live), command)))
        }
        self.outputs.append((number, .close(code: Int(code.code))))
        self.closed(number)
    }

    // MARK: Connections

    mutating func opened(_ number: Int) {
        self.connections[number] = SimulatedConnection(number, at: self.now)
    }

    /// Handles the end of a connection, which may return and resume.
    mutating func closed(_ number: Int) {
        guard let connection = self.connections.removeValue(forKey: number) else { return }
        if self.bySession[connection.session] == number { self.bySession[connection.session] = nil }
        if let live = connection.core.live, let ticket = connection.core.ticket {
            let heartbeat = Heartbeat(
                session: connection.session, user: connection.user.userID, ticket: ticket,
                silentFor: max(0, (self.now - connection.lastReceived).count))
            self.write(.audience(AudienceInput(connection.key(live), .heartbeats(beats: [heartbeat]))))
        }
    }

    // MARK: Time

    /// When `tick` must be called next.
    var nextTick: MonotonicTime {
        let ranked = self.rankedAt + Ranking.interval
        guard !self.connections.isEmpty else { return ranked }
        return min(ranked, self.now + Self.sweepInterval)
    }

    /// Advances the clock, and handles what is due.
    mutating func tick(at now: MonotonicTime) {
        self.now = max(self.now, now)
        if self.now - self.rankedAt >= Ranking.interval { self.refreshRanking() }
        for reply in self.awaited.release(in: self.model, at: self.now) { self.route(reply) }
        for number in self.connections.keys.sorted() { self.sweep(number) }
        for (live, count) in self.counts.takeDue(at: self.now) { self.sendCount(count, in: live) }
        if self.now - self.heartbeatsAt >= Self.heartbeatInterval { self.sendHeartbeats() }
    }

    private mutating func sweep(_ number: Int) {
        if let code = self.connections[number]?.core.overdue(at: self.now) { return self.disconnect(number, code) }
        for ended in self.connections[number]?.core.sweep(at: self.now) ?? [] { self.conclude(ended, number) }
        for sent in self.connections[number]?.core.takeDueForResend(at: self.now) ?? [] { self.write(sent.effect) }
    }

    private mutating func refreshRanking() {
        self.rankedAt = self.now
        self.ranking.refresh(self.model.rankingEntries(), at: self.now)
        self.notices.prune(at: self.now)
    }

    private mutating func sendHeartbeats() {
        self.heartbeatsAt = self.now
        for (key, members) in self.members() {
            let heartbeats = members.map { member in
                Heartbeat(
                    session: member.session, user: member.user.userID, ticket: member.ticket,
                    silentFor: member.silentFor)
            }
            self.write(.audience(AudienceInput(key, .heartbeats(beats: heartbeats))))
        }
    }

    /// The connected members of each live, in a fixed order.
    ///
    /// Scripted users have negative numbers; they are never silent.
    private func members() -> [(key: LiveKey, members: [Presence])] {
        var lives: [LiveKey: [Presence]] = [:]
        for number in self.connections.keys.sorted() {
            guard let connection = self.connections[number], let live = connection.core.live,
                let ticket = connection.core.ticket
            else { continue }
            lives[connection.key(live), default: []].append(
                Presence(
                    session: connection.session, user: connection.user, ticket: ticket,
                    silentFor: number < 0 ? 0 : max(0, (self.now - connection.lastReceived).count)))
        }
        return lives.sorted { $0.key < $1.key }.map { (key: $0.key, members: $0.value) }
    }

    // MARK: Records

    /// Handles a record of the services.
    mutating func received(_ effect: Effect) {
        switch effect {
        case .live(let record): self.model.apply(record)
        case .stage(let record): self.model.apply(record)
        case .app(let record): self.model.apply(record)
        case .count(let record):
            guard self.model.apply(record) else { return }
            if let count = self.counts.received(LiveCount(record), of: record.key, at: self.now) {
                self.sendCount(count, in: record.key)
            }
        case .liveRemoved(let key):
            self.model.removeLive(key)
            self.feeds[key] = nil
            for number in self.viewers(of: key) { self.liveEnded(number, key) }
        case .stageRemoved(let key): self.model.removeStage(key)
        case .countRemoved(let key): self.model.removeCount(key)
        case .presenceEpoch:
            for (key, members) in self.members() {
                self.write(.audience(AudienceInput(key, .assert(members: members))))
            }
        case .feed(let item): self.received(item)
        case .notice(let notice): self.received(notice)
        case .reply(let reply):
            if self.awaited.canSend(reply, in: self.model, at: self.now) { self.route(reply) }
            return
        case .webhook, .directory, .audience, .barrage, .seat, .connection: return
        }
        for reply in self.awaited.release(in: self.model, at: self.now) { self.route(reply) }
    }

    private mutating func received(_ notice: Notice) {
        self.noticeOffset += 1
        let id = NoticeID(partition: 0, offset: self.noticeOffset)
        let json = notice.content.isForClients ? Wire.encode(ServerFrame.notice(id: id.text, notice)) : []
        let entry = NoticeRing.Entry(id: id, notice: notice, json: json)
        guard self.notices.append(entry, at: self.now) else { return }
        for number in self.connections.keys.sorted() {
            guard let connection = self.connections[number], connection.core.isLoggedIn,
                connection.userKey == notice.to
            else { continue }
            if !notice.content.isForClients {
                let code = self.connections[number]?.signIn.noticeReceived(notice.content, own: connection.session)
                if let code { self.disconnect(number, code) }
            } else if id.offset > connection.lastNotice {
                self.connections[number]?.lastNotice = id.offset
                self.deliver(entry, to: number)
            }
        }
    }

    /// Sends a notice to one client; a kick also removes it from the live (I6, a kick is final).
    mutating func deliver(_ entry: NoticeRing.Entry, to number: Int) {
        if case .kickedOut(let reason, _) = entry.notice.content, let floor = entry.notice.floor {
            let isOut = self.connections[number]?.core.kicked(from: entry.notice.live, floor: floor) ?? false
            if reason == .byLoggedOnOtherDevice, !isOut, self.connections[number]?.core.membership != .outside {
                return
            }
            if isOut { self.connections[number]?.live = nil }
        }
        self.send(entry.json, to: number)
    }

    private mutating func sendCount(_ count: LiveCount, in key: LiveKey) {
        for number in self.viewers(of: key) { self.send(.counts(count), to: number) }
    }

    private mutating func route(_ reply: Reply) {
        guard let number = self.bySession[reply.request.session],
            let ended = self.connections[number]?.core.answered(reply.request.counter, reply.outcome)
        else { return }
        self.conclude(ended, number)
    }
}

/// Limits the counts of each live to one a second.
struct CountSchedule: Sendable {
    private var unsent: [LiveKey: LiveCount] = [:]
    private var sentAt: [LiveKey: MonotonicTime] = [:]

    private static let interval = Milliseconds.seconds(1)

    /// Returns the count if it can be sent now; otherwise it waits.
    mutating func received(_ count: LiveCount, of key: LiveKey, at now: MonotonicTime) -> LiveCount? {
        guard now - (self.sentAt[key] ?? .distantPast) >= Self.interval else {
            self.unsent[key] = count
            return nil
        }
        self.sentAt[key] = now
        return count
    }

    /// Removes and returns the counts that can be sent now, in a fixed order.
    mutating func takeDue(at now: MonotonicTime) -> [(LiveKey, LiveCount)] {
        var due: [(LiveKey, LiveCount)] = []
        for key in self.unsent.keys.sorted() where now - (self.sentAt[key] ?? .distantPast) >= Self.interval {
            guard let count = self.unsent.removeValue(forKey: key) else { continue }
            self.sentAt[key] = now
            due.append((key, count))
        }
        return due
    }
}
