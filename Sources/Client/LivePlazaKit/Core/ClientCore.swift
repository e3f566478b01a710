// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The client's side of the protocol without IO: login, calls, resume, reconnect, heartbeat, renewal of tokens.
///
/// Each method takes an event and the time of a monotonic clock. It returns the actions that the owner of the core
/// performs, in order. The core reads no clock; its random numbers come from the closure that `init` gets.
struct ClientCore: Sendable {
    private(set) var options: Options
    /// The connection and the token.
    var link: Link
    var calls: CallQueue
    /// The live that the client is in, if any, and what a resume needs: its ticket, the feed position, the last notice.
    var membership = LiveMembership()
    /// The last join, and whether it is being repeated.
    var rejoin = Rejoin()
    /// The actions that `takeActions` has not returned yet.
    private var actions: [ClientAction] = []
    /// The id that the next new frame gets; a call that is sent again keeps its id.
    private var nextID: Int64
    /// The handle of the app's next call.
    ///
    /// A handle identifies a call outside the core, even before the call has an id.
    private var nextHandle = 1
    /// The last login on a new connection.
    private var login = OwnCall()
    /// The last login with a newer token on an open connection.
    private var renewal = OwnCall()
    /// The last ping.
    private var ping = OwnCall()

    /// A call that the client makes by itself.
    private struct OwnCall {
        /// 0 before the first call.
        var id: Int64 = 0
        var sentAt = MonotonicTime.distantPast
    }

    /// The maximum number of calls without an outcome.
    private static let maxUnfinishedCalls = 1000
    /// After which time the app may repeat a call that timed out or was rejected by this client.
    private static let retryPause = Milliseconds.seconds(1)
    /// The time within which a waiting client connects after a network is reported.
    ///
    /// Clients that get their network back at the same time then do not connect at the same time.
    private static let networkChangeSpread = Milliseconds.seconds(1)

    /// Creates a client, which begins to connect with `start`.
    init(_ options: Options, random: @escaping RandomSource) {
        self.options = options
        self.nextID = options.firstID
        self.calls = CallQueue(random: random)
        self.link = Link(
            hasTokenProvider: options.hasTokenProvider, pingInterval: options.pingInterval, random: random)
    }

    var state: LinkState { self.link.state }

    /// The token of the last login or renewal; nil if none is known.
    var token: String? { self.link.tokens.token }

    /// Begins to connect.
    ///
    /// `token`: the token of the login; nil to ask the token provider.
    mutating func start(_ token: TokenValue?, at now: MonotonicTime) -> [ClientAction] {
        guard self.state == .idle else { return [] }
        if let token { self.link.tokens.use(token, at: now) }
        self.link.startConnecting(at: now)
        return self.takeActions()
    }

    /// Ends the client for good; unfinished calls fail.
    mutating func stop() -> [ClientAction] {
        if self.state != .ended {
            self.link.end(code: ClientCloseCode.normal, ErrorInfo(.failed, "the client was stopped"), reportsEnd: false)
        }
        return self.takeActions()
    }

    /// The connection is open: logs in.
    mutating func connectionOpened(at now: MonotonicTime) -> [ClientAction] {
        guard self.state == .connecting else { return [] }
        self.prepareRejoin(at: now)
        self.link.loginSent(at: now)
        self.login = OwnCall(id: self.makeID(), sentAt: now)
        let options = self.options
        let params = LoginParams(
            token: self.link.tokens.token ?? "", session: options.session.text,
            name: options.name.isEmpty ? nil : options.name,
            avatarURL: options.avatarURL.isEmpty ? nil : options.avatarURL,
            resume: self.rejoin.isRepeating ? nil : self.membership.resumePoint,
            notices: self.membership.lastNotice)
        self.send(OutgoingFrame.call(self.login.id, "login", Wire.encode(params)), at: now)
        return self.takeActions()
    }

    /// The connection was closed, or an attempt to open it failed (code 1006).
    mutating func connectionClosed(code: Int, at now: MonotonicTime) -> [ClientAction] {
        // If the client has closed the connection by itself, the link has handled the end already.
        if self.link.isOpenOrOpening { self.link.connectionLost(code: code, at: now) }
        return self.takeActions()
    }

    /// The client cannot connect to any of its addresses, now or later: ends the client.
    mutating func noAddressUsable(_ error: ErrorInfo) -> [ClientAction] {
        if self.state == .connecting { self.link.end(code: ClientCloseCode.lost, error, reportsEnd: true) }
        return self.takeActions()
    }

    /// A frame was received.
    mutating func frameReceived(_ frame: IncomingFrame, at now: MonotonicTime) -> [ClientAction] {
        guard self.state == .loggingIn || self.state == .open else { return [] }
        self.link.pingSchedule.frameReceived(at: now)
        switch frame {
        case .reply(let id, let content): self.replyReceived(id, content, at: now)
        case .drain(let within):
            self.link.drain(within: within, at: now)
            self.emit([.draining])
        case .feed, .counts, .notice:
            self.emit(self.membership.frameReceived(frame))
            if self.rejoin.mustPing(self.membership) { self.sendPing(at: now) }
        case .unknown: break
        }
        return self.takeActions()
    }

    /// Makes a call.
    ///
    /// `live`: the live that the call is about; nil if it is about none.
    /// - Returns: the handle with which `callEnded` reports the end of the call, and the actions.
    mutating func call(
        _ method: String, params: [UInt8], live: LiveID?, at now: MonotonicTime
    ) -> (handle: Int, actions: [ClientAction]) {
        let handle = self.makeHandle()
        // An ended core stays ended: a new login needs a new core.
        if self.state == .idle || self.state == .ended {
            self.actions.append(.callEnded(handle: handle, .failure(ErrorInfo(.notLoggedIn, "log in first"))))
        } else if self.calls.count >= Self.maxUnfinishedCalls {
            let error = ErrorInfo(.overloaded, "too many calls wait", retryAfter: Self.retryPause)
            self.actions.append(.callEnded(handle: handle, .failure(error)))
        } else {
            let call = UnfinishedCall(
                handle: handle, method: method, params: params, live: live,
                deadline: now + self.options.callTimeout)
            self.calls.add(call)
            self.sendCalls(at: now)
        }
        return (handle, self.takeActions())
    }

    /// The token provider has answered; on an open connection, the client logs in again with the new token.
    mutating func tokenFetched(_ token: TokenValue, at now: MonotonicTime) -> [ClientAction] {
        self.link.tokenFetched(token, at: now)
        // A token that comes while a login is being answered is sent after the login's reply.
        if self.state == .open { self.renewToken(at: now) }
        return self.takeActions()
    }

    /// The token provider has failed and is asked again later.
    mutating func tokenFailed(at now: MonotonicTime) -> [ClientAction] {
        self.link.tokenFailed(at: now)
        return self.takeActions()
    }

    /// Checks the connection, because the app is active again or the network may be back: a connected client sends a
    /// ping, and a waiting client makes its next attempt sooner.
    ///
    /// `spread`: the attempt is made at a random moment within this time; 0 for at once.
    mutating func probeConnection(spread: Milliseconds = Milliseconds(0), at now: MonotonicTime) -> [ClientAction] {
        // Timers stand still while the device sleeps, so some may be overdue after a sleep.
        self.handleDue(at: now)
        self.link.shortenPause(spread: spread, at: now)
        // While a ping is unanswered, another one would tell nothing more.
        if self.state == .open, !self.link.pingSchedule.isAwaitingAnswer { self.sendPing(at: now) }
        return self.takeActions()
    }

    /// Records whether the system has a network, and checks the connection.
    ///
    /// Without a network, the client rarely tries to connect. A network that is reported may be a new one. A connection
    /// over the former network is then lost, but nothing reports the loss; a ping finds it. An open connection is also
    /// checked when the system reports the loss of its network, because the report may be wrong.
    mutating func setOnline(_ isOnline: Bool, at now: MonotonicTime) -> [ClientAction] {
        let isLoss = self.link.setOnline(isOnline, at: now)
        guard isOnline || (isLoss && self.state == .open) else { return self.takeActions() }
        return self.probeConnection(spread: Self.networkChangeSpread, at: now)
    }

    /// Sets the name and the picture for the next login; nil keeps the present one.
    mutating func setProfile(name: String?, avatarURL: String?) {
        if let name { self.options.name = name }
        if let avatarURL { self.options.avatarURL = avatarURL }
    }

    /// When `tick` must be called next; `distantFuture` if nothing is due.
    var dueAt: MonotonicTime { min(self.link.dueAt, self.calls.dueAt(isOpen: self.state == .open)) }

    /// Handles everything that is due at `now`.
    mutating func tick(at now: MonotonicTime) -> [ClientAction] {
        self.handleDue(at: now)
        return self.takeActions()
    }

    private mutating func handleDue(at now: MonotonicTime) {
        for call in self.calls.takeExpired(at: now) {
            let error = ErrorInfo(.timedOut, "no answer in time", retryAfter: Self.retryPause)
            self.endCall(call, .failure(error), at: now)
        }
        self.link.tick(at: now)
        self.applyLinkEffects()
        if self.state == .open, self.link.pingSchedule.pingAt <= now { self.sendPing(at: now) }
        self.sendCalls(at: now)
    }
}

extension ClientCore {
    private mutating func replyReceived(_ id: Int64, _ content: ReplyContent, at now: MonotonicTime) {
        switch id {
        // Once the client is logged in, a second reply to the login is ignored.
        case self.login.id: if self.state == .loggingIn { self.loginReplyReceived(content, at: now) }
        case self.renewal.id: self.renewalReplyReceived(content, at: now)
        case self.ping.id:
            // A failed ping is an answer, too; only the server's time is missing.
            if case .success(.pong(let time)) = content {
                self.serverTimeReceived(time, sentAt: self.ping.sentAt, at: now)
            }
            // All frames of the history have come before this reply.
            if self.rejoin.resumesAfterPing { self.link.disconnect(at: now) }
        default:
            if let call = self.calls.call(id: id) {
                self.callReplyReceived(call, content, at: now)
            } else if let call = self.calls.takeTimedOut(id: id) {
                self.lateReplyReceived(call, content.result, at: now)
            }
        }
    }

    private mutating func renewalReplyReceived(_ content: ReplyContent, at now: MonotonicTime) {
        switch content {
        // The server also closes the connection, and the close code decides what follows. In case the close does not
        // arrive, the token provider is asked again later.
        case .failure(let error):
            self.link.tokens.recordFailure(at: now)
            self.emit([.tokenRenewalFailed(error)])
        // A result that cannot be read is a success, too: the server has accepted the token.
        case .success, .unreadable: self.emit([.tokenRenewed])
        }
    }

    /// Ends a call of the app with its reply, or schedules the call's repeat if the reply is an error that permits it.
    private mutating func callReplyReceived(_ call: UnfinishedCall, _ content: ReplyContent, at now: MonotonicTime) {
        if case .failure(let error) = content, self.calls.scheduleRepeat(handle: call.handle, error, at: now) { return }
        self.calls.remove(handle: call.handle)
        self.endCall(call, content.result, at: now)
        self.sendCalls(at: now)
    }

    /// Reads the reply to a login, which is also a resume if the client is in a live.
    private mutating func loginReplyReceived(_ content: ReplyContent, at now: MonotonicTime) {
        switch content {
        case .failure(let error): return self.loginRejected(error, at: now)
        case .success(.resumed(let ticket, let position, let replayed)):
            self.emit(self.membership.resumed(ticket: ticket, position: position, replayed: replayed))
        case .success(.loggedIn(_, let user, _, let lastNoticeID, let time)):
            self.membership.startNotices(after: lastNoticeID)
            if let time { self.serverTimeReceived(time, sentAt: self.login.sentAt, at: now) }
            self.emit([.loggedIn(user)])
        case .success: return self.loginUnreadable(.badFrame("no login as the reply to a login"), at: now)
        case .unreadable(let error): return self.loginUnreadable(error, at: now)
        }
        self.link.loginSucceeded()
        if self.link.hasNewerToken { self.renewToken(at: now) }
        self.sendCalls(at: now)
    }

    /// Logs in again with the present token on the open connection.
    private mutating func renewToken(at now: MonotonicTime) {
        guard let token = self.link.tokens.token else { return }
        self.renewal = OwnCall(id: self.makeID(), sentAt: now)
        self.send(OutgoingFrame.call(self.renewal.id, "login", Wire.encode(LoginParams(token: token))), at: now)
    }

    /// Reconnects, because the reply to the login cannot be read.
    private mutating func loginUnreadable(_ error: ErrorInfo, at now: MonotonicTime) {
        self.emit([.badFrame(error)])
        self.link.disconnect(at: now)
    }

    /// Handles the error of a login, which may also be a resume.
    private mutating func loginRejected(_ error: ErrorInfo, at now: MonotonicTime) {
        let live = self.membership.live
        var minimumPause = Milliseconds(0)
        switch LoginVerdict(error, isResume: live != nil && !self.rejoin.isRepeating) {
        case .sameAsClose(let code): return self.link.loginRejected(error, sameAsCloseCode: code, at: now)
        case .end: return self.link.end(code: ClientCloseCode.normal, error, reportsEnd: true)
        case .dropLive:
            // A leave of the live may wait for this login; the app then learns of a leave, not of a failed resume.
            let isLeaving =
                if let live { self.calls.contains(about: live) { $0.method == "live.leave" } } else { false }
            self.emit(self.membership.resumeFailed(error, isLeaving: isLeaving))
        case .retry: minimumPause = error.retryPause ?? Milliseconds(0)
        }
        // After `dropLive` the client reconnects, too, and logs in without the live. Some errors of a resume leave the
        // connection logged in and others do not; a new connection makes the distinction unnecessary.
        self.link.disconnect(at: now, minimumPause: minimumPause)
    }

    /// Reports the end of a call, and updates the membership if the call was a join, a leave or an end of a live.
    private mutating func endCall(
        _ call: UnfinishedCall, _ result: Result<CallResult, ErrorInfo>, at now: MonotonicTime
    ) {
        if self.rejoin.isRepeat(call) { return self.rejoinEnded(result, at: now) }
        if call.isJoining, case .success = result { self.rejoin.joined(by: call) }
        let events = self.membership.callEnded(call, result)
        self.actions.append(.callEnded(handle: call.handle, result))
        self.emit(events)
    }

    mutating func sendCalls(at now: MonotonicTime) {
        self.applyLinkEffects()
        guard self.state == .open else { return }
        // The closure must not access `self` while `self.calls` is being changed, so it increments a copy of `nextID`.
        var nextID = self.nextID
        let frames = self.calls.takeFrames(at: now) {
            defer { nextID += 1 }
            return nextID
        }
        self.nextID = nextID
        // If this method has sent the join before, `joinSent` changes nothing.
        if let join = self.calls.sentJoin, let live = join.live {
            self.membership.joinSent(handle: join.handle, live: live)
        }
        for frame in frames { self.send(frame, at: now) }
    }

    private mutating func sendPing(at now: MonotonicTime) {
        self.ping = OwnCall(id: self.makeID(), sentAt: now)
        self.send(OutgoingFrame.call(self.ping.id, "ping", Array("{}".utf8)), at: now)
        self.link.pingSchedule.pingSent(at: now)
    }

    /// Emits the difference between the server's clock and this client's clock.
    private mutating func serverTimeReceived(_ time: Timestamp, sentAt: MonotonicTime, at now: MonotonicTime) {
        self.emit([.serverTime(ServerTimeOffset(time, callSentAt: sentAt, replyReceivedAt: now))])
    }

    private mutating func send(_ frame: [UInt8], at now: MonotonicTime) {
        self.applyLinkEffects()
        self.link.pingSchedule.frameSent(at: now)
        self.actions.append(.send(frame))
    }

    mutating func emit(_ events: [ClientEvent]) {
        self.applyLinkEffects()
        for event in events { self.actions.append(.event(event)) }
    }

    mutating func makeHandle() -> Int {
        defer { self.nextHandle += 1 }
        return self.nextHandle
    }

    private mutating func makeID() -> Int64 {
        defer { self.nextID += 1 }
        return self.nextID
    }

    /// Carries out the pending effects of the link; called before each further action, to keep the order.
    private mutating func applyLinkEffects() {
        for effect in self.link.takeEffects() {
            switch effect {
            case .perform(let action): self.actions.append(action)
            case .connectionLost: self.calls.connectionLost()
            case .ended(let error):
                for call in self.calls.takeAll() {
                    self.actions.append(.callEnded(handle: call.handle, .failure(error)))
                }
            }
        }
    }

    /// Removes and returns the actions that were added since this method last ran.
    private mutating func takeActions() -> [ClientAction] {
        self.applyLinkEffects()
        defer { self.actions = [] }
        return self.actions
    }
}
