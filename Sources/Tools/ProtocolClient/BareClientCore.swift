// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel
internal import PlazaWire

/// The client's side of the protocol without IO: login, calls, resume and reconnect.
///
/// The tools and tests use this client. Apps use the client of LivePlazaKit, which also renews tokens and keeps the
/// states of lives.
///
/// Each method handles one event, and appends to `actions` what the surrounding code, which has the socket, must do.
/// `now` is the time of the event. If the connection breaks while a call is open (sent and not answered), the client
/// sends the call again after the next login, with the same id in the same session. Therefore the server never applies
/// the call twice (I15, docs/RULES.md).
package struct BareClientCore: Sendable {
    package private(set) var state = State.idle
    /// The tracker of the live's feed, with the client's position and the counts of missing and repeated items.
    package private(set) var tracker = FeedOrderTracker()
    /// How often the client has lost its connection and has begun to reconnect.
    package private(set) var reconnectCount = 0

    /// The maximum time within which a stopping gateway can make this client leave.
    ///
    /// A gateway states the time in a `drain` frame; a longer time counts as this one.
    private static let maxDrainTime = Milliseconds.seconds(60)
    /// The pause after which the caller may repeat a call that has timed out or that this client has rejected.
    static let retryPause = Milliseconds.seconds(1)

    private let options: Options
    private var joinedLive: JoinedLive?
    private var calls = UnfinishedCalls()
    /// The back-off, which gives the longest pause before each reconnect: longer after each failure in a row.
    private var backOff = ExponentialBackOff(firstPause: Milliseconds(100), longestPause: .seconds(5))
    /// The id of the last received notice (a message to this user).
    ///
    /// A login after a reconnect names it, so that the server sends the notices that came later.
    private var lastNoticeID: String?
    private var nextID: Int64 = 1
    /// The id of the login on the current connection; 0 before the first login.
    private var loginID: Int64 = 0
    /// When a frame was last sent.
    private var lastSentAt = MonotonicTime.distantPast
    /// When to disconnect from the gateway, because it has announced its stop; nil if it has not announced a stop.
    private var drainDisconnectAt: MonotonicTime?
    private var random: SeededRandom

    package init(_ options: Options, seed: UInt64) {
        self.options = options
        self.random = SeededRandom(seed: seed)
    }

    /// The live that the client is in, or that it will resume after a reconnect.
    package var live: LiveID? { self.joinedLive?.live }

    /// Begins to connect; does nothing if the client was started before.
    package mutating func start(into actions: inout [Action]) {
        guard self.state == .idle else { return }
        self.state = .connecting
        actions.append(.connect(toNextAddress: false))
    }

    /// Ends the client; open and queued calls fail.
    ///
    /// The client cannot be restarted.
    package mutating func stop(into actions: inout [Action]) {
        guard self.state != .ended else { return }
        self.state = .ended
        actions.append(.disconnect)
        self.failCalls(ReplyError(.failed, "the client was stopped"), into: &actions)
    }

    /// Handles the opening of the WebSocket, by sending the login.
    package mutating func connected(at now: MonotonicTime, into actions: inout [Action]) {
        guard self.state == .connecting else { return }
        self.state = .loggingIn
        self.loginID = self.makeID()
        let params = LoginParams(
            token: self.options.token, session: self.options.session.text, name: self.options.name,
            avatarURL: self.options.avatarURL, resume: self.joinedLive?.resumePoint(after: self.tracker.token),
            notices: self.lastNoticeID)
        self.send(OutgoingCall(id: self.loginID, method: "login", params: Wire.encode(params)), at: now, into: &actions)
    }

    /// Handles the close of the WebSocket, or a failed attempt to open it (code 1006).
    package mutating func disconnected(code: UInt16, at now: MonotonicTime, into actions: inout [Action]) {
        guard self.state != .ended, self.state != .idle else { return }
        self.drainDisconnectAt = nil
        self.calls.connectionLost()
        guard self.options.reconnectsAutomatically, DisconnectCode.allowsReconnect(after: code) else {
            self.state = .ended
            actions.append(.event(.ended(code: code)))
            return self.failCalls(ReplyError(.failed, "the connection ended with code \(code)"), into: &actions)
        }
        self.reconnectCount += 1
        // The pause has full jitter: it is random between 0 and `longestPause`. So the clients of a dead gateway do not
        // reconnect at the same moment.
        let longestPause = self.backOff.nextPause()
        let pause = Milliseconds(Int64.random(in: 0...longestPause.count, using: &self.random))
        self.state = .waiting(until: now + pause)
        actions.append(.event(.disconnected(code: code)))
    }

    /// Begins a call.
    ///
    /// For the method `live.join`, `live` is the live to join, which the client remembers after the join. For other
    /// methods, `live` has no effect.
    ///
    /// - Returns: the call's id; the action `callEnded` reports the end of the call.
    package mutating func call(
        _ method: String, params: [UInt8], live: LiveID?, at now: MonotonicTime, into actions: inout [Action]
    ) -> Int64 {
        let id = self.makeID()
        if self.state == .ended {
            actions.append(.callEnded(id, .failure(error: ReplyError(.notLoggedIn, "the client has ended"))))
            return id
        }
        guard self.calls.count < self.options.maxUnfinishedCalls else {
            let error = ReplyError(
                .overloaded, "\(self.calls.count) calls wait already", retryAfter: Self.retryPause.count)
            actions.append(.callEnded(id, .failure(error: error)))
            return id
        }
        let deadline = now + Milliseconds(self.options.callTimeout)
        self.calls.append(.init(method: method, params: params, live: live, deadline: deadline), id: id)
        self.sendQueuedCalls(at: now, into: &actions)
        return id
    }

    /// Handles a received text, except for feed frames, which `feedReceived` handles.
    package mutating func received(_ text: [UInt8], at now: MonotonicTime, into actions: inout [Action]) {
        guard let frame = try? Wire.decode(ServerFrame.self, from: text) else { return }
        switch frame {
        case .reply(self.loginID, let outcome): self.loginReplyReceived(outcome, at: now, into: &actions)
        case .reply(let id, let outcome): self.replyReceived(id, outcome, at: now, into: &actions)
        // A frame with feed items or with history (messages from before the join) comes here only if `FeedScan` could
        // not read the frame, which is then ignored.
        case .feed, .history: break
        case .counts(let count): actions.append(.event(.counts(count)))
        case .notice(let id, let notice):
            self.lastNoticeID = id
            if self.joinedLive?.isKickedOut(by: notice) == true { self.forgetLive() }
            actions.append(.event(.notice(notice)))
        case .drain(let milliseconds):
            // The client disconnects at a random time, so that not all clients of the gateway connect to the next
            // gateway at once.
            let drainMilliseconds = min(Self.maxDrainTime.count, max(0, milliseconds))
            self.drainDisconnectAt =
                now + Milliseconds(Int64.random(in: 0...drainMilliseconds, using: &self.random))
            actions.append(.event(.draining))
        }
    }

    /// Handles a received feed frame.
    ///
    /// - Returns: which items of the frame are new.
    package mutating func feedReceived(_ scan: FeedScan) -> FeedOrderTracker.Verdict { self.tracker.record(scan) }

    /// Forgets the live after its end, a leave, a kick or a failed resume, so that a reconnect does not resume it.
    package mutating func forgetLive() {
        self.joinedLive = nil
        self.tracker = FeedOrderTracker()
    }

    /// Handles what is due at `now`: reconnects, timeouts of calls and pings; must be called a few times a second.
    package mutating func tick(at now: MonotonicTime, into actions: inout [Action]) {
        if case .waiting(let until) = self.state, until <= now {
            self.state = .connecting
            actions.append(.connect(toNextAddress: true))
        }
        while let id = self.calls.firstExpired(at: now) {
            let error = ReplyError(.timedOut, "no answer in time", retryAfter: Self.retryPause.count)
            self.endCall(id, .failure(error: error), into: &actions)
        }
        self.sendQueuedCalls(at: now, into: &actions)
        if let drainDisconnectAt = self.drainDisconnectAt, drainDisconnectAt <= now {
            self.drainDisconnectAt = nil
            actions.append(.disconnect)
        }
        if self.state == .open, now - self.lastSentAt >= Milliseconds(self.options.pingInterval) {
            self.send(OutgoingCall(id: self.makeID(), method: "ping"), at: now, into: &actions)
        }
    }
}

extension BareClientCore {
    private mutating func loginReplyReceived(_ outcome: Outcome, at now: MonotonicTime, into actions: inout [Action]) {
        guard self.state == .loggingIn else { return }
        switch outcome {
        case .success(let result): self.loginSucceeded(result, at: now, into: &actions)
        case .failure(let error): self.loginFailed(error, into: &actions)
        }
    }

    private mutating func loginSucceeded(_ result: CallResult, at now: MonotonicTime, into actions: inout [Action]) {
        self.state = .open
        self.backOff.reset()
        switch result {
        case .loggedIn(_, let user, _, let newestNoticeID, _):
            if self.lastNoticeID == nil { self.lastNoticeID = newestNoticeID }
            actions.append(.event(.loggedIn(user)))
        case .resumed(let ticket, let position, let replayed):
            self.joinedLive?.ticket = ticket
            // Without a replay the server does not send the missed items; the feed continues after `position`.
            if !replayed { self.tracker.resume(at: position) }
            if let live = self.live { actions.append(.event(.resumed(live, replayed: replayed))) }
        // No other result answers a login.
        default: break
        }
        self.sendQueuedCalls(at: now, into: &actions)
    }

    private mutating func loginFailed(_ error: ReplyError, into actions: inout [Action]) {
        switch LoginFailure(error) {
        case .end(let code):
            // The client does not wait for the server's close frame.
            self.state = .ended
            actions.append(.disconnect)
            actions.append(.event(.ended(code: code.code)))
            self.failCalls(error, into: &actions)
        // In the next two cases, the action `disconnect` closes the WebSocket. Then `disconnected` is called, which
        // begins the pause before the next login.
        case .forgetLive:
            if let live = self.live {
                self.forgetLive()
                actions.append(.event(.resumeFailed(live, error)))
            }
            actions.append(.disconnect)
        case .retry: actions.append(.disconnect)
        }
    }

    /// Ends the call that a reply answers, and records joins and leaves.
    private mutating func replyReceived(
        _ id: Int64, _ outcome: Outcome, at now: MonotonicTime, into actions: inout [Action]
    ) {
        // Replies to pings and to calls that have timed out end here: they answer no unfinished call.
        guard let call = self.calls[id] else { return }
        if case .success(let result) = outcome {
            switch (call.method, result) {
            case ("live.join", .joined(let ticket, let epoch, _, let token)):
                self.joined(call.live, ticket: ticket, epoch: epoch, startToken: token.flatMap { FeedToken(text: $0) })
            case ("live.leave", _): self.forgetLive()
            default: break
            }
        }
        self.endCall(id, outcome, into: &actions)
        self.sendQueuedCalls(at: now, into: &actions)
    }

    /// Records a join.
    ///
    /// If the client was in this live before, and the epoch is the same, the feed's numbers continue, so the tracker is
    /// kept. A live that is created again with the same id has a new epoch.
    private mutating func joined(_ live: LiveID?, ticket: Ticket, epoch: Int64, startToken: FeedToken?) {
        let isSameFeed = self.live == live && self.tracker.position?.epoch == epoch
        if !isSameFeed { self.tracker = FeedOrderTracker() }
        // If the reply has no token, the token of an earlier join of the same feed is kept.
        let startToken = startToken ?? (isSameFeed ? self.joinedLive?.startToken : nil)
        self.joinedLive = live.map { JoinedLive(live: $0, ticket: ticket, startToken: startToken) }
    }

    private mutating func endCall(_ id: Int64, _ outcome: Outcome, into actions: inout [Action]) {
        if self.calls.remove(id) { actions.append(.callEnded(id, outcome)) }
    }

    /// Ends all calls with an error.
    private mutating func failCalls(_ error: ReplyError, into actions: inout [Action]) {
        for id in self.calls.removeAll() { actions.append(.callEnded(id, .failure(error: error))) }
    }

    /// Sends queued calls in order, up to the limit of open calls.
    private mutating func sendQueuedCalls(at now: MonotonicTime, into actions: inout [Action]) {
        guard self.state == .open else { return }
        for frame in self.calls.openQueuedCalls(maxOpen: self.options.maxOpenCalls, at: now) {
            self.send(frame, at: now, into: &actions)
        }
    }

    private mutating func send(_ frame: OutgoingCall, at now: MonotonicTime, into actions: inout [Action]) {
        self.lastSentAt = now
        actions.append(.send(frame.bytes))
    }

    private mutating func makeID() -> Int64 {
        defer { self.nextID += 1 }
        return self.nextID
    }
}
