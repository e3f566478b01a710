// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

/// The states of a client's connection.
enum LinkState: Sendable {
    /// The client has not begun to connect.
    case idle
    /// The token provider was asked; the client connects when it has answered.
    case fetchingToken
    /// The WebSocket is being opened.
    case connecting
    /// The login was sent, and its reply was not received yet.
    case loggingIn
    /// The client is logged in, and can send calls.
    case open
    /// The client pauses before its next attempt to connect.
    case waiting
    /// The client will not connect again.
    case ended
}

/// Decides when a client connects, when its connection counts as lost, when it tries again or gives up, and which token
/// it uses.
///
/// `ClientCore` owns the link, and carries out its effects.
struct Link: Sendable {
    /// What `ClientCore` must do, in the order of the effects.
    enum Effect: Sendable {
        case perform(ClientAction)
        /// The connection is lost; the link will try to open another one.
        case connectionLost
        /// The link will not connect again; unfinished calls fail with this error.
        case ended(ErrorInfo)
    }

    private(set) var state = LinkState.idle
    var tokens: TokenKeeper
    var pingSchedule: PingSchedule
    private let random: RandomSource
    private var effects: [Effect] = []
    /// Whether the last connection failed or was lost, so that the next attempt goes to the next address.
    private var needsNextAddress = false
    /// How many attempts and connections have failed since the last successful login.
    private var failures = 0
    /// When the present state ends without an event: the attempt has then taken too long, or the pause is over.
    ///
    /// `distantFuture` if only an event ends the state.
    private var stateEndsAt = MonotonicTime.distantFuture
    /// When to disconnect from a gateway that is stopping; `distantFuture` if none is.
    private var drainAt = MonotonicTime.distantFuture
    /// Whether the system reports that it has a network; true on systems that report nothing about networks.
    private var isOnline = true
    /// The token of the login that was sent last.
    private var loginToken: String?

    /// The maximum time to open a connection, and to wait for the answer to a login or a ping.
    private static let answerTimeout = Milliseconds.seconds(10)
    /// The maximum time to wait for the answer to a ping while the system has no network.
    private static let offlineAnswerTimeout = Milliseconds.seconds(5)
    /// The minimum pause while the system has no network.
    private static let offlinePause = Milliseconds.seconds(30)
    /// The longest time in which the clients of a stopping gateway disconnect, even if the gateway states a longer one.
    private static let maxDrainTime = Milliseconds.seconds(60)

    init(hasTokenProvider: Bool, pingInterval: Milliseconds, random: @escaping RandomSource) {
        self.random = random
        self.tokens = TokenKeeper(hasProvider: hasTokenProvider, random: random)
        self.pingSchedule = PingSchedule(interval: pingInterval)
    }

    /// Removes and returns the effects that were added since this method last ran.
    mutating func takeEffects() -> [Effect] {
        guard !self.effects.isEmpty else { return [] }
        defer { self.effects = [] }
        return self.effects
    }

    /// Connects; before that, asks for a new token if the present one has expired or expires soon.
    mutating func startConnecting(at now: MonotonicTime) {
        guard self.tokens.needsNewToken(at: now) else { return self.connect(at: now) }
        self.enter(.fetchingToken, until: now + TokenKeeper.answerTimeout)
        self.effects.append(.perform(.fetchToken))
    }

    /// The token provider has answered.
    mutating func tokenFetched(_ token: TokenValue, at now: MonotonicTime) {
        self.tokens.use(token, at: now)
        if self.state == .fetchingToken { self.connect(at: now) }
    }

    /// The token provider has failed, or has not answered in time.
    mutating func tokenFailed(at now: MonotonicTime) {
        let pause = self.tokens.recordFailure(at: now)
        if self.state == .fetchingToken { self.wait(pause, at: now) }
    }

    /// The login was sent.
    mutating func loginSent(at now: MonotonicTime) {
        self.loginToken = self.tokens.token
        self.enter(.loggingIn, until: now + Self.answerTimeout)
    }

    /// The login has succeeded.
    mutating func loginSucceeded() {
        self.enter(.open, until: .distantFuture)
        self.failures = 0
        self.tokens.recordAcceptance()
    }

    /// Whether the token provider has given another token since the login was sent.
    var hasNewerToken: Bool { self.tokens.token != self.loginToken }

    /// Whether a connection is open or being opened.
    var isOpenOrOpening: Bool { self.state == .connecting || self.state == .loggingIn || self.state == .open }

    /// The gateway is stopping: the client disconnects at a random moment, so that not all clients connect to the next
    /// gateway at once.
    ///
    /// `within`: the time in which the gateway asks its clients to disconnect.
    mutating func drain(within: Milliseconds, at now: MonotonicTime) {
        self.drainAt = now + min(within, Self.maxDrainTime).randomPart(self.random())
    }

    /// Shortens the pause of a waiting client, because the app is active again or the network may be back.
    ///
    /// `spread`: the time over which the attempts of many clients are spread.
    mutating func shortenPause(spread: Milliseconds, at now: MonotonicTime) {
        guard self.state == .waiting else { return }
        self.stateEndsAt = min(self.stateEndsAt, now + spread.randomPart(self.random()))
    }

    /// Records whether the system has a network; the loss of the network lengthens the pause of a waiting client.
    ///
    /// - Returns: whether the network was lost now.
    mutating func setOnline(_ isOnline: Bool, at now: MonotonicTime) -> Bool {
        let isLoss = self.isOnline && !isOnline
        if isLoss, self.state == .waiting {
            self.stateEndsAt = max(self.stateEndsAt, now + Self.offlinePause)
        }
        self.isOnline = isOnline
        return isLoss
    }

    /// When an open connection counts as lost: sooner while the system has no network.
    private var lostAt: MonotonicTime {
        self.pingSchedule.lostAt(answerTimeout: self.isOnline ? Self.answerTimeout : Self.offlineAnswerTimeout)
    }

    /// When `tick` must be called next, or a ping is due; `distantFuture` if nothing is due.
    var dueAt: MonotonicTime {
        guard self.state == .open else { return self.stateEndsAt }
        return min(self.drainAt, self.tokens.renewAt, self.pingSchedule.pingAt, self.lostAt)
    }

    /// Handles everything that is due at `now`.
    ///
    /// This ends pauses that are over, attempts that take too long, and connections that do not answer a ping or whose
    /// gateway is stopping. It also asks for a new token before the present one expires. `ClientCore` sends the pings.
    mutating func tick(at now: MonotonicTime) {
        switch self.state {
        case .waiting: if self.stateEndsAt <= now { self.startConnecting(at: now) }
        case .fetchingToken: if self.stateEndsAt <= now { self.tokenFailed(at: now) }
        case .connecting, .loggingIn: if self.stateEndsAt <= now { self.disconnect(at: now) }
        case .open:
            if min(self.drainAt, self.lostAt) <= now { return self.disconnect(at: now) }
            guard self.tokens.renewAt <= now else { return }
            guard !self.tokens.isRequested else { return self.tokenRequestTimedOut(at: now) }
            self.tokens.recordRequest(at: now)
            self.effects.append(.perform(.fetchToken))
        case .idle, .ended: break
        }
    }

    /// The token provider has not answered: it is asked again after a pause.
    ///
    /// A late answer still counts.
    private mutating func tokenRequestTimedOut(at now: MonotonicTime) {
        self.tokens.recordFailure(at: now)
        let error = ErrorInfo(.timedOut, "the token provider does not answer")
        self.effects.append(.perform(.event(.tokenRenewalFailed(error))))
    }

    /// Closes the connection, and connects again later.
    ///
    /// `minimumPause`: the minimum pause before the next attempt; the back-off is added to it.
    mutating func disconnect(at now: MonotonicTime, minimumPause: Milliseconds = Milliseconds(0)) {
        self.effects.append(.perform(.disconnect(code: ClientCloseCode.normal)))
        self.connectionLost(code: ClientCloseCode.lost, at: now, minimumPause: minimumPause)
    }

    /// The connection was lost: the client waits for the next attempt, or ends.
    ///
    /// `code`: the close code.
    /// `minimumPause`: the minimum pause before the next attempt; the back-off is added to it.
    mutating func connectionLost(
        code: Int, at now: MonotonicTime, minimumPause: Milliseconds = Milliseconds(0)
    ) {
        let error = ErrorInfo(.failed, "the connection ended with code \(code)")
        self.reconnectOrEnd(afterCode: code, error, isConnectionOpen: false, minimumPause: minimumPause, at: now)
    }

    /// The server has rejected the login on the open connection, with an error that means the same as a close code:
    /// the client disconnects, and then waits for the next attempt or ends.
    mutating func loginRejected(_ error: ErrorInfo, sameAsCloseCode code: Int, at now: MonotonicTime) {
        self.reconnectOrEnd(afterCode: code, error, isConnectionOpen: true, minimumPause: Milliseconds(0), at: now)
    }

    /// Waits for the next attempt if the close code permits one, and otherwise ends with the error.
    private mutating func reconnectOrEnd(
        afterCode code: Int, _ error: ErrorInfo, isConnectionOpen: Bool, minimumPause: Milliseconds,
        at now: MonotonicTime
    ) {
        // After a rejected token, `recordRejection` says whether the client may reconnect with another token.
        let isTokenFault = code == ClientCloseCode.tokenExpired || code == ClientCloseCode.tokenRefused
        let mayReconnect = isTokenFault ? self.tokens.recordRejection() : ClientCloseCode.allowsReconnect(after: code)
        guard mayReconnect else { return self.end(code: code, error, reportsEnd: true) }
        if isConnectionOpen { self.effects.append(.perform(.disconnect(code: ClientCloseCode.normal))) }
        self.needsNextAddress = true
        self.effects.append(.connectionLost)
        self.effects.append(.perform(.event(.disconnected(code: code))))
        self.wait(minimumPause + BackOff.pause(failures: self.failures, random: self.random()), at: now)
        self.failures += 1
    }

    /// Ends for good.
    ///
    /// `error`: the error with which unfinished calls fail.
    /// `reportsEnd`: whether the app gets an event about the end.
    mutating func end(code: Int, _ error: ErrorInfo, reportsEnd: Bool) {
        self.enter(.ended, until: .distantFuture)
        self.effects.append(.perform(.disconnect(code: ClientCloseCode.normal)))
        if reportsEnd { self.effects.append(.perform(.event(.ended(code: code, error)))) }
        self.effects.append(.ended(error))
    }

    private mutating func connect(at now: MonotonicTime) {
        self.enter(.connecting, until: now + Self.answerTimeout)
        self.pingSchedule.start(at: now)
        self.effects.append(.perform(.connect(toNextAddress: self.needsNextAddress)))
        self.needsNextAddress = false
    }

    /// Pauses before the next attempt; longer while the system has no network.
    private mutating func wait(_ pause: Milliseconds, at now: MonotonicTime) {
        self.enter(.waiting, until: now + (self.isOnline ? pause : max(pause, Self.offlinePause)))
        // The connection to a stopping gateway has ended, too.
        self.drainAt = .distantFuture
    }

    private mutating func enter(_ state: LinkState, until end: MonotonicTime) {
        self.state = state
        self.stateEndsAt = end
    }
}
