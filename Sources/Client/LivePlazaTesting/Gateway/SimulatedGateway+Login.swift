// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Logins: the first one of a connection, one with a newer token, and one that resumes a live.
extension SimulatedGateway {
    mutating func logIn(_ frame: CallFrame, _ number: Int) {
        do throws(ReplyError) {
            let params = try frame.params(LoginParams.self)
            let token = try self.authenticate(params.token)
            if self.connections[number]?.core.isLoggedIn == true {
                guard self.connections[number]?.identity?.sub == token.sub else {
                    throw ReplyError(.badParameter, "the connection belongs to another user")
                }
                let end = self.expiry(of: token)
                self.connections[number]?.core.loggedIn(until: end)
            } else {
                try self.open(number, token, params)
            }
            self.accept(frame, number, params)
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
        let left = min(token.exp * 1000 - Double(self.wallTime.milliseconds), 1e12)
        return self.now + Milliseconds(Int64(max(0, left)))
    }

    /// Sets the identity of a connection, and opens its session.
    private mutating func open(
        _ number: Int, _ token: SimulatedToken, _ params: LoginParams
    ) throws(ReplyError) {
        guard var connection = self.connections[number] else { return }
        if let error = UserInfo.validationError(name: params.name, avatarURL: params.avatarURL) { throw error }
        if let text = params.session {
            guard let session = SessionID(checking: text) else {
                throw ReplyError(.badParameter, "session is 1 to 40 letters, digits, hyphens or underscores")
            }
            connection.givenSession = session
        } else {
            connection.givenSession = SessionName.fresh(bits: (self.random.next(), self.random.next()))
        }
        connection.identity = token
        connection.user = UserInfo(
            userID: UserID(token.sub), userName: token.name ?? params.name ?? "", avatarURL: params.avatarURL ?? "")
        connection.session = SessionNamer.unkeyed.name(of: connection.givenSession, of: connection.userKey)
        let isOnly = connection.role == .user && self.policies[connection.app].devices == .one
        if isOnly, let id = params.notices.flatMap({ NoticeID(text: $0) }) {
            let missed = self.notices.entries(of: connection.userKey, after: id).map(\.notice)
            if DeviceSignIn.wasEnded(missed, own: connection.session) {
                throw ReplyError(.signedInElsewhere, "you signed in on another device; log in anew to be here instead")
            }
        }
        connection.signIn = DeviceSignIn(connection: self.random.next(), isOnly: isOnly)
        if isOnly || params.session != nil {
            let content = connection.signIn.write(connection.session, at: self.now)
            self.write(
                .notice(Notice(to: connection.userKey, live: LiveID(""), at: self.wallTime, content: content)))
        }
        connection.core.loggedIn(until: self.expiry(of: token))
        if let earlier = self.bySession[connection.session], earlier != number { self.disconnect(earlier, .replaced) }
        self.bySession[connection.session] = number
        self.connections[number] = connection
    }

    /// Replies, sends missed notices, and resumes the live that the login names.
    private mutating func accept(_ frame: CallFrame, _ number: Int, _ params: LoginParams) {
        guard let connection = self.connections[number] else { return }
        let missed = params.notices.flatMap { NoticeID(text: $0) }
            .map { self.notices.entries(of: connection.userKey, after: $0) }
        let end = self.notices.lastID(ofPartition: 0)
        if let point = params.resume {
            self.resume(frame.id, number, point)
        } else {
            let result = CallResult.loggedIn(
                session: connection.givenSession, user: connection.user, gateway: self.id, notices: end.text,
                at: self.wallTime)
            self.reply(frame.id, .success(result: result), to: number)
        }
        for entry in missed ?? [] where entry.notice.content.isForClients { self.deliver(entry, to: number) }
        self.connections[number]?.lastNotice = max(connection.lastNotice, end.offset)
    }

    /// Sends presence a join with the client's previous ticket.
    private mutating func resume(_ id: Int64, _ number: Int, _ point: ResumePoint) {
        guard let connection = self.connections[number] else { return }
        switch connection.core.verdict(on: id, .resume(point), in: nil) {
        case .repeated: return
        case .refused(let error): return self.reply(id, .failure(error: error), to: number)
        case .proceed: break
        }
        var caller = connection.caller(id, self.id)
        caller.ticket = point.ticket
        let effect = Effect.audience(AudienceInput(connection.key(point.live), .join(caller: caller)))
        self.begin(id, .resume(point), effect, number)
    }
}
