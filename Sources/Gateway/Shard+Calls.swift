// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Calls of connected clients: what they ask, who answers, and what the answers change.
extension Shard {
    /// A text of a client.
    func received(_ text: Span<UInt8>, from client: Client) {
        guard self.counts(client) else { return self.disconnect(client, .flooding) }
        let began = MonotonicClock.microseconds
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        let frame: ClientFrame
        do throws(ReplyError) {
            frame = try ClientFrame(bytes)
        } catch {
            // A frame that is no call has no id to answer to.
            self.reply(-1, .failure(error: error), to: client, method: "", began: began)
            client.badFrames += 1
            if client.badFrames >= self.gateway.settings.badFrames { self.disconnect(client, .protocolViolation) }
            return
        }
        if frame.method == "login" { return self.login(frame, client, began: began) }
        guard client.core.isLoggedIn else {
            let error = ReplyError(.notLoggedIn, "the first call must be login")
            return self.reply(frame.id, .failure(error: error), to: client, method: frame.method, began: began)
        }
        do throws(ReplyError) {
            try self.call(frame, client, began: began)
        } catch {
            self.reply(frame.id, .failure(error: error), to: client, method: frame.method, began: began)
        }
    }

    /// Answers a call, and counts it.
    func reply(_ id: Int64, _ outcome: Outcome, to client: Client, method: String, began: Int64) {
        self.gateway.metrics.called(method, outcome, microseconds: MonotonicClock.microseconds - began)
        self.send(.reply(id: id, outcome), to: client)
    }

    private func call(_ frame: ClientFrame, _ client: Client, began: Int64) throws(ReplyError) {
        let caller = Caller(
            user: client.user, role: client.role, request: RequestID(session: client.session, counter: frame.id),
            replyTo: self.gateway.settings.id, ticket: client.core.ticket)
        let parsed = try CallParser(app: client.app, caller: caller, in: client.core.live).parse(frame)
        switch parsed {
        case .join where client.role == .server: throw Self.serverJoins
        case .join(let live, let effect): try self.forward(effect, frame, .join(live), nil, client)
        case .leave(let live, let effect): try self.forward(effect, frame, .leave(live), nil, client)
        case .forward(let effect, let room):
            // Sent again while the backend is asked: the one answer comes.
            if client.asked.contains(where: { $0.id == frame.id }) { return }
            switch self.asking(about: effect, frame, client) {
            case .nobody: try self.forwardInOrder(effect, frame, room, client)
            case .refuse(let refused): try self.forwardInOrder(refused, frame, room, client)
            case .ask(let question):
                guard try self.mayGoOn(frame.id, .plain, room, client) else { return }
                self.ask(question, about: effect, frame, room, client)
            }
        case .login: break
        case .rename(let name, let avatarURL):
            try self.rename(frame, client, caller, name: name, avatarURL: avatarURL, began: began)
        case .ping, .list, .get, .count, .stage, .metadata, .candidates, .gifts, .app:
            let result = try self.gateway.answer(parsed, app: client.app)
            self.reply(frame.id, .success(result: result), to: client, method: frame.method, began: began)
        }
    }

    /// A server's token is in no live (PROTOCOL.md 4.3).
    static let serverJoins = ReplyError(.noPermission, "an app's server acts in a live without joining it")

    /// Passes a call on to its machine.
    func forward(
        _ effect: Effect, _ frame: ClientFrame, _ purpose: CallPurpose, _ room: LiveID?, _ client: Client
    ) throws(ReplyError) {
        try self.forward(effect, frame.id, frame.method, purpose, room, client)
    }

    /// Passes a call on to its machine, when its frame is gone.
    func forward(
        _ effect: Effect, _ id: Int64, _ method: String, _ purpose: CallPurpose, _ room: LiveID?, _ client: Client
    ) throws(ReplyError) {
        guard try self.mayGoOn(id, purpose, room, client) else { return }
        let sent = try self.write(TopicRecord(effect), method)
        self.began(id, purpose, sent, client)
    }

    /// Whether a call goes on; false: it is on its way already.
    func mayGoOn(
        _ id: Int64, _ purpose: CallPurpose, _ room: LiveID?, _ client: Client
    ) throws(ReplyError) -> Bool {
        switch client.core.verdict(on: id, purpose, inRoom: room, waiting: client.asked.count) {
        case .goesOn: return true
        case .repeated: return false
        case .refused(let error):
            // Nobody is in a live that does not exist: that is told first (PROTOCOL.md 4.3).
            if error.code == .notInRoom, let live = room {
                try self.gateway.checkExists(LiveKey(client.app, live))
            }
            throw error
        }
    }

    /// A call is on its way: it is swept from now on.
    func began(_ id: Int64, _ purpose: CallPurpose, _ sent: SentRecord, _ client: Client) {
        client.core.began(id, purpose, sent, at: self.now)
        if !client.isSwept {
            client.isSwept = true
            self.calling.append(client)
        }
    }

    /// Writes a call's record into its inbox.
    func write(_ record: TopicRecord, _ method: String) throws(ReplyError) -> SentRecord {
        guard self.gateway.brokerAdmits() else {
            throw ReplyError(.unavailable, "the broker is away", retryAfter: 1000)
        }
        var record = record
        var random = SystemRandomNumberGenerator()
        let trace = TraceContext(isSampled: false, using: &random)
        if !record.headers.contains(where: { $0.name == TraceContext.headerName }) {
            record.headers.append((TraceContext.headerName, trace.bytes))
        }
        let sent = SentRecord(record: record, token: self.takeToken(), method: method)
        do throws(SinkRefusal) {
            try self.write(sent.record, token: sent.token)
            return sent
        } catch {
            self.gateway.metrics.notDelivered.add()
            switch error {
            case .full: throw ReplyError(.overloaded, "too many calls are on their way", retryAfter: 500)
            case .unavailable: throw ReplyError(.unavailable, "the broker is away", retryAfter: 1000)
            case .tooLarge: throw ReplyError(.overLimit, "the call is larger than the broker takes")
            }
        }
    }

    /// A machine's answer to one of this shard's callers.
    func answered(_ reply: Reply) {
        if SessionName.isOfRequest(reply.request.session) { return self.requestAnswered(reply) }
        guard let client = self.sessions[reply.request.session],
            let ended = client.core.answered(reply.request.counter, reply.outcome)
        else { return self.gateway.metrics.lateReplies.add() }
        self.conclude(ended, client)
    }

    /// Does what follows from a call that has come to its end.
    func conclude(_ ended: SessionCore<SentRecord>.Ended, _ client: Client) {
        let outcome: Outcome
        switch ended.conclusion {
        case .reply(let given):
            outcome = given
            self.send(.reply(id: ended.id, outcome), to: client)
        case .joined(let live, let epoch, let given):
            outcome = given
            self.enter(
                Entering(
                    client: client, call: ended.id, key: client.key(live), epoch: epoch,
                    until: self.now + Self.loadPatience, outcome: outcome))
        case .resumed(let point, let ticket, let epoch):
            outcome = .success(result: .resumed(ticket: ticket, position: point.position, replayed: true))
            self.enter(
                Entering(
                    client: client, call: ended.id, key: client.key(point.live), epoch: epoch,
                    until: self.now + Self.loadPatience, outcome: outcome, resume: point))
        case .renamed(let user, let given):
            outcome = given
            client.user = user
            self.send(.reply(id: ended.id, outcome), to: client)
        case .left(let live, let given):
            outcome = given
            self.send(.reply(id: ended.id, outcome), to: client)
            if let room = client.room, room.key.live == live { self.remove(client, from: room) }
            self.cancelEntering(client)
        }
        self.gateway.metrics.called(
            ended.record.method, outcome, microseconds: (self.now - ended.began).count * 1000)
    }

    /// A record is lost: its call fails, or is asked for again by its sender.
    func recordLost(_ token: UInt64) {
        self.gateway.metrics.notDelivered.add()
        for client in self.calling {
            guard let id = client.core.openCall(where: { $0.token == token }),
                let ended = client.core.notDelivered(id)
            else { continue }
            return self.conclude(ended, client)
        }
        self.requestLost(token)
    }

    /// Whether a client still keeps to the number of calls that it may make.
    private func counts(_ client: Client) -> Bool {
        let second = UInt32(truncatingIfNeeded: self.loop.nowMilliseconds / 1000)
        if client.countedSecond != second {
            client.countedSecond = second
            client.callsInSecond = 0
        }
        client.callsInSecond += 1
        return Int(client.callsInSecond) <= self.gateway.settings.callsPerSecond
    }
}
