// SPDX-License-Identifier: Apache-2.0
internal import Concurrency
internal import GatewayCore
internal import MachineKit
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Handles the login call: authenticates the connection, opens its session, and resumes the live that the call names.
final class ShardLogin {
    private unowned let shard: Shard
    private let gateway: Gateway
    private var random = SystemRandomNumberGenerator()

    init(_ shard: Shard) {
        self.shard = shard
        self.gateway = shard.gateway
    }

    /// Handles the first login of a connection, or a later login with a newer token.
    func logIn(_ frame: CallFrame, _ client: Client, stopwatch: Stopwatch) {
        do throws(ReplyError) {
            let params = try frame.params(LoginParams.self)
            // A connection that has logged in may send many frames, so the rate of its logins is checked before the
            // token's signature. Before the first login, the limits of frames and handshakes bound the number of
            // signatures that are checked.
            if client.core.isLoggedIn { try self.countLogin(of: client.userKey, client.role) }
            let identity = try self.gateway.tokens.authenticate(params.token)
            if !client.core.isLoggedIn { try self.countLogin(of: identity.userKey, identity.role) }
            try self.admitResume(params, of: identity, frame.id, client)
            if client.core.isLoggedIn {
                try self.renew(client, identity)
            } else {
                try self.open(client, identity, params)
            }
            self.completeLogin(frame, client, params, stopwatch: stopwatch)
        } catch {
            self.shard.calls.reply(
                frame.id, .failure(error: error), to: client, method: "login", stopwatch: stopwatch)
            switch error.code {
            case .signedInElsewhere: self.shard.disconnect(client, .kickedOffline)
            case .tokenExpired: self.shard.disconnect(client, .tokenExpired)
            case .tokenInvalid: self.shard.disconnect(client, .tokenRefused)
            case .overLimit: self.shard.disconnect(client, .tooManyConnections)
            // The connection is not counted: `admitLogin` has refused it, because the app has too many connections. If
            // a later step fails with `overloaded`, the connection is counted, stays open, and may log in again.
            case .overloaded where !client.isCounted: self.shard.disconnect(client, .overloaded)
            // The connection stays open, and the client may log in again.
            default: break
            }
        }
    }

    /// Checks the rate limit for logins of a user, or of an app's servers, and counts a login.
    private func countLogin(of user: UserKey, _ role: CallerRole) throws(ReplyError) {
        switch role {
        case .user: try self.gateway.admission.admit(.login, of: user)
        case .server: try self.gateway.admission.admit(.login, ofServersOf: user.app)
        }
    }

    /// Checks the rate limits for the resume that a login requests, if any, and counts the resume.
    ///
    /// A resume also counts as a join, because it may take the user into the live again (R12.8). Each user has limits
    /// of its own, so all clients of a gateway that has ended can resume at another gateway at once.
    private func admitResume(
        _ params: LoginParams, of identity: TokenIdentity, _ id: Int64, _ client: Client
    ) throws(ReplyError) {
        let admission = self.gateway.admission
        if identity.role == .server { return }
        // For a repeated login whose resume has no outcome yet, the join was counted with the first copy.
        guard let point = params.resume, !client.core.hasOpenCall(id) else { return }
        if LiveID(checking: point.live.text) == nil {
            throw ReplyError(.badRoomID, "resume.live is not the name of a live")
        }
        try admission.admit(.membership, of: identity.userKey)
        try admission.admit(.join(point.live), of: identity.userKey)
    }

    /// Extends a logged-in connection to the expiry of a newer token of the same user.
    private func renew(_ client: Client, _ identity: TokenIdentity) throws(ReplyError) {
        guard identity.userKey == client.userKey, identity.role == client.role else {
            throw ReplyError(.badParameter, "the connection belongs to another user")
        }
        client.core.loggedIn(until: self.expiry(of: identity))
    }

    /// Handles the first login of a connection: sets the client's identity and opens its session.
    ///
    /// If a step after `admitLogin` fails, the connection stays counted until it closes or logs in again.
    private func open(_ client: Client, _ identity: TokenIdentity, _ params: LoginParams) throws(ReplyError) {
        // The connection is counted already if its earlier login failed after `admitLogin` had counted it.
        if client.isCounted {
            client.isCounted = false
            self.gateway.admission.removeLogin(client.userKey, role: client.role)
        }
        if let validationError = UserInfo.validationError(name: params.name, avatarURL: params.avatarURL) {
            throw validationError
        }
        let name = identity.name ?? params.name ?? ""
        let avatarURL = identity.avatarURL ?? params.avatarURL ?? ""
        let clientSession: SessionID
        if let text = params.session {
            guard let session = SessionID(checking: text) else {
                throw ReplyError(.badParameter, "session is 1 to 40 letters, digits, hyphens or underscores")
            }
            clientSession = session
        } else {
            clientSession = SessionName.random(bits: (self.random.next(), self.random.next()))
        }
        client.hasFixedName = identity.name != nil
        client.hasFixedAvatar = identity.avatarURL != nil
        client.app = identity.app
        client.user = UserInfo(userID: identity.user, userName: name, avatarURL: avatarURL)
        client.role = identity.role
        client.session = self.gateway.settings.sessionNamer.name(of: clientSession, for: identity.userKey)
        client.clientSession = clientSession
        // A connection that continues a session replaces the session's earlier connection, so the limit of connections
        // is not checked.
        let isReplacing = self.gateway.sessionRegistry.shard(of: client.session) != nil
        try self.gateway.admission.admitLogin(identity.userKey, role: identity.role, isReplacing: isReplacing)
        client.isCounted = true
        try self.shard.sessions.open(
            client, isNamed: params.session != nil, lastNotice: params.notices.flatMap { NoticeID(text: $0) },
            expiry: self.expiry(of: identity))
    }

    /// Completes a successful login: replies, sends missed notices, and resumes the live that the login names, if any.
    private func completeLogin(_ frame: CallFrame, _ client: Client, _ params: LoginParams, stopwatch: Stopwatch) {
        // From now on the input limits of logged-in clients apply.
        client.socket.accept()
        let partition = PlazaTopic.partition(of: client.userKey.text, among: self.gateway.settings.partitions)
        let lastReceivedNotice = params.notices.flatMap { NoticeID(text: $0) }
        let (missedNotices, lastID) = self.gateway.tables.notices(
            of: client.userKey, after: lastReceivedNotice, partition: partition)
        if let point = params.resume {
            // Without an error, the login is not answered here: the outcome of the resume will be the login's reply.
            if let error = self.resume(frame, client, point) {
                self.shard.calls.reply(
                    frame.id, .failure(error: error), to: client, method: "login", stopwatch: stopwatch)
            }
        } else {
            let result = CallResult.loggedIn(
                session: client.clientSession, user: client.user, gateway: self.gateway.settings.id,
                notices: lastID.text, at: Gateway.clientTime)
            self.shard.calls.reply(
                frame.id, .success(result: result), to: client, method: "login", stopwatch: stopwatch)
        }
        // Notices that are not for clients are messages between gateways.
        for entry in missedNotices where entry.notice.content.isForClients {
            self.shard.sessions.deliver(entry, FrameEncoder.text(entry.json.span), to: client)
        }
        client.lastNoticeOffset = max(client.lastNoticeOffset, lastID.offset)
    }

    /// Resumes a live: sends a join with the client's previous ticket, which proves the earlier join, to presence (the
    /// service that knows who is in a live).
    ///
    /// - Returns: The error with which the resume is rejected; nil if the join was sent, by this call or by an earlier
    ///   copy of it that is still open.
    private func resume(_ frame: CallFrame, _ client: Client, _ point: ResumePoint) -> ReplyError? {
        if client.role == .server { return ShardCalls.serverCannotJoin }
        switch client.core.verdict(on: frame.id, .resume(point)) {
        case .proceed: break
        case .repeated: return nil
        case .rejected(let error): return error
        }
        let caller = Caller(
            user: client.user, role: client.role, request: RequestID(session: client.session, counter: frame.id),
            replyTo: self.gateway.settings.id, ticket: point.ticket)
        let input = AudienceInput(client.key(point.live), .join(caller: caller))
        do throws(ReplyError) {
            let sent = try self.shard.calls.send(TopicRecord(.audience(input)), "login")
            self.shard.calls.registerCall(frame.id, .resume(point), sent, client)
            return nil
        } catch {
            return error
        }
    }

    /// Converts the token's expiry to the loop's monotonic time.
    private func expiry(of identity: TokenIdentity) -> MonotonicTime {
        self.shard.now + max(Milliseconds(0), identity.expiresAt - WallClock.now)
    }
}
