// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// The connection: `ClientCore` decides what happens, and the engine performs it with a WebSocket and a timer.
extension PlazaEngine {
    /// Begins to connect.
    ///
    /// `token`: the token of the login; nil to ask the token provider.
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
        // An earlier process may have used the same session. The ids of this process must be above the ids of the
        // earlier one, because the server treats a call with a known id as a repeated call. The wall time in
        // milliseconds is above the earlier ids, unless the earlier process made, on average, more than one call a
        // millisecond.
        coreOptions.firstID = options.session == nil ? 1 : self.clock.wall.milliseconds
        coreOptions.name = name ?? ""
        coreOptions.avatarURL = avatarURL ?? ""
        coreOptions.callTimeout = Milliseconds(roundingUp: options.callTimeout)
        self.connectionCount += 1
        self.connection = ConnectionState(
            number: self.connectionCount, core: ClientCore(coreOptions, random: self.random),
            addresses: options.gateways, transport: transport, tokenProvider: options.tokenProvider,
            addressIndex: self.randomIndex(below: options.gateways.count))
        let tokenValue = token.map { TokenValue($0, at: self.serverTime) }
        self.updateCore { core, now in core.start(tokenValue, at: now) }
    }

    /// Ends the connection at the app's request; unfinished calls fail, and so does a login.
    func disconnect() {
        self.finishLogin(.failure(ErrorInfo(.notLoggedIn, "the client has ended")))
        self.updateCore { core, _ in core.stop() }
        self.forgetConnection()
        self.endLiveSession()
        self.showLogin { $0 = LoginState() }
    }

    /// Checks the connection, or connects at once if there is none, because the app is active again or the network may
    /// be back.
    func probeConnection() { self.updateCore { core, now in core.probeConnection(at: now) } }

    /// Tells the core whether the system has a network.
    func setOnline(_ isOnline: Bool) { self.updateCore { core, now in core.setOnline(isOnline, at: now) } }

    /// Makes a call; `continuation` gets its outcome.
    func startCall(
        _ method: String, _ params: [UInt8], _ live: LiveID?,
        _ continuation: CheckedContinuation<Result<CallResult, ErrorInfo>, Never>
    ) {
        guard let number = self.connection?.number else {
            return continuation.resume(returning: .failure(ErrorInfo(.notLoggedIn, "log in first")))
        }
        self.updateCore { core, now in
            let (handle, actions) = core.call(method, params: params, live: live, at: now)
            self.callers[CallKey(connection: number, handle: handle)] = continuation
            return actions
        }
    }

    /// Passes an event to the core, and performs the actions that follow, in order.
    ///
    /// An action may call this method again. The new actions are performed after all actions that already wait.
    func updateCore(_ body: (inout ClientCore, MonotonicTime) -> [ClientAction]) {
        let now = self.clock.now
        guard let actions = self.connection?.updateCore(at: now, body) else { return }
        self.actions += actions
        guard !self.isPerforming else { return }
        self.isPerforming = true
        while !self.actions.isEmpty { self.perform(self.actions.removeFirst()) }
        self.isPerforming = false
        self.scheduleTick()
    }

    private func perform(_ action: ClientAction) {
        switch action {
        case .connect(let toNextAddress): self.openSocket(toNextAddress: toNextAddress)
        case .send(let bytes): self.connection?.socket?.send(bytes)
        case .disconnect(let code): self.closeSocket(code: code)
        case .fetchToken: self.fetchToken()
        case .event(let event): self.clientEventReceived(event)
        case .callEnded(let handle, let result):
            // If `forgetConnection` has run meanwhile, the remaining actions are those of the forgotten connection,
            // whose number is `connectionCount`.
            let key = CallKey(connection: self.connection?.number ?? self.connectionCount, handle: handle)
            self.callers.removeValue(forKey: key)?.resume(returning: result)
        }
    }

    private func openSocket(toNextAddress: Bool) {
        self.closeSocket(code: ClientCloseCode.normal)
        guard var connection = self.connection else { return }
        if toNextAddress { connection.addressIndex = (connection.addressIndex + 1) % connection.addresses.count }
        connection.socketCount += 1
        self.connection = connection
        let (connectionNumber, socketNumber) = (connection.number, connection.socketCount)
        var lastError = ErrorInfo(.invalidParameter, "no address of a gateway")
        // `connect` throws only if every further attempt with this address would fail too, so the next address
        // is tried.
        for _ in connection.addresses {
            do throws(ErrorInfo) {
                let address = connection.addresses[connection.addressIndex]
                connection.socket = try connection.transport.connect(to: address) { [weak self] event in
                    // Frames are decoded here, on the transport's thread, to keep this work off the app's queue.
                    let event = SocketEvent(event)
                    self?.onQueue { $0.socketEventReceived(event, connection: connectionNumber, socket: socketNumber) }
                }
                self.connection = connection
                return
            } catch {
                lastError = error
                connection.addressIndex = (connection.addressIndex + 1) % connection.addresses.count
            }
        }
        self.updateCore { [lastError] core, _ in core.noAddressUsable(lastError) }
    }

    /// Handles an event of a WebSocket.
    ///
    /// Events of an earlier login, of an earlier WebSocket, or of a WebSocket that this client has closed are ignored.
    private func socketEventReceived(_ event: SocketEvent, connection: Int, socket: Int) {
        guard self.connection?.number == connection, self.connection?.socketCount == socket,
            self.connection?.socket != nil
        else { return }
        switch event {
        case .opened: self.updateCore { core, now in core.connectionOpened(at: now) }
        case .frame(let frame): self.updateCore { core, now in core.frameReceived(frame, at: now) }
        case .unreadable(let error): self.report(error)
        case .closed(let code):
            self.connection?.socket = nil
            self.updateCore { core, now in core.connectionClosed(code: code, at: now) }
        }
    }

    private func closeSocket(code: Int) {
        let socket = self.connection?.socket
        self.connection?.socket = nil
        socket?.close(code: code)
    }

    /// Sets the connection's timer to the next moment at which something is due.
    ///
    /// Each frame delays the next ping, but the timer is not replaced at each frame: a replaced timer stays in the
    /// system's memory until its time. Instead the timer fires too early, finds nothing due, and is set again.
    private func scheduleTick() {
        guard let connection = self.connection else { return }
        let due = connection.core.dueAt
        // If nothing will be due, the timer is only removed. A timer that is overdue has stood still while the device
        // slept, and may fire much later.
        let isAnythingDue = due < .distantFuture
        guard
            connection.timer == nil || due < connection.timerDueAt || !isAnythingDue
                || connection.timerDueAt <= self.clock.now
        else { return }
        connection.timer?.cancel()
        self.connection?.timer = nil
        guard isAnythingDue else { return }
        let number = connection.number
        self.connection?.timerDueAt = due
        let delay = max(Milliseconds(0), due - self.clock.now)
        self.connection?.timer = self.clock.schedule(after: delay, on: self.queue) { [weak self] in
            self?.assumeOnQueue { engine in
                guard engine.connection?.number == number else { return }
                engine.connection?.timer = nil
                engine.updateCore { core, now in core.tick(at: now) }
            }
        }
    }

    /// Drops the connection and its timer; later events of the connection are ignored.
    func forgetConnection() {
        self.connection?.timer?.cancel()
        self.connection?.tokenFetch?.cancel()
        self.connection = nil
    }

    /// A random index of a list, so that clients begin at different gateways.
    private func randomIndex(below count: Int) -> Int { min(Int(self.random() * Double(count)), count - 1) }

    /// Makes a random id for a new session, which no other client of the user has: 24 hexadecimal digits are 96 bits.
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
