// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// An action that the owner of a `ClientCore` performs.
enum ClientAction: Sendable {
    /// Open a WebSocket: to the next address of the list if `toNextAddress` is true, otherwise to the current one.
    case connect(toNextAddress: Bool)
    /// Send a text.
    case send([UInt8])
    /// Close the WebSocket, and ignore its further events.
    case disconnect(code: Int)
    /// Ask the token provider, then call `tokenFetched` or `tokenFailed`.
    case fetchToken
    /// The call with this handle has ended.
    case callEnded(handle: Int, Result<CallResult, ErrorInfo>)
    case event(ClientEvent)
}

/// The client's side of the protocol without IO: login, calls, resume, reconnect, heartbeat, renewal of tokens.
///
/// Each method takes an event and the time in milliseconds of any monotonic clock, and returns the actions that its
/// owner performs, in order. It reads no clock and makes no random numbers by itself.
struct ClientCore: Sendable {
    /// The options of a client.
    struct Options: Sendable {
        /// The name under which the server counts the client's calls.
        var session: SessionID
        /// The first call's id; it must be above all ids that this session has used before.
        var firstID: Int64 = 1
        /// Whether `fetchToken` actions can be performed.
        var hasTokenProvider: Bool
        /// The user's name for others, unless the token contains one; empty if it is not stated.
        var name = ""
        var avatarURL = ""
        /// How long a call may take, in milliseconds.
        var callTimeout = 15_000.0
        /// A ping is sent after a silence of this many milliseconds.
        var pingInterval = 20_000.0

        init(session: SessionID, hasTokenProvider: Bool) {
            self.session = session
            self.hasTokenProvider = hasTokenProvider
        }
    }

    private var options: Options
    private var link: Link
    private var calls: CallQueue
    private var place = LivePlace()
    private var actions: [ClientAction] = []
    private var nextID: Int64
    private var nextHandle = 1
    private var loginID: Int64 = 0
    private var renewalID: Int64 = 0

    /// The maximum number of calls without an outcome.
    private static let maxUnfinished = 1000

    /// Creates a client, which begins to connect with `start`.
    init(_ options: Options, random: @escaping Chance) {
        self.options = options
        self.nextID = options.firstID
        self.calls = CallQueue(random: random)
        self.link = Link(
            hasTokenProvider: options.hasTokenProvider, pingInterval: options.pingInterval, random: random)
    }

    var state: LinkState { self.link.state }

    /// Begins to connect.
    ///
    /// `token`: the token of the login; nil to ask the token provider.
    mutating func start(_ token: TokenValue?, at now: Double) -> [ClientAction] {
        guard self.state == .idle else { return [] }
        if let token { self.link.tokens.use(token, at: now) }
        self.link.begin(toNextAddress: false, at: now)
        return self.take()
    }

    /// Ends the client for good; unfinished calls fail.
    mutating func stop() -> [ClientAction] {
        if self.state != .ended {
            self.link.end(code: CloseCode.normal, ErrorInfo(.failed, "the client was stopped"), reportsEnd: false)
        }
        return self.take()
    }

    /// The connection is open: logs in.
    mutating func opened(at now: Double) -> [ClientAction] {
        guard self.state == .connecting else { return [] }
        self.link.loggingIn(at: now)
        self.loginID = self.makeID()
        let options = self.options
        let params = LoginParams(
            token: self.link.tokens.text ?? "", session: options.session.text,
            name: options.name.isEmpty ? nil : options.name,
            avatarURL: options.avatarURL.isEmpty ? nil : options.avatarURL, resume: self.place.resumePoint,
            notices: self.place.lastNotice)
        self.send(OutgoingFrame.call(self.loginID, "login", Wire.encode(params)), at: now)
        return self.take()
    }

    /// The connection was closed, or an attempt to open it failed (1006).
    mutating func closed(code: Int, at now: Double) -> [ClientAction] {
        if self.link.isUp { self.link.lost(code: code, at: now) }
        return self.take()
    }

    /// A frame was received.
    mutating func received(_ frame: IncomingFrame, at now: Double) -> [ClientAction] {
        guard self.state == .loggingIn || self.state == .open else { return [] }
        self.link.heartbeat.received(at: now)
        switch frame {
        case .reply(let id, let content): self.reply(id, content, at: now)
        case .drain(let within):
            self.link.drain(within: within, at: now)
            self.tell([.draining])
        case .feed, .counts, .notice: self.tell(self.place.received(frame))
        case .unknown: break
        }
        return self.take()
    }

    /// Makes a call.
    ///
    /// `live`: the live that the call is about.
    /// Returns the handle with which `callEnded` reports the end of the call, and the actions.
    mutating func call(
        _ method: String, params: [UInt8], live: LiveID?, at now: Double
    ) -> (handle: Int, actions: [ClientAction]) {
        let handle = self.nextHandle
        self.nextHandle += 1
        if self.state == .idle || self.state == .ended {
            self.actions.append(.callEnded(handle: handle, .failure(ErrorInfo(.notLoggedIn, "log in first"))))
        } else if self.calls.count >= Self.maxUnfinished {
            let error = ErrorInfo(.overloaded, "too many calls wait", retryAfter: 1000)
            self.actions.append(.callEnded(handle: handle, .failure(error)))
        } else {
            let call = UnfinishedCall(
                handle: handle, method: method, params: params, live: live,
                deadline: now + self.options.callTimeout)
            self.calls.add(call)
            if call.isJoining, let live { self.place.joining(live) }
            self.sendCalls(at: now)
        }
        return (handle, self.take())
    }

    /// The token provider has answered.
    mutating func tokenFetched(_ token: TokenValue, at now: Double) -> [ClientAction] {
        self.link.tokenFetched(token, at: now)
        if self.state == .open {
            self.renewalID = self.makeID()
            let params = Wire.encode(LoginParams(token: token.text))
            self.send(OutgoingFrame.call(self.renewalID, "login", params), at: now)
        }
        return self.take()
    }

    /// The token provider has failed and is asked again later.
    mutating func tokenFailed(at now: Double) -> [ClientAction] {
        self.link.tokenFailed(at: now)
        return self.take()
    }

    /// Connects at once or checks the connection, because the app is shown again or the network may be back.
    ///
    /// `spread`: over how many milliseconds to spread the attempt.
    mutating func probe(spread: Double = 0, at now: Double) -> [ClientAction] {
        if self.link.probe(spread: spread, at: now) { self.ping(at: now) }
        return self.take()
    }

    /// Records whether the system reports a network.
    ///
    /// Without one, attempts to connect are rare.
    mutating func setOnline(_ isOnline: Bool, at now: Double) -> [ClientAction] {
        self.link.setOnline(isOnline, at: now) && isOnline ? self.probe(spread: 1000, at: now) : self.take()
    }

    /// Sets the name and the picture for the next login; nil keeps the present one.
    mutating func setProfile(name: String?, avatarURL: String?) {
        if let name { self.options.name = name }
        if let avatarURL { self.options.avatarURL = avatarURL }
    }

    /// When `tick` must be called next, in milliseconds of the clock; infinite if nothing is due.
    var dueAt: Double { min(self.link.dueAt, self.calls.dueAt(isOpen: self.state == .open)) }

    /// Handles everything that is due at `now`.
    mutating func tick(at now: Double) -> [ClientAction] {
        for call in self.calls.takeExpired(at: now) {
            self.callEnded(call, .failure(ErrorInfo(.timedOut, "no answer in time", retryAfter: 1000)))
        }
        self.link.tick(at: now)
        self.settle()
        if self.state == .open, self.link.heartbeat.pingAt <= now { self.ping(at: now) }
        self.sendCalls(at: now)
        return self.take()
    }
}

extension ClientCore {
    private mutating func reply(_ id: Int64, _ content: ReplyContent, at now: Double) {
        if id == self.loginID {
            if self.state == .loggingIn { self.loginReply(content, at: now) }
        } else if id == self.renewalID {
            // If the server refuses the new token, it closes the connection, and the close code decides what follows.
            switch content {
            case .failure(let error):
                _ = self.link.tokens.recordFailure(at: now)
                self.tell([.renewalFailed(error)])
            case .success, .unreadable: self.tell([.renewed])
            }
        } else if let call = self.calls.call(id: id) {
            if case .failure(let error) = content, self.calls.scheduleRepeat(handle: call.handle, error, at: now) {
                return
            }
            self.calls.remove(handle: call.handle)
            self.callEnded(call, content.result)
            self.sendCalls(at: now)
        }
    }

    /// Reads the reply to a login or to a resume.
    private mutating func loginReply(_ content: ReplyContent, at now: Double) {
        switch content {
        case .failure(let error): return self.loginRefused(error, at: now)
        case .success(.resumed(let ticket, let position, let replayed)):
            self.tell(self.place.resumed(ticket: ticket, position: position, replayed: replayed))
        case .success(.loggedIn(_, let user, _, let notices, _)):
            self.place.noticesFrom(notices)
            self.tell([.loggedIn(user)])
        case .success: return self.loginUnreadable(.badFrame("no login as the reply to a login"), at: now)
        case .unreadable(let error): return self.loginUnreadable(error, at: now)
        }
        self.link.opened()
        self.sendCalls(at: now)
    }

    /// Reconnects, because the reply to the login cannot be read.
    private mutating func loginUnreadable(_ error: ErrorInfo, at now: Double) {
        self.tell([.badFrame(error)])
        self.link.disconnect(at: now)
    }

    private mutating func loginRefused(_ error: ErrorInfo, at now: Double) {
        let live = self.place.live
        let verdict = LoginVerdict(error, isResume: live != nil)
        switch verdict {
        case .closed(let code): return self.link.lost(code: code, at: now, error: error)
        case .end: return self.link.end(code: CloseCode.normal, error, reportsEnd: true)
        case .lost:
            let isLeaving = live.map { self.calls.contains("live.leave", $0) } ?? false
            self.tell(self.place.lost(error, isLeaving: isLeaving))
        case .again: break
        }
        // The client reconnects after `lost` too. Whether the login itself succeeded then depends on the error, while a
        // new login without the live is certain to be a whole one.
        self.link.disconnect(at: now, atLeast: verdict == .again ? error.retryMilliseconds ?? 0 : 0)
    }

    /// Ends a call, and updates the client's place if it was a join or a leave.
    private mutating func callEnded(_ call: UnfinishedCall, _ result: Result<CallResult, ErrorInfo>) {
        let events = self.place.callEnded(call, result)
        self.actions.append(.callEnded(handle: call.handle, result))
        self.tell(events)
    }

    private mutating func sendCalls(at now: Double) {
        self.settle()
        guard self.state == .open else { return }
        var nextID = self.nextID
        let frames = self.calls.takeFrames(at: now) {
            defer { nextID += 1 }
            return nextID
        }
        self.nextID = nextID
        for frame in frames { self.send(frame, at: now) }
    }

    private mutating func ping(at now: Double) {
        self.send(OutgoingFrame.call(self.makeID(), "ping", Array("{}".utf8)), at: now)
        self.link.heartbeat.pinged(at: now)
    }

    private mutating func send(_ frame: [UInt8], at now: Double) {
        self.settle()
        self.link.heartbeat.sent(at: now)
        self.actions.append(.send(frame))
    }

    private mutating func tell(_ events: [ClientEvent]) {
        self.settle()
        for event in events { self.actions.append(.event(event)) }
    }

    private mutating func makeID() -> Int64 {
        defer { self.nextID += 1 }
        return self.nextID
    }

    /// Carries out the pending effects of the link; called before each further action, to keep the order.
    private mutating func settle() {
        for effect in self.link.takeEffects() {
            switch effect {
            case .act(let action): self.actions.append(action)
            case .lost: self.calls.connectionLost()
            case .ended(let error):
                for call in self.calls.takeAll() {
                    self.actions.append(.callEnded(handle: call.handle, .failure(error)))
                }
            }
        }
    }

    private mutating func take() -> [ClientAction] {
        self.settle()
        defer { self.actions = [] }
        return self.actions
    }
}
