// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

extension PlazaEngine {
    /// How long a logout waits for the reply to `live.leave`.
    private static var leaveTimeout: Milliseconds { .seconds(2) }

    /// Connects and logs in.
    ///
    /// `token`: the token of the user; nil to ask the token provider.
    /// - Throws: `tokenInvalid`, `tokenExpired`, `overLimit`, `timedOut`, `invalidParameter`; `failed` if a user is
    ///   logged in already; the token provider's own error.
    func login(
        token: String?, name: String? = nil, avatarURL: String? = nil
    ) async throws(ErrorInfo) -> UserProfile {
        await self.waitForLogout()
        guard self.waitingLogin == nil, self.loginState.connectionStatus == .disconnected else {
            throw ErrorInfo(.failed, "log out first")
        }
        self.showLogin { $0.connectionStatus = .connecting }
        let timeout = Milliseconds(roundingUp: self.options.loginTimeout)
        let result = await withCheckedContinuation { continuation in
            self.waitingLogin = continuation
            self.loginTimer = self.clock.schedule(after: timeout, on: self.queue) { [weak self] in
                self?.assumeOnQueue { engine in
                    engine.finishLogin(.failure(ErrorInfo(.timedOut, "no login in time", retryAfter: .seconds(1))))
                    engine.disconnect()
                }
            }
            do throws(ErrorInfo) {
                try self.connect(token: token, name: name, avatarURL: avatarURL)
            } catch {
                self.finishLogin(.failure(error))
            }
        }
        // If `connect` has failed, no event of a connection resets the state.
        if case .failure = result, self.connection == nil { self.showLogin { $0 = LoginState() } }
        return try result.get()
    }

    /// Leaves the live, and disconnects.
    ///
    /// - Throws: `notLoggedIn`.
    func logout() async throws(ErrorInfo) {
        guard self.logoutWaiters == nil else { return await self.waitForLogout() }
        let status = self.loginState.connectionStatus
        guard status != .disconnected else { throw ErrorInfo(.notLoggedIn, "log in first") }
        self.logoutWaiters = []
        if status == .connected, let live = self.liveSession?.fold.liveID { await self.leave(live) }
        self.finishLogin(.failure(ErrorInfo(.failed, "logged out")))
        self.disconnect()
        let waiters = self.logoutWaiters ?? []
        self.logoutWaiters = nil
        for waiter in waiters { waiter.resume() }
    }

    /// Waits until a logout that is under way has ended, so that the login after it does not fail.
    private func waitForLogout() async {
        guard self.logoutWaiters != nil else { return }
        await withCheckedContinuation { self.logoutWaiters?.append($0) }
    }

    /// Changes how others see the user; nil leaves a field as it is.
    ///
    /// - Throws: `noPermission` if the token contains the field, `badParameter`.
    func setSelfInfo(name: String?, avatarURL: String?) async throws(ErrorInfo) {
        var changes: [String: JSONValue] = [:]
        if let name { changes["name"] = .text(name) }
        if let avatarURL { changes["avatarURL"] = .text(avatarURL) }
        _ = try await self.call("self.update", changes)
        self.connection?.core.setProfile(name: name, avatarURL: avatarURL)
        self.showLogin { state in
            if let name { state.loginUserInfo?.nickname = name }
            if let avatarURL { state.loginUserInfo?.avatarURL = avatarURL }
        }
    }

    /// Leaves a live, and waits at most `leaveTimeout` for the reply.
    private func leave(_ live: LiveID) async {
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            // The reply and the timer both resume the caller; the first one takes the continuation.
            let waitingCaller = Locked<CheckedContinuation<Void, Never>?>(continuation)
            let resume: @Sendable () -> Void = {
                let continuation = waitingCaller.withLock { caller in
                    defer { caller = nil }
                    return caller
                }
                continuation?.resume()
            }
            let timer = self.clock.schedule(after: Self.leaveTimeout, on: self.queue, resume)
            self.task { engine in
                _ = try? await engine.call("live.leave", live: live)
                timer.cancel()
                resume()
            }
        }
    }

    /// Handles an event of the connection.
    func clientEventReceived(_ event: ClientEvent) {
        switch event {
        case .badFrame(let error): return self.report(error)
        case .tokenRenewalFailed(let error): return self.report(error)
        case .serverTime(let offset): return self.serverTimeOffset.withLock { $0 = offset }
        case .loggedIn(let user): self.selfID = user.userID.text
        case .ended: self.forgetConnection()
        default: break
        }
        self.updateLive(after: event)
        self.updateLogin(after: event)
    }

    private func updateLogin(after event: ClientEvent) {
        switch event {
        case .loggedIn(let user):
            let profile = UserProfile(userID: user.userID.text, nickname: user.userName, avatarURL: user.avatarURL)
            self.showLogin { state in
                state.loginStatus = .logined
                state.loginUserInfo = profile
                state.connectionStatus = .connected
            }
            self.finishLogin(.success(profile))
        case .resumed: self.showLogin { $0.connectionStatus = .connected }
        case .disconnected:
            self.showLogin { $0.connectionStatus = $0.loginStatus == .logined ? .reconnecting : .connecting }
        case .ended(let code, let error): self.loginEnded(closeCode: code, error)
        default: break
        }
    }

    private func loginEnded(closeCode code: Int, _ error: ErrorInfo) {
        let hasWaitingCaller = self.waitingLogin != nil
        self.finishLogin(.failure(error))
        self.showLogin { $0 = LoginState() }
        // The caller that waits for the login gets the error; an event would report the error twice.
        if hasWaitingCaller { return }
        let store = self.sinks.login()
        if code == ClientCloseCode.replaced || code == ClientCloseCode.signedInElsewhere {
            store?.publish(.kickedOffline)
        }
        if code == ClientCloseCode.tokenRefused || code == ClientCloseCode.tokenExpired {
            store?.publish(.loginExpired)
        }
        self.sinks.publish(.connectionEnded(code: code, error))
    }

    /// Resumes the caller that waits for its login, if there is one.
    func finishLogin(_ result: Result<UserProfile, ErrorInfo>) {
        self.loginTimer?.cancel()
        self.loginTimer = nil
        self.waitingLogin?.resume(returning: result)
        self.waitingLogin = nil
    }

    /// Changes the state that `LoginStore` shows.
    func showLogin(_ change: (inout LoginState) -> Void) {
        change(&self.loginState)
        self.sinks.login()?.show(self.loginState)
    }
}
