// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Logins: the first login of a connection, a login with a newer token, and a login that resumes a live.
///
/// A parameter `number` is the number of a connection.
extension SimulatedGateway {
    /// Handles the call `login` of a connection.
    mutating func logIn(_ frame: CallFrame, _ number: Int) {
        do throws(ReplyError) {
            let params = try frame.params(LoginParams.self)
            let token = try self.authenticate(params.token)
            if self.connections[number]?.core.isLoggedIn == true {
                guard self.connections[number]?.token?.sub == token.sub else {
                    throw ReplyError(.badParameter, "the connection belongs to another user")
                }
                let expiry = self.expiry(of: token)
                self.connections[number]?.core.loggedIn(until: expiry)
            } else {
                try self.openSession(number, token, params)
            }
            self.completeLogin(frame, number, params)
        } catch {
            self.reply(frame.id, .failure(error: error), to: number)
            switch error.code {
            case .signedInElsewhere: self.disconnect(number, .kickedOffline)
            case .tokenExpired: self.disconnect(number, .tokenExpired)
            case .tokenInvalid: self.disconnect(number, .tokenRefused)
            default: break
            }
        }
    }

    private func authenticate(_ text: String) throws(ReplyError) -> SimulatedToken {
        guard let token = SimulatedToken(text: text), UserID(checking: token.sub) != nil,
            AppID(checking: token.app) != nil
        else { throw ReplyError(.tokenInvalid, "make a token with SimulatedCluster.token") }
        guard token.exp * 1000 > Double(self.wallTime.milliseconds) else {
            throw ReplyError(.tokenExpired, "the token has expired")
        }
        return token
    }

    private func expiry(of token: SimulatedToken) -> MonotonicTime {
        // The limit of about 30 years prevents an overflow of the sum.
        let remaining = min(token.exp * 1000 - Double(self.wallTime.milliseconds), 1e12)
        return self.now + Milliseconds(Int64(max(0, remaining)))
    }

    /// Sets the token and the user of a connection, and opens its session.
    private mutating func openSession(
        _ number: Int, _ token: SimulatedToken, _ params: LoginParams
    ) throws(ReplyError) {
        guard var connection = self.connections[number] else { return }
        if let error = UserInfo.validationError(name: params.name, avatarURL: params.avatarURL) { throw error }
        connection.clientSession = try self.clientSession(of: params)
        connection.token = token
        connection.user = UserInfo(
            userID: UserID(token.sub), userName: token.name ?? params.name ?? "", avatarURL: params.avatarURL ?? "")
        // The session's name in the cluster is bound to the user; a simulated cluster makes this name without a key.
        connection.session = SessionNamer.unkeyed.name(of: connection.clientSession, for: connection.userKey)
        let allowsOnlyOneDevice = connection.role == .user && self.policies[connection.app].devices == .one
        if allowsOnlyOneDevice { try self.checkSignIn(of: connection, lastNoticeID: params.lastNoticeID) }
        // A random number distinguishes this connection from those of the user's other devices.
        connection.signIn = DeviceSignIn(connection: self.random.next(), endsOtherSessions: allowsOnlyOneDevice)
        // The sign-in ends the user's other sessions if the app allows only one device, and older connections of the
        // same session. A login without a session has got a new one, so there are no older connections.
        if allowsOnlyOneDevice || params.session != nil { self.announceSignIn(of: &connection) }
        connection.core.loggedIn(until: self.expiry(of: token))
        if let earlier = self.connectionOfSession[connection.session], earlier != number {
            self.disconnect(earlier, .replaced)
        }
        self.connectionOfSession[connection.session] = number
        self.connections[number] = connection
    }

    /// The session that a login names, or a new one.
    private mutating func clientSession(of params: LoginParams) throws(ReplyError) -> SessionID {
        guard let text = params.session else {
            return SessionName.random(bits: (self.random.next(), self.random.next()))
        }
        guard let session = SessionID(checking: text) else {
            throw ReplyError(.badParameter, "session is 1 to 40 letters, digits, hyphens or underscores")
        }
        return session
    }

    /// Rejects a login if a login on another device has ended its session while the client was not connected.
    private func checkSignIn(of connection: SimulatedConnection, lastNoticeID: NoticeID?) throws(ReplyError) {
        guard let lastNoticeID else { return }
        let missed = self.notices.entries(of: connection.userKey, after: lastNoticeID).map(\.notice)
        if DeviceSignIn.wasSessionEnded(by: missed, ownSession: connection.session) {
            throw ReplyError(.signedInElsewhere, "you signed in on another device; log in anew to be here instead")
        }
    }

    /// Tells the user's other connections about a login, by a notice.
    private mutating func announceSignIn(of connection: inout SimulatedConnection) {
        let content = connection.signIn.makeNotice(for: connection.session, at: self.now)
        self.write(.notice(Notice(to: connection.userKey, live: LiveID(""), at: self.wallTime, content: content)))
    }

    /// Replies to the login, sends missed notices, and resumes the live that the login names.
    private mutating func completeLogin(_ frame: CallFrame, _ number: Int, _ params: LoginParams) {
        guard let connection = self.connections[number] else { return }
        let missed = params.lastNoticeID.map { self.notices.entries(of: connection.userKey, after: $0) }
        // In a simulated cluster, all notices are in partition 0.
        let lastID = self.notices.lastID(ofPartition: 0)
        if let point = params.resume {
            self.resume(frame.id, number, point)
        } else {
            let result = CallResult.loggedIn(
                session: connection.clientSession, user: connection.user, gateway: self.id, notices: lastID.text,
                at: self.wallTime)
            self.reply(frame.id, .success(result: result), to: number)
        }
        for entry in missed ?? [] where entry.notice.content.isForClients { self.deliver(entry, to: number) }
        self.connections[number]?.lastNoticeOffset = max(connection.lastNoticeOffset, lastID.offset)
    }

    /// Sends a join with the client's previous ticket to presence.
    private mutating func resume(_ id: Int64, _ number: Int, _ point: ResumePoint) {
        guard let connection = self.connections[number] else { return }
        switch connection.core.verdict(on: id, .resume(point)) {
        // The call is open already, and gets one reply.
        case .repeated: return
        case .rejected(let error): return self.reply(id, .failure(error: error), to: number)
        case .proceed: break
        }
        var caller = connection.caller(id, self.id)
        caller.ticket = point.ticket
        let effect = Effect.audience(AudienceInput(connection.key(point.live), .join(caller: caller)))
        self.beginCall(id, .resume(point), effect, number)
    }
}

extension LoginParams {
    /// The last notice that the client has; nil for a client without one.
    fileprivate var lastNoticeID: NoticeID? { self.notices.flatMap { NoticeID(text: $0) } }
}
