// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import PlazaWire

/// Identifies a call: the number of the engine's connection, and the call's handle in it.
struct CallKey: Hashable, Sendable {
    let connection: Int
    let handle: Int
}

/// One login: `ClientCore` over WebSockets, with the timer that it needs.
struct ConnectionState: Sendable {
    /// The number of the connection among those of the engine.
    let number: Int
    var core: ClientCore
    let addresses: [String]
    let transport: any Transport
    let tokenProvider: (@Sendable () async throws -> String)?
    var addressIndex = 0
    /// The number of the last WebSocket; events of earlier ones are ignored.
    var socketCount = 0
    var socket: (any TransportConnection)?
    var timer: PlazaTimer?
    /// When the timer is due, in milliseconds of the clock.
    var timerAt = Double.infinity
    var isFetching = false

    /// Passes an event to the core.
    mutating func step(at now: Double, _ body: (inout ClientCore, Double) -> [ClientAction]) -> [ClientAction] {
        body(&self.core, now)
    }
}

extension PlazaEngine {
    /// Begins to connect.
    ///
    /// `token`: the token of the login; nil: the token provider is asked.
    /// - Throws: `invalidParameter` if the options name no gateway, no transport, or neither token nor provider.
    func connect(token: String?, name: String?, avatarURL: String?) throws(ErrorInfo) {
        let options = self.options
        guard !options.gateways.isEmpty else {
            throw ErrorInfo(.invalidParameter, "name the address of a gateway in LivePlaza.configure")
        }
        guard let transport = options.transport ?? Self.systemTransport else {
            throw ErrorInfo(.invalidParameter, "this system has no WebSocket: name a transport in LivePlaza.configure")
        }
        guard token != nil || options.tokenProvider != nil else {
            throw ErrorInfo(.invalidParameter, "name a token or a token provider")
        }
        var coreOptions = ClientCore.Options(
            session: SessionID(options.session ?? self.newSession()), hasTokenProvider: options.tokenProvider != nil)
        // An earlier process may have used the same session. The ids must then be above its ids, because the server
        // takes the same id for the same call.
        coreOptions.firstID = options.session == nil ? 1 : Int64(self.clock.wall)
        coreOptions.name = name ?? ""
        coreOptions.avatarURL = avatarURL ?? ""
        coreOptions.callTimeout = options.callTimeout.inMilliseconds
        self.connectionCount += 1
        self.connection = ConnectionState(
            number: self.connectionCount, core: ClientCore(coreOptions, random: self.random),
            addresses: options.gateways, transport: transport, tokenProvider: options.tokenProvider)
        let value = token.map { TokenValue($0, wallTime: self.clock.wall) }
        self.perform { core, now in core.start(value, at: now) }
    }

    /// Ends the connection at the app's request; unfinished calls fail.
    func disconnect() {
        self.perform { core, _ in core.stop() }
        self.forgetConnection()
        self.endSession()
        self.showLogin { $0 = LoginState() }
    }

    /// Checks the connection or connects at once, because the app is shown or the network may be back.
    func probe() { self.perform { core, now in core.probe(at: now) } }

    /// Tells the core whether the system has a network.
    func setOnline(_ isOnline: Bool) { self.perform { core, now in core.setOnline(isOnline, at: now) } }

    /// Makes a call; `continuation` gets its outcome.
    func begin(
        _ method: String, _ params: [UInt8], _ live: LiveID?,
        _ continuation: CheckedContinuation<Result<CallResult, ErrorInfo>, Never>
    ) {
        guard let number = self.connection?.number else {
            return continuation.resume(returning: .failure(ErrorInfo(.notLoggedIn, "log in first")))
        }
        self.perform { core, now in
            let (handle, actions) = core.call(method, params: params, live: live, at: now)
            self.waiting[CallKey(connection: number, handle: handle)] = continuation
            return actions
        }
    }

    /// Passes an event to the core, and performs the actions that follow, in order.
    ///
    /// Actions that follow from a performed action are performed after all of them.
    private func perform(_ body: (inout ClientCore, Double) -> [ClientAction]) {
        let now = self.clock.now
        guard let actions = self.connection?.step(at: now, body) else { return }
        self.actions += actions
        guard !self.isPerforming else { return }
        self.isPerforming = true
        while !self.actions.isEmpty { self.act(self.actions.removeFirst()) }
        self.isPerforming = false
        self.schedule()
    }

    private func act(_ action: ClientAction) {
        switch action {
        case .connect(let toNextAddress): self.openSocket(toNextAddress: toNextAddress)
        case .send(let bytes): self.connection?.socket?.send(bytes)
        case .disconnect(let code): self.detach(code: code)
        case .fetchToken: self.fetchToken()
        case .event(let event): self.received(event)
        case .callEnded(let handle, let result):
            let key = CallKey(connection: self.connection?.number ?? self.connectionCount, handle: handle)
            self.waiting.removeValue(forKey: key)?.resume(returning: result)
        }
    }

    private func openSocket(toNextAddress: Bool) {
        self.detach(code: CloseCode.normal)
        guard var connection = self.connection else { return }
        if toNextAddress { connection.addressIndex = (connection.addressIndex + 1) % connection.addresses.count }
        connection.socketCount += 1
        self.connection = connection
        let (number, socketNumber) = (connection.number, connection.socketCount)
        do throws(ErrorInfo) {
            let address = connection.addresses[connection.addressIndex]
            self.connection?.socket = try connection.transport.connect(to: address) { [weak self] event in
                // Frames are read here, on the transport's thread, so that the app's queue need not do it.
                let event = SocketEvent(event)
                self?.onQueue { $0.socketEventReceived(event, connection: number, socket: socketNumber) }
            }
        } catch {
            // The address is wrong, so another attempt would fail as well.
            self.settleLogin(.failure(error))
            self.perform { core, _ in core.stop() }
        }
    }

    private func socketEventReceived(_ event: SocketEvent, connection: Int, socket: Int) {
        guard self.connection?.number == connection, self.connection?.socketCount == socket,
            self.connection?.socket != nil
        else { return }
        switch event {
        case .opened: self.perform { core, now in core.opened(at: now) }
        case .frame(let frame): self.perform { core, now in core.received(frame, at: now) }
        case .unreadable(let error): self.report(error)
        case .closed(let code):
            self.connection?.socket = nil
            self.perform { core, now in core.closed(code: code, at: now) }
        }
    }

    private func detach(code: Int) {
        let socket = self.connection?.socket
        self.connection?.socket = nil
        socket?.close(code: code)
    }

    private func fetchToken() {
        guard let connection = self.connection, !connection.isFetching, let provider = connection.tokenProvider else {
            return
        }
        self.connection?.isFetching = true
        self.task { engine in
            let token: Result<String, any Error>
            do { token = .success(try await provider()) } catch { token = .failure(error) }
            engine.tokenFetched(token, connection: connection.number)
        }
    }

    private func tokenFetched(_ token: Result<String, any Error>, connection: Int) {
        guard self.connection?.number == connection else { return }
        self.connection?.isFetching = false
        switch token {
        case .success(let text) where !text.isEmpty:
            let value = TokenValue(text, wallTime: self.clock.wall)
            self.perform { core, now in core.tokenFetched(value, at: now) }
        case .success: self.tokenFailed(ErrorInfo(.failed, "the token provider gave no token"))
        case .failure(let error as ErrorInfo): self.tokenFailed(error)
        case .failure(let error): self.tokenFailed(ErrorInfo(.failed, "the token provider failed: \(error)"))
        }
    }

    private func tokenFailed(_ error: ErrorInfo) {
        self.report(error)
        // A login that has no token ends with the provider's own error.
        if self.waitingLogin != nil {
            self.settleLogin(.failure(error))
            return self.disconnect()
        }
        self.perform { core, now in core.tokenFailed(at: now) }
    }

    /// Sets the only timer to the next moment at which something is due.
    ///
    /// Each frame delays the next ping, so a timer that is due too early is kept: it does nothing but set the next one.
    /// A timer for each frame would stay in the system's memory until it is due.
    private func schedule() {
        guard let connection = self.connection else { return }
        let due = connection.core.dueAt
        guard connection.timer == nil || due < connection.timerAt || !due.isFinite else { return }
        connection.timer?.cancel()
        self.connection?.timer = nil
        guard due.isFinite else { return }
        let number = connection.number
        self.connection?.timerAt = due
        self.connection?.timer = self.clock.schedule(after: max(0, due - self.clock.now), on: self.queue) {
            [weak self] in
            self?.assumeOnQueue { engine in
                guard engine.connection?.number == number else { return }
                engine.connection?.timer = nil
                engine.perform { core, now in core.tick(at: now) }
            }
        }
    }

    func forgetConnection() {
        self.connection?.timer?.cancel()
        self.connection = nil
    }

    /// A random id for a new session, which no other client of the user has.
    private func newSession() -> String {
        "kit-" + (0..<24).map { _ in String(Int(self.random() * 16), radix: 16) }.joined()
    }

    private static var systemTransport: (any Transport)? {
        #if canImport(Darwin)
        URLSessionTransport()
        #else
        nil
        #endif
    }
}

/// An event of a transport, with its frame already decoded.
private enum SocketEvent: Sendable {
    case opened
    case frame(IncomingFrame)
    case unreadable(ErrorInfo)
    case closed(code: Int)

    init(_ event: TransportEvent) {
        switch event {
        case .opened: self = .opened
        case .text(let bytes):
            do throws(ErrorInfo) {
                self = .frame(try IncomingFrame(bytes))
            } catch {
                self = .unreadable(error)
            }
        case .binary: self = .unreadable(.badFrame("a binary message"))
        case .closed(let code): self = .closed(code: code)
        }
    }
}
