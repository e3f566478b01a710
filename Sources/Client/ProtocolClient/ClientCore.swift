// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
package import PlazaModel
internal import PlazaWire

/// The client's side of the protocol without IO: login, calls, resume and reconnect.
///
/// Each method handles an event at a time (milliseconds of any monotonic clock), and appends actions. If the connection
/// breaks while a call is open, the client sends the call again after the next login, with the same id in the same
/// session. Therefore the server never applies it twice (I15).
package struct ClientCore: Sendable {
    /// The options of a client.
    package struct Options: Sendable {
        package var token: String
        package var session: SessionID
        package var name: String
        package var avatarURL: String
        /// Whether the client reconnects by itself.
        package var reconnectsAutomatically = true
        /// The maximum number of open calls (sent and not answered); further calls are queued.
        package var maxOpenCalls = 16
        /// The maximum number of calls that are open or queued; further calls fail with `overloaded`.
        package var maxUnfinishedCalls = 1000
        /// How long a call may wait for its reply before it fails.
        package var callTimeout = Duration.seconds(15)
        /// The client sends a ping when it has sent no frame for this time; it must be well below the lease of 90 s.
        package var pingInterval = Duration.seconds(20)

        package init(token: String, session: SessionID, name: String = "", avatarURL: String = "") {
            self.token = token
            self.session = session
            self.name = name
            self.avatarURL = avatarURL
        }
    }

    /// An action that the owner of the core must perform.
    package enum Action: Hashable, Sendable {
        /// Open a WebSocket: if `toNextAddress`, to the next address in the list, otherwise to the current address.
        case connect(toNextAddress: Bool)
        /// Send a text frame with these bytes.
        case send([UInt8])
        /// Close the WebSocket; `disconnected` must be called afterwards, as after any close.
        case disconnect
        /// Report the outcome of the call with this id.
        case callEnded(Int64, Outcome)
        /// Report an event.
        case event(Event)
    }

    /// An event for the user of the client.
    package enum Event: Hashable, Sendable {
        case loggedIn(UserInfo)
        /// The client is in the live again after a reconnect. If `replayed` is false, the server does not send the missed
        /// items, and the app should load the details of the live again.
        case resumed(LiveID, replayed: Bool)
        /// The live could not be resumed.
        case resumeFailed(LiveID, ReplyError)
        /// The counts of the live have changed.
        case counts(LiveCount)
        case notice(Notice)
        /// The gateway stops soon; the client will reconnect.
        case draining
        /// The connection was lost; the client will reconnect.
        case disconnected(code: UInt16)
        /// The client has ended and will not reconnect.
        case ended(code: UInt16)
    }

    /// The states of a client.
    package enum State: Hashable, Sendable {
        /// `start` was not called yet; `connecting` follows.
        case idle
        /// A WebSocket is being opened; `loggingIn` or `waiting` follows.
        case connecting
        /// The login was sent; `open`, `waiting` or `ended` follows.
        case loggingIn
        /// Calls are sent and answered; `waiting` or `ended` follows.
        case open
        /// The client reconnects at the time `until`; `connecting` follows.
        case waiting(until: Int64)
        /// The client has ended and cannot be restarted.
        case ended
    }

    /// A call that is open or queued, so it has no outcome yet.
    private struct UnfinishedCall {
        var method: String
        var params: [UInt8]
        var live: LiveID?
        var deadline: Int64
        /// When the call was first sent; nil: never.
        ///
        /// A later copy states its age, so that the server does not apply it twice (PROTOCOL.md, section 4.1).
        var firstSentAt: Int64?
        /// Whether the call was sent on the current connection.
        var isSent: Bool
    }

    package private(set) var state = State.idle
    /// The live that the client is in.
    package private(set) var live: LiveID?
    package private(set) var tracker = FeedTracker()
    /// How often the client has lost its connection and has begun to reconnect.
    package private(set) var reconnectCount = 0

    private let options: Options
    private var ticket: Ticket?
    /// The position at which the live's feed begins for this client, from the reply to its join.
    ///
    /// Used until the first feed frame is received.
    private var startToken: FeedToken?
    /// The id of the last received notice; after a reconnect, the server sends the notices after it.
    private var lastNoticeID: String?
    private var nextID: Int64 = 1
    private var calls: [Int64: UnfinishedCall] = [:]
    /// The ids of the unfinished calls, in the order in which they were made.
    private var callOrder: [Int64] = []
    /// The number of calls that were sent on the current connection and not answered.
    private var openCallCount = 0
    /// The id of the login on the current connection.
    private var loginID: Int64 = 0
    /// The number of disconnects since the last successful login.
    private var failureCount = 0
    /// When a frame was last sent.
    private var lastSentAt: Int64 = 0
    /// When to disconnect from a gateway that announced its stop.
    private var drainDisconnectAt: Int64?
    private var random: SeededRandom

    package init(_ options: Options, seed: UInt64) {
        self.options = options
        self.random = SeededRandom(seed: seed)
    }

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

    /// Handles the opening of the WebSocket: sends the login.
    package mutating func connected(at now: Int64, into actions: inout [Action]) {
        guard self.state == .connecting else { return }
        self.state = .loggingIn
        self.loginID = self.makeID()
        var resume: ResumePoint?
        if let live = self.live, let ticket = self.ticket {
            let token = self.tracker.token ?? self.startToken ?? FeedToken(FeedPosition(epoch: 0, number: 0))
            resume = ResumePoint(live: live, ticket: ticket, position: token.position, token: token.text)
        }
        let params = LoginParams(
            token: self.options.token, session: self.options.session.text, name: self.options.name,
            avatarURL: self.options.avatarURL, resume: resume, notices: self.lastNoticeID)
        self.send(Self.frame(self.loginID, "login", Wire.encode(params)), at: now, into: &actions)
    }

    /// Handles the close of the WebSocket, or a failed attempt to open it (code 1006).
    package mutating func disconnected(code: UInt16, at now: Int64, into actions: inout [Action]) {
        guard self.state != .ended, self.state != .idle else { return }
        self.openCallCount = 0
        self.drainDisconnectAt = nil
        for id in self.callOrder { self.calls[id]?.isSent = false }
        guard self.options.reconnectsAutomatically, DisconnectCode.allowsReconnect(after: code) else {
            self.state = .ended
            actions.append(.event(.ended(code: code)))
            return self.failCalls(ReplyError(.failed, "the connection ended with code \(code)"), into: &actions)
        }
        self.reconnectCount += 1
        // Full jitter, so that the clients of a dead gateway do not reconnect at the same moment. The longest pause
        // doubles from 100 ms to 5 s.
        let maxPause = min(5_000, 100 << min(self.failureCount, 6))
        self.failureCount += 1
        self.state = .waiting(until: now + Int64.random(in: 0...Int64(maxPause), using: &self.random))
        actions.append(.event(.disconnected(code: code)))
    }

    /// Begins a call.
    ///
    /// - Returns: the call's id; `callEnded` reports its end.
    package mutating func call(
        _ method: String, params: [UInt8], live: LiveID?, at now: Int64, into actions: inout [Action]
    ) -> Int64 {
        let id = self.makeID()
        guard self.state != .ended, self.callOrder.count < self.options.maxUnfinishedCalls else {
            let reason = self.state == .ended ? "the client has ended" : "\(self.callOrder.count) calls wait already"
            actions.append(.callEnded(id, .failure(error: ReplyError(.overloaded, reason, retryAfter: 1000))))
            return id
        }
        self.calls[id] = UnfinishedCall(
            method: method, params: params, live: live,
            deadline: now + Milliseconds(self.options.callTimeout).count, isSent: false)
        self.callOrder.append(id)
        self.sendQueuedCalls(at: now, into: &actions)
        return id
    }

    /// Handles a received text that is not a feed frame.
    package mutating func received(_ text: [UInt8], at now: Int64, into actions: inout [Action]) {
        guard let frame = try? Wire.decode(ServerFrame.self, from: text) else { return }
        switch frame {
        case .reply(let id, let outcome):
            if id == self.loginID { self.loginReplyReceived(outcome, at: now, into: &actions) }
            self.replyReceived(id, outcome, at: now, into: &actions)
        case .feed, .history: break
        case .counts(let count): actions.append(.event(.counts(count)))
        case .notice(let id, let notice):
            self.lastNoticeID = id
            // `floor` is the lowest ticket that is still valid. A client with a valid ticket ignores the kick: it joined
            // after the kick, or the kick removed the user's other device.
            if case .kickedOut = notice.content, notice.live == self.live,
                notice.floor.map({ floor in self.ticket.map { $0 < floor } ?? true }) ?? true
            {
                self.forgetLive()
            }
            actions.append(.event(.notice(notice)))
        case .drain(let milliseconds):
            // The client disconnects at a random time, so that not all clients of the gateway connect to the next
            // gateway at once.
            self.drainDisconnectAt = now + Int64.random(in: 0...min(60_000, max(0, milliseconds)), using: &self.random)
            actions.append(.event(.draining))
        }
    }

    /// Handles a received feed frame.
    ///
    /// - Returns: which items of the frame are new.
    package mutating func feedReceived(_ scan: FeedScan) -> FeedTracker.Verdict { self.tracker.record(scan) }

    /// Forgets the live after its end or a leave, so that a reconnect does not resume it.
    package mutating func forgetLive() {
        self.live = nil
        self.ticket = nil
        self.startToken = nil
        self.tracker = FeedTracker()
    }

    /// Handles timeouts, pauses and pings; must be called a few times a second.
    package mutating func tick(at now: Int64, into actions: inout [Action]) {
        if case .waiting(let until) = self.state, until <= now {
            self.state = .connecting
            actions.append(.connect(toNextAddress: true))
        }
        while let id = self.callOrder.first, let call = self.calls[id], call.deadline <= now {
            self.endCall(
                id, .failure(error: ReplyError(.timedOut, "no answer in time", retryAfter: 1000)), into: &actions)
        }
        if let drainDisconnectAt = self.drainDisconnectAt, drainDisconnectAt <= now {
            self.drainDisconnectAt = nil
            actions.append(.disconnect)
        }
        if self.state == .open, now - self.lastSentAt >= Milliseconds(self.options.pingInterval).count {
            self.send(Self.frame(self.makeID(), "ping", []), at: now, into: &actions)
        }
    }
}

extension ClientCore {
    private mutating func loginReplyReceived(_ outcome: Outcome, at now: Int64, into actions: inout [Action]) {
        guard self.state == .loggingIn else { return }
        switch outcome {
        case .success(let result):
            self.state = .open
            self.failureCount = 0
            switch result {
            case .loggedIn(_, let user, _, let notices, _):
                if self.lastNoticeID == nil { self.lastNoticeID = notices }
                actions.append(.event(.loggedIn(user)))
            case .resumed(let ticket, let position, let replayed):
                self.ticket = ticket
                if !replayed { self.tracker.resume(at: position) }
                if let live = self.live { actions.append(.event(.resumed(live, replayed: replayed))) }
            default: break
            }
            self.sendQueuedCalls(at: now, into: &actions)
        case .failure(let error):
            let endCode: DisconnectCode? =
                switch error.code {
                case .tokenExpired: .tokenExpired
                case .tokenInvalid: .tokenRefused
                case .signedInElsewhere: .kickedOffline
                case .overLimit: .tooManyConnections
                default: nil
                }
            if let endCode {
                // The server would reject the same login again. Therefore the client ends now and does not wait for the
                // server's close frame.
                self.state = .ended
                actions.append(.disconnect)
                actions.append(.event(.ended(code: endCode.code)))
                return self.failCalls(error, into: &actions)
            }
            // The login or the resume failed. After a temporary error, the next login resumes the live again.
            let isPermanent = ![.unavailable, .timedOut, .overloaded, .tooFrequent].contains(error.code)
            if let live = self.live, isPermanent {
                self.forgetLive()
                actions.append(.event(.resumeFailed(live, error)))
            }
            actions.append(.disconnect)
        }
    }

    /// Ends the call that a reply answers, and records joins and leaves.
    private mutating func replyReceived(_ id: Int64, _ outcome: Outcome, at now: Int64, into actions: inout [Action]) {
        guard let call = self.calls[id] else { return }
        if case .success(let result) = outcome {
            switch (call.method, result) {
            case ("live.join", .joined(let ticket, let epoch, _, let token)):
                if self.live != call.live || self.tracker.position?.epoch != epoch { self.tracker = FeedTracker() }
                self.startToken = token.flatMap { FeedToken(text: $0) } ?? self.startToken
                self.live = call.live
                self.ticket = ticket
            case ("live.leave", _): self.forgetLive()
            default: break
            }
        }
        self.endCall(id, outcome, into: &actions)
        self.sendQueuedCalls(at: now, into: &actions)
    }

    private mutating func endCall(_ id: Int64, _ outcome: Outcome, into actions: inout [Action]) {
        guard let call = self.calls.removeValue(forKey: id) else { return }
        if call.isSent { self.openCallCount -= 1 }
        if let index = self.callOrder.firstIndex(of: id) { self.callOrder.remove(at: index) }
        actions.append(.callEnded(id, outcome))
    }

    /// Ends all calls with an error.
    private mutating func failCalls(_ error: ReplyError, into actions: inout [Action]) {
        for id in self.callOrder { actions.append(.callEnded(id, .failure(error: error))) }
        self.callOrder = []
        self.calls = [:]
        self.openCallCount = 0
    }

    /// Sends queued calls in order, up to the limit of open calls.
    private mutating func sendQueuedCalls(at now: Int64, into actions: inout [Action]) {
        guard self.state == .open, self.openCallCount < self.options.maxOpenCalls else { return }
        for id in self.callOrder {
            guard self.openCallCount < self.options.maxOpenCalls else { break }
            guard let call = self.calls[id], !call.isSent else { continue }
            self.calls[id]?.isSent = true
            self.calls[id]?.firstSentAt = call.firstSentAt ?? now
            self.openCallCount += 1
            let age = call.firstSentAt.map { max(0, now - $0) }
            self.send(Self.frame(id, call.method, call.params, age: age), at: now, into: &actions)
        }
    }

    private mutating func send(_ bytes: [UInt8], at now: Int64, into actions: inout [Action]) {
        self.lastSentAt = now
        actions.append(.send(bytes))
    }

    private mutating func makeID() -> Int64 {
        defer { self.nextID += 1 }
        return self.nextID
    }

    /// The bytes of a call's frame; `params` is JSON, or empty for a call without parameters.
    private static func frame(_ id: Int64, _ method: String, _ params: [UInt8], age: Int64? = nil) -> [UInt8] {
        var bytes = Array("{".utf8)
        if let age { bytes += Array("\"age\":\(age),".utf8) }
        bytes += Array("\"id\":\(id),\"method\":\"\(method)\"".utf8)
        if !params.isEmpty {
            bytes += Array(",\"params\":".utf8)
            bytes += params
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
