// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import EventLoop
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire

/// Handles the calls of connected clients: parses them, forwards them to their machine (the service that decides the
/// call) or answers them from the read model, and sends the replies.
///
/// Each `retryAfter` is in milliseconds.
final class ShardCalls {
    unowned let shard: Shard
    let gateway: Gateway
    /// The clients that `sweep` checks: all clients with open calls, and some whose last open call has just ended.
    private var clientsToSweep: [Client] = []
    /// The counter part of the next record's token (see `makeToken`).
    private var nextTokenCounter: UInt64 = 1
    /// The processor time that reads may use.
    var readTime: ReadTime

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
        self.readTime = ReadTime(percent: shard.gateway.settings.admission.readPercent)
    }

    /// Handles a text message that a client sent: a call.
    func received(_ text: Span<UInt8>, from client: Client) {
        let stopwatch = Stopwatch()
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.count)
        unsafe text.withUnsafeBufferPointer { unsafe bytes.append(contentsOf: $0) }
        let frame: CallFrame
        do throws(ReplyError) {
            frame = try CallFrame(bytes)
        } catch {
            // A frame that is not a call has no id and no method, so the reply has the id -1 (R16.9).
            self.reply(-1, .failure(error: error), to: client, method: "", stopwatch: stopwatch)
            client.badFrameCount += 1
            if client.badFrameCount >= self.gateway.settings.maxBadFrames {
                self.shard.disconnect(client, .protocolViolation)
            }
            return
        }
        // A late retry is a call that was first sent more than 60 s ago. It is never applied.
        let isLateRetry = client.retryAges.recordCall(
            frame.id, statedAge: frame.age.map { Milliseconds($0) }, at: self.shard.now)
        if frame.method == "login" {
            return self.shard.login.logIn(frame, client, stopwatch: stopwatch)
        }
        guard client.core.isLoggedIn else {
            let error = ReplyError(.notLoggedIn, "the first call must be login")
            return self.reply(
                frame.id, .failure(error: error), to: client, method: frame.method, stopwatch: stopwatch
            )
        }
        do throws(ReplyError) {
            try self.admit(frame, client)
            try self.handleCall(frame, client, isLateRetry: isLateRetry, stopwatch: stopwatch)
        } catch {
            self.reply(
                frame.id, .failure(error: error), to: client, method: frame.method, stopwatch: stopwatch
            )
        }
    }

    /// Sends the reply to a call, and records the call in the metrics; `stopwatch` runs since the call was received.
    func reply(_ id: Int64, _ outcome: Outcome, to client: Client, method: String, stopwatch: Stopwatch) {
        self.gateway.metrics.callAnswered(
            method, outcome, microseconds: stopwatch.microseconds)
        self.shard.send(.reply(id: id, outcome), to: client)
    }

    /// Parses a call, and forwards or answers it.
    private func handleCall(
        _ frame: CallFrame, _ client: Client, isLateRetry: Bool, stopwatch: Stopwatch
    ) throws(ReplyError) {
        let caller = Caller(
            user: client.user, role: client.role, request: RequestID(session: client.session, counter: frame.id),
            replyTo: self.gateway.settings.id, ticket: client.core.ticket, isLateRetry: isLateRetry)
        let parsed = try CallParser(app: client.app, caller: caller, in: client.core.live).parse(frame)
        switch parsed {
        case .join where client.role == .server: throw Self.serverCannotJoin
        case .join(let live, let effect):
            // A call that repeats an open call was counted when its first copy was received.
            if !client.core.hasOpenCall(frame.id) { try self.gateway.admission.admit(.join(live), of: client.userKey) }
            try self.forward(effect, frame.id, frame.method, .join(live), client)
        case .createAndJoin where client.role == .server: throw Self.serverCannotJoin
        case .createAndJoin(let live, let effect):
            try self.admitLive(effect, frame.id, client)
            try self.admitJoin(to: live, ofCreate: frame.id, client)
            try self.forward(effect, frame.id, frame.method, .create(live, isLateRetry: isLateRetry), client)
        case .leave(let live, _) where client.core.live != live:
            // The call may repeat an earlier leave; presence, which decides leaves, knows the outcome of that. The
            // client has no ticket, or one of another live, so the call is sent without a ticket.
            var caller = caller
            caller.ticket = nil
            let input = AudienceInput(client.key(live), .leave(caller: caller))
            try self.forward(.audience(input), frame.id, frame.method, .leave(live), client)
        case .leave(let live, let effect):
            try self.forward(effect, frame.id, frame.method, .leave(live), client)
        case .forward(let effect, let live):
            try self.admitLive(effect, frame.id, client)
            if let count = parsed.sanctionedUserCount { try self.admitSanctions(of: count, frame.id, client) }
            // Equal reads of many clients share one record and its answer.
            let waitsForSharedAnswer = try self.shard.sharedReads.addCall(
                effect, frame, requiredLive: live, client, isLateRetry: isLateRetry, stopwatch: stopwatch)
            if waitsForSharedAnswer { return }
            // `webhooks` asks the app's backend before a message or gift, and forwards other calls without asking.
            try self.shard.webhooks.forward(effect, frame, requiredLive: live, client)
        case .login: break  // Handled by `received`.
        case .updateProfile(let name, let avatarURL):
            try self.updateProfile(
                frame, client, caller, name: name, avatarURL: avatarURL, stopwatch: stopwatch)
        case .ping:
            let result = try self.gateway.answer(parsed, app: client.app)
            self.reply(
                frame.id, .success(result: result), to: client, method: frame.method, stopwatch: stopwatch)
        case .list, .get, .count, .stage, .metadata, .candidates, .gifts, .app:
            try self.answerRead(parsed, frame, client, stopwatch: stopwatch)
        }
    }

    /// The error with which a join of a server's token is rejected (PROTOCOL.md 4.3).
    static let serverCannotJoin = ReplyError(.noPermission, "an app's server acts in a live without joining it")

    /// Forwards a call to its machine, unless the call repeats an open call: one reply answers both copies.
    ///
    /// - Parameters:
    ///   - effect: The command that the call sends.
    ///   - id: The call's number in its session.
    ///   - method: The call's method.
    ///   - purpose: The change that a successful reply makes to the client.
    ///   - requiredLive: The live that the caller must be in; nil if the caller need not be in a live.
    ///   - client: The caller.
    ///   - isAlreadyCounted: Whether `countForwardedCall` has counted the call.
    /// - Throws: The error with which the call is rejected.
    func forward(
        _ effect: Effect, _ id: Int64, _ method: String, _ purpose: CallPurpose, requiredLive: LiveID? = nil,
        _ client: Client, isAlreadyCounted: Bool = false
    ) throws(ReplyError) {
        if self.isRepeated(id, client) { return }
        try self.checkForwarding(id, purpose, requiredLive: requiredLive, client)
        if !isAlreadyCounted { try self.countForwardedCall(of: client) }
        let sent = try self.send(TopicRecord(effect), method)
        self.registerCall(id, purpose, sent, client)
    }

    /// Checks that a call may be forwarded: the session has not too many open calls, and the caller is in the live that
    /// the call requires, and in no other live if the call enters one.
    ///
    /// The call must not repeat an open call (`isRepeated`).
    ///
    /// - Throws: The error with which the call is rejected.
    func checkForwarding(
        _ id: Int64, _ purpose: CallPurpose, requiredLive: LiveID? = nil, _ client: Client
    ) throws(ReplyError) {
        // Calls that wait for a backend's decision or for a shared read are not forwarded yet, but count as open.
        let waitingCallCount = client.pendingCalls.count + client.waitingReads.count
        switch client.core.verdict(on: id, purpose, requiredLive: requiredLive, waiting: waitingCallCount) {
        case .proceed, .repeated: return
        case .rejected(let error):
            // If the live does not exist, the client must get `noSuchRoom` instead of `notInRoom` (PROTOCOL.md 4.3).
            if error.code == .notInRoom, let requiredLive {
                try self.gateway.checkExists(LiveKey(client.app, requiredLive))
            }
            throw error
        }
    }

    /// Registers a call whose record was written, and adds the client to those that `sweep` checks.
    ///
    /// - Parameters:
    ///   - id: The call's number in its session.
    ///   - purpose: The change that a successful reply makes to the client.
    ///   - sent: The record.
    ///   - client: The caller.
    ///   - start: When the call's first record was written; nil if `sent` is the first one.
    func registerCall(
        _ id: Int64, _ purpose: CallPurpose, _ sent: SentRecord, _ client: Client, since start: MonotonicTime? = nil
    ) {
        client.core.registerCall(id, purpose, sent, at: self.shard.now, since: start)
        if !client.isInCallSweep {
            client.isInCallSweep = true
            self.clientsToSweep.append(client)
        }
    }

    /// Counts a call that is about to be forwarded, for the limits of calls per user and per app (R12.13, R12.15).
    ///
    /// - Throws: `overloaded`, with the time after which to retry.
    func countForwardedCall(of client: Client) throws(ReplyError) {
        let user = client.role == .user ? client.user.userID : nil
        try self.gateway.admission.admitForwardedCall(of: user, in: client.app)
    }

    /// Writes a call's record to its inbox topic; throws the error with which the call is rejected.
    func send(_ record: TopicRecord, _ method: String) throws(ReplyError) -> SentRecord {
        // While the broker does not answer, the circuit breaker (`BrokerHealth`) admits no call.
        guard self.gateway.admitBrokerCall() else {
            throw ReplyError(.unavailable, "the broker is away", retryAfter: 1000)
        }
        var record = record
        let tracer = self.gateway.settings.tracer
        let span = tracer.isOn ? CallSpan(tracer, &record) : nil
        let sent = SentRecord(record: record, token: self.makeToken(), method: method, span: span)
        do throws(SinkRejection) {
            try self.shard.write(sent.record, token: sent.token)
            return sent
        } catch {
            // The metric of lost records also counts the rejected ones.
            self.gateway.metrics.lostRecords.add()
            switch error {
            case .full: throw ReplyError(.overloaded, "too many calls are on their way", retryAfter: 500)
            case .unavailable: throw ReplyError(.unavailable, "the broker is away", retryAfter: 1000)
            case .tooLarge: throw ReplyError(.overLimit, "the call is larger than the broker takes")
            }
        }
    }

    /// Writes records again; if the producer rejects one, a later sweep writes it.
    ///
    /// The loss of a repeated record is not reported, because the first copy may have been delivered.
    func resend(_ records: [SentRecord]) {
        for sent in records { try? self.shard.write(sent.record, token: RecordToken.unreported) }
    }

    /// Returns the next token, which identifies a record of this shard when its loss is reported.
    ///
    /// The format is defined by `RecordToken`: 16 bits with the shard's number, then a counter of 48 bits. The counter
    /// is never 0, because no token may be `RecordToken.unreported`.
    private func makeToken() -> UInt64 {
        defer { self.nextTokenCounter = (self.nextTokenCounter &+ 1) & 0xFFFF_FFFF_FFFF }
        return UInt64(self.shard.number) << 48 | max(1, self.nextTokenCounter)
    }
}

/// The three ways in which a forwarded call ends: a machine's reply, a lost record, or its deadline.
extension ShardCalls {
    /// Ends the client's call to which a machine has replied.
    func replyReceived(_ reply: Reply) {
        guard let client = self.shard.sessions.client(of: reply.request.session),
            let ended = client.core.callAnswered(reply.request.counter, reply.outcome)
        else { return self.gateway.metrics.lateReplies.add() }
        self.complete(ended, client)
    }

    /// Fails the calls whose records, identified by `tokens`, were lost.
    ///
    /// - Returns: The tokens that do not belong to an open call of a connected client.
    func recordsLost(_ tokens: Set<UInt64>) -> Set<UInt64> {
        var remainingTokens = tokens
        for client in self.clientsToSweep {
            if remainingTokens.isEmpty { break }
            while let id = client.core.openCallID(where: { remainingTokens.contains($0.token) }),
                let ended = client.core.recordLost(id)
            {
                remainingTokens.remove(ended.record.token)
                self.complete(ended, client)
            }
        }
        return remainingTokens
    }

    /// Fails the calls whose deadline has passed, and sends the records of other unanswered calls again, with the same
    /// request ids.
    func sweep(at now: MonotonicTime) {
        let canResend = self.gateway.isBrokerHealthy
        var index = 0
        while index < self.clientsToSweep.count {
            let client = self.clientsToSweep[index]
            if !client.isDetached {
                for ended in client.core.failOverdueCalls(at: now) { self.complete(ended, client) }
                if canResend { self.resend(client.core.takeRecordsToResend(at: now)) }
            }
            if client.isDetached || client.core.openCallCount == 0 {
                client.isInCallSweep = false
                // The last client takes the index of the removed one, and is checked next.
                self.clientsToSweep[index] = self.clientsToSweep[self.clientsToSweep.count - 1]
                self.clientsToSweep.removeLast()
            } else {
                index += 1
            }
        }
    }

    /// Applies the changes that an ended call makes to the client, and sends the reply.
    private func complete(_ ended: SessionCore<SentRecord>.EndedCall, _ client: Client) {
        let outcome: Outcome
        switch ended.action {
        case .reply(let callOutcome):
            outcome = callOutcome
            self.shard.send(.reply(id: ended.id, outcome), to: client)
        case .joined(let live, let epoch, let callOutcome):
            // `joins` sends the reply when the client becomes a viewer.
            outcome = callOutcome
            self.shard.joins.joinGranted(client, call: ended.id, client.key(live), epoch: epoch, outcome)
        case .created(let live, let result, let isLateRetry):
            // The span of the create ends here; the record of the join gets its own span.
            ended.record.span?.end(
                ended.record.method, .success(result: result), self.gateway.settings.tracer)
            // The call is completed, and counted in the metrics, when the join ends.
            return self.joinCreated(live, result, ended, client, isLateRetry: isLateRetry)
        case .resumed(let point, let ticket, let epoch):
            // If the missed items cannot be replayed, `ShardReplay` replies with `replayed: false`.
            outcome = .success(result: .resumed(ticket: ticket, position: point.position, replayed: true))
            self.shard.joins.joinGranted(
                client, call: ended.id, client.key(point.live), epoch: epoch, outcome, resume: point,
                startedAt: ended.startedAt)
        case .missedEnd(let point, let callOutcome):
            // `missedEnds` sends the reply: a success if it finds the end of the live, otherwise `callOutcome`. The
            // metrics and the span record `callOutcome` in both cases.
            outcome = callOutcome
            self.shard.missedEnds.resumeRejected(
                EndedResume(
                    client: client, call: ended.id, key: client.key(point.live), point: point,
                    rejection: callOutcome))
        case .profileUpdated(let user, let callOutcome):
            outcome = callOutcome
            client.user = user
            self.shard.send(.reply(id: ended.id, outcome), to: client)
        case .left(let leftLive, let callOutcome):
            outcome = callOutcome
            self.shard.send(.reply(id: ended.id, outcome), to: client)
            // The client may already be in another live.
            if let live = client.live, live.key.live == leftLive { self.shard.lives.remove(client, from: live) }
            self.shard.joins.cancel(client)
        }
        let milliseconds = (self.shard.now - ended.startedAt).count
        self.gateway.metrics.callAnswered(ended.record.method, outcome, microseconds: milliseconds * 1000)
        ended.record.span?.end(ended.record.method, outcome, self.gateway.settings.tracer)
    }
}
