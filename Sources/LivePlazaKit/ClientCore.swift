// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
package import PlazaModel
internal import PlazaWire

/// A client's side of the protocol, without IO: login, calls, resume, reconnect.
///
/// Events go in with the time (any monotonic milliseconds), actions come out. A call that is open when the connection
/// breaks is sent again after the next login, with the same id in the same session, so it is never applied twice (I15).
package struct ClientCore: Sendable {
    /// How the client behaves.
    package struct Options: Sendable {
        package var token: String
        package var session: SessionID
        package var name: String
        package var avatarURL: String
        /// Whether it connects again by itself.
        package var reconnects = true
        /// Calls that may be open at once; further ones wait here.
        package var openCalls = 16
        /// Calls that may wait; further ones are refused.
        package var waitingCalls = 1000
        /// After how long without an answer a call fails.
        package var callMilliseconds: Int64 = 15_000
        /// How often the client shows that it lives; well within the lease of 90 s.
        package var pingMilliseconds: Int64 = 20_000

        package init(token: String, session: SessionID, name: String = "", avatarURL: String = "") {
            self.token = token
            self.session = session
            self.name = name
            self.avatarURL = avatarURL
        }
    }

    /// What the owner must do.
    package enum Action: Hashable, Sendable {
        /// Open a WebSocket: to the next address than last time if `elsewhere`.
        case connect(elsewhere: Bool)
        case send([UInt8])
        /// End the WebSocket; its close is then an event as any other.
        case disconnect
        case callEnded(Int64, Outcome)
        case event(Event)
    }

    /// What happened, for the one who uses the client.
    package enum Event: Hashable, Sendable {
        case loggedIn(UserInfo)
        /// In the live again after a reconnect; not replayed: take the live's details as the new beginning.
        case resumed(LiveID, replayed: Bool)
        /// The live could not be entered again.
        case lost(LiveID, ReplyError)
        case counts(LiveCount)
        case notice(Notice)
        case draining
        case disconnected(code: UInt16)
        /// No reconnect will be tried.
        case ended(code: UInt16)
    }

    /// Where the client stands.
    package enum State: Hashable, Sendable {
        /// Before `start`; then connecting.
        case idle
        /// A WebSocket is being opened; then loggingIn or waiting.
        case connecting
        /// The login is on its way; then open, waiting or ended.
        case loggingIn
        /// Calls flow; then waiting or ended.
        case open
        /// Connects again at that time; then connecting.
        case waiting(until: Int64)
        /// Over for good.
        case ended
    }

    private struct OpenCall {
        var bytes: [UInt8]
        var method: String
        var live: LiveID?
        var deadline: Int64
        var isSent: Bool
    }

    package private(set) var state = State.idle
    /// The live that the client is in.
    package private(set) var live: LiveID?
    package private(set) var tracker = FeedTracker()
    /// How often the connection was lost.
    package private(set) var reconnects = 0

    private let options: Options
    private var ticket: Ticket?
    private var lastNotice: String?
    private var nextID: Int64 = 1
    private var calls: [Int64: OpenCall] = [:]
    private var order: [Int64] = []
    private var sent = 0
    private var loginID: Int64 = 0
    private var failures = 0
    private var lastSent: Int64 = 0
    /// When to leave a gateway that stops.
    private var leavesAt: Int64?
    private var random: SeededRandom

    package init(_ options: Options, seed: UInt64) {
        self.options = options
        self.random = SeededRandom(seed: seed)
    }

    /// Begins to connect.
    package mutating func start(into actions: inout [Action]) {
        guard self.state == .idle else { return }
        self.state = .connecting
        actions.append(.connect(elsewhere: false))
    }

    /// Ends for good; open calls fail.
    package mutating func stop(into actions: inout [Action]) {
        guard self.state != .ended else { return }
        self.state = .ended
        actions.append(.disconnect)
        self.failCalls(ReplyError(.failed, "the client was stopped"), into: &actions)
    }

    /// The WebSocket is open.
    package mutating func connected(at now: Int64, into actions: inout [Action]) {
        guard self.state == .connecting else { return }
        self.state = .loggingIn
        self.loginID = self.takeID()
        var resume: ResumePoint?
        if let live = self.live, let ticket = self.ticket {
            let token = self.tracker.token ?? FeedToken(FeedPosition(epoch: 0, number: 0))
            resume = ResumePoint(live: live, ticket: ticket, position: token.position, token: token.text)
        }
        let params = LoginParams(
            token: self.options.token, session: self.options.session.text, name: self.options.name,
            avatarURL: self.options.avatarURL, resume: resume, notices: self.lastNotice)
        self.send(Self.frame(self.loginID, "login", Wire.encode(params)), at: now, into: &actions)
    }

    /// The WebSocket is closed, or could not be opened (code 1006).
    package mutating func disconnected(code: UInt16, at now: Int64, into actions: inout [Action]) {
        guard self.state != .ended, self.state != .idle else { return }
        self.sent = 0
        self.leavesAt = nil
        for id in self.order { self.calls[id]?.isSent = false }
        let mayReconnect = !(4100...4199).contains(code)
        guard self.options.reconnects, mayReconnect else {
            self.state = .ended
            actions.append(.event(.ended(code: code)))
            return self.failCalls(ReplyError(.failed, "the connection ended with code \(code)"), into: &actions)
        }
        self.reconnects += 1
        // Full jitter, so that the clients of a gateway that died do not come back as one.
        let ceiling = min(5_000, 100 << min(self.failures, 6))
        self.failures += 1
        self.state = .waiting(until: now + Int64.random(in: 0...Int64(ceiling), using: &self.random))
        actions.append(.event(.disconnected(code: code)))
    }

    /// Asks for something.
    ///
    /// - Returns: the call's id; its end is told by `callEnded`.
    package mutating func call(
        _ method: String, params: [UInt8], live: LiveID?, at now: Int64, into actions: inout [Action]
    ) -> Int64 {
        let id = self.takeID()
        guard self.state != .ended, self.order.count < self.options.waitingCalls else {
            let why = self.state == .ended ? "the client has ended" : "\(self.order.count) calls wait already"
            actions.append(.callEnded(id, .failure(error: ReplyError(.overloaded, why, retryAfter: 1000))))
            return id
        }
        self.calls[id] = OpenCall(
            bytes: Self.frame(id, method, params), method: method, live: live,
            deadline: now + self.options.callMilliseconds, isSent: false)
        self.order.append(id)
        self.sendWaiting(at: now, into: &actions)
        return id
    }

    /// A text came that is no feed frame.
    package mutating func received(_ text: [UInt8], at now: Int64, into actions: inout [Action]) {
        guard let frame = try? Wire.decode(ServerFrame.self, from: text) else { return }
        switch frame {
        case .reply(let id, let outcome):
            if id == self.loginID { self.loginAnswered(outcome, at: now, into: &actions) }
            self.answered(id, outcome, at: now, into: &actions)
        case .feed, .history: break
        case .counts(let count): actions.append(.event(.counts(count)))
        case .notice(let id, let notice):
            self.lastNotice = id
            // A kick of before the last join is past; one for another device's sake names the ticket that stays.
            if case .kickedOut = notice.content, notice.live == self.live,
                notice.floor.map({ floor in self.ticket.map { $0 < floor } ?? true }) ?? true
            {
                self.leaveRoom()
            }
            actions.append(.event(.notice(notice)))
        case .drain(let milliseconds):
            // Not at once: the gateway's clients would all come to the next one together.
            self.leavesAt = now + Int64.random(in: 0...min(60_000, max(0, milliseconds)), using: &self.random)
            actions.append(.event(.draining))
        }
    }

    /// A feed frame came.
    ///
    /// - Returns: which of its items are new.
    package mutating func feedReceived(_ scan: FeedScan) -> FeedTracker.Verdict { self.tracker.note(scan) }

    /// The live has ended or was left: nothing to resume.
    package mutating func leaveRoom() {
        self.live = nil
        self.ticket = nil
        self.tracker = FeedTracker()
    }

    /// Time has passed; call it a few times a second.
    package mutating func tick(at now: Int64, into actions: inout [Action]) {
        if case .waiting(let until) = self.state, until <= now {
            self.state = .connecting
            actions.append(.connect(elsewhere: true))
        }
        while let id = self.order.first, let call = self.calls[id], call.deadline <= now {
            self.end(id, .failure(error: ReplyError(.timedOut, "no answer in time", retryAfter: 1000)), into: &actions)
        }
        if let leavesAt = self.leavesAt, leavesAt <= now {
            self.leavesAt = nil
            actions.append(.disconnect)
        }
        if self.state == .open, now - self.lastSent >= self.options.pingMilliseconds {
            self.send(Self.frame(self.takeID(), "ping", []), at: now, into: &actions)
        }
    }
}

extension ClientCore {
    private mutating func loginAnswered(_ outcome: Outcome, at now: Int64, into actions: inout [Action]) {
        guard self.state == .loggingIn else { return }
        switch outcome {
        case .success(let result):
            self.state = .open
            self.failures = 0
            switch result {
            case .loggedIn(_, let user, _, let notices):
                if self.lastNotice == nil { self.lastNotice = notices }
                actions.append(.event(.loggedIn(user)))
            case .resumed(let ticket, let position, let replayed):
                self.ticket = ticket
                if !replayed { self.tracker.resume(at: position) }
                if let live = self.live { actions.append(.event(.resumed(live, replayed: replayed))) }
            default: break
            }
            self.sendWaiting(at: now, into: &actions)
        case .failure(let error):
            let ends: DisconnectCode? =
                switch error.code {
                case .tokenExpired: .tokenExpired
                case .tokenInvalid: .tokenRefused
                case .signedInElsewhere: .kickedOffline
                default: nil
                }
            if let code = ends {
                // The same login would be refused again; nobody has to wait for the server's close to know.
                self.state = .ended
                actions.append(.disconnect)
                actions.append(.event(.ended(code: code.code)))
                return self.failCalls(error, into: &actions)
            }
            // Logged in, but the room is not there for us any more; or not now, when a new try makes sense.
            let isOver = ![.unavailable, .timedOut, .overloaded].contains(error.code)
            if let live = self.live, isOver {
                self.leaveRoom()
                actions.append(.event(.lost(live, error)))
            }
            actions.append(.disconnect)
        }
    }

    private mutating func answered(_ id: Int64, _ outcome: Outcome, at now: Int64, into actions: inout [Action]) {
        guard let call = self.calls[id] else { return }
        if case .success(let result) = outcome {
            switch (call.method, result) {
            case ("live.join", .joined(let ticket, let epoch, _)):
                if self.live != call.live || self.tracker.position?.epoch != epoch { self.tracker = FeedTracker() }
                self.live = call.live
                self.ticket = ticket
            case ("live.leave", _): self.leaveRoom()
            default: break
            }
        }
        self.end(id, outcome, into: &actions)
        self.sendWaiting(at: now, into: &actions)
    }

    private mutating func end(_ id: Int64, _ outcome: Outcome, into actions: inout [Action]) {
        guard let call = self.calls.removeValue(forKey: id) else { return }
        if call.isSent { self.sent -= 1 }
        if let index = self.order.firstIndex(of: id) { self.order.remove(at: index) }
        actions.append(.callEnded(id, outcome))
    }

    private mutating func failCalls(_ error: ReplyError, into actions: inout [Action]) {
        for id in self.order { actions.append(.callEnded(id, .failure(error: error))) }
        self.order = []
        self.calls = [:]
        self.sent = 0
    }

    /// Sends what waits, in order, as far as the limit of open calls allows.
    private mutating func sendWaiting(at now: Int64, into actions: inout [Action]) {
        guard self.state == .open, self.sent < self.options.openCalls else { return }
        for id in self.order {
            guard self.sent < self.options.openCalls else { break }
            guard let call = self.calls[id], !call.isSent else { continue }
            self.calls[id]?.isSent = true
            self.sent += 1
            self.send(call.bytes, at: now, into: &actions)
        }
    }

    private mutating func send(_ bytes: [UInt8], at now: Int64, into actions: inout [Action]) {
        self.lastSent = now
        actions.append(.send(bytes))
    }

    private mutating func takeID() -> Int64 {
        defer { self.nextID += 1 }
        return self.nextID
    }

    private static func frame(_ id: Int64, _ method: String, _ params: [UInt8]) -> [UInt8] {
        var bytes = Array("{\"id\":\(id),\"method\":\"\(method)\"".utf8)
        if !params.isEmpty {
            bytes += Array(",\"params\":".utf8)
            bytes += params
        }
        bytes.append(UInt8(ascii: "}"))
        return bytes
    }
}
