// SPDX-License-Identifier: Apache-2.0
internal import CoreKit
internal import EventLoop
internal import GatewayCore
internal import Observability
internal import PlazaModel
internal import PlazaWire
internal import WebSocket

/// Who a connection is: tokens, sessions, and the notices of its user.
extension Shard {
    /// The login call, or a later one with a newer token.
    func login(_ frame: ClientFrame, _ client: Client, began: Int64) {
        do throws(ReplyError) {
            let params = try frame.params(LoginParams.self)
            let admission = try self.gateway.gate.admit(params.token)
            if client.core.isLoggedIn {
                try self.renew(client, admission)
            } else {
                try self.logIn(client, admission, params)
            }
            self.accepted(frame, client, params, began: began)
        } catch {
            self.reply(frame.id, .failure(error: error), to: client, method: "login", began: began)
            switch error.code {
            case .signedInElsewhere: self.disconnect(client, .kickedOffline)
            case .tokenExpired: self.disconnect(client, .tokenExpired)
            case .tokenInvalid: self.disconnect(client, .tokenRefused)
            default: break
            }
        }
    }

    /// The same user with a newer token, on the same connection.
    private func renew(_ client: Client, _ admission: Admission) throws(ReplyError) {
        guard admission.key == client.userKey, admission.role == client.role else {
            throw ReplyError(.badParameter, "the connection belongs to another user")
        }
        client.core.loggedIn(until: self.end(of: admission))
    }

    private func logIn(_ client: Client, _ admission: Admission, _ params: LoginParams) throws(ReplyError) {
        if let fault = UserInfo.fault(name: params.name, avatarURL: params.avatarURL) { throw fault }
        let name = admission.name ?? params.name ?? ""
        let avatar = admission.avatarURL ?? params.avatarURL ?? ""
        let given: SessionID
        if let text = params.session {
            guard let session = SessionID(checking: text) else {
                throw ReplyError(.badParameter, "session is 1 to 40 letters, digits, hyphens or underscores")
            }
            given = session
        } else {
            given = SessionName.fresh(bits: (self.bits(), self.bits()))
        }
        if let point = params.resume, LiveID(checking: point.live.text) == nil {
            throw ReplyError(.badRoomID, "resume.live is not the name of a live")
        }
        client.hasFixedName = admission.name != nil
        client.hasFixedAvatar = admission.avatarURL != nil
        client.app = admission.app
        client.user = UserInfo(userID: admission.user, userName: name, avatarURL: avatar)
        client.role = admission.role
        client.session = SessionName.bound(given, to: admission.key)
        client.given = given
        let replaced = try self.signIn(
            client, isNamed: params.session != nil, since: params.notices.flatMap { NoticeID(text: $0) })
        client.core.loggedIn(until: self.end(of: admission))
        if let replaced {
            if Int(replaced.shard) == self.number {
                self.sessionReplaced(client.session, replaced.generation)
            } else {
                self.gateway.post(
                    Int(replaced.shard), [.replaced(client.session, generation: replaced.generation)])
            }
        }
        self.sessions[client.session] = client
        client.nextOfUser = self.users[client.userKey]
        self.users[client.userKey] = client
    }

    /// Answers, tells missed notices, and goes back into the room that the client names.
    private func accepted(_ frame: ClientFrame, _ client: Client, _ params: LoginParams, began: Int64) {
        let partition = PlazaTopic.partition(of: client.userKey.text, among: self.gateway.settings.partitions)
        let known = params.notices.flatMap { NoticeID(text: $0) }
        let (missed, end) = self.gateway.tables.notices(of: client.userKey, after: known, partition: partition)
        if let point = params.resume {
            if let error = self.resume(frame, client, point) {
                self.reply(frame.id, .failure(error: error), to: client, method: "login", began: began)
            }
        } else {
            let result = CallResult.loggedIn(
                session: client.given, user: client.user, gateway: self.gateway.settings.id, notices: end.text)
            self.reply(frame.id, .success(result: result), to: client, method: "login", began: began)
        }
        for entry in missed where entry.notice.content.isForClients {
            self.tell(entry, FrameEncoder.text(entry.json.span), client)
        }
        client.lastNotice = max(client.lastNotice, end.offset)
    }

    /// Asks presence to take the client in again, by its old ticket.
    ///
    /// - Returns: why not, if not.
    private func resume(_ frame: ClientFrame, _ client: Client, _ point: ResumePoint) -> ReplyError? {
        if client.role == .server { return Self.serverJoins }
        switch client.core.verdict(on: frame.id, .resume(point), inRoom: nil) {
        case .goesOn: break
        case .repeated: return nil
        case .refused(let error): return error
        }
        let caller = Caller(
            user: client.user, role: client.role, request: RequestID(session: client.session, counter: frame.id),
            replyTo: self.gateway.settings.id, ticket: point.ticket)
        let input = AudienceInput(client.key(point.live), .join(caller: caller))
        do throws(ReplyError) {
            let sent = try self.write(TopicRecord(.audience(input)), "login")
            self.began(frame.id, .resume(point), sent, client)
            return nil
        } catch {
            return error
        }
    }

    /// Another connection continues a session of this shard.
    func sessionReplaced(_ session: SessionID, _ generation: UInt32) {
        guard let client = self.sessions[session], client.generation == generation else { return }
        self.disconnect(client, .replaced)
    }

    /// A notice for a user, who may have several connections here.
    func noticeCame(_ entry: NoticeRing.Entry, _ frame: SharedBytes) {
        var next = self.users[entry.notice.to]
        while let client = next {
            next = client.nextOfUser
            if !entry.notice.content.isForClients {
                if let code = client.signIn.heard(entry.notice.content, own: client.session) {
                    self.disconnect(client, code)
                }
            } else if entry.id.offset > client.lastNotice {
                client.lastNotice = entry.id.offset
                self.tell(entry, frame, client)
            }
        }
    }

    /// Shows a notice to one client; a kick also takes it out of the live (I6).
    private func tell(_ entry: NoticeRing.Entry, _ frame: SharedBytes, _ client: Client) {
        if case .kickedOut(let reason, _) = entry.notice.content, let floor = entry.notice.floor {
            let isOut = client.core.kicked(from: entry.notice.live, floor: floor)
            // The device for whose sake the others are out need not hear of it.
            if reason == .byLoggedOnOtherDevice, !isOut, client.core.place != .outside { return }
            if isOut {
                if let room = client.room { self.remove(client, from: room) }
                let error = ReplyError(.staleTicket, "you were put out of the live; join it again")
                for waiting in self.cancelEntering(client) {
                    self.send(.reply(id: waiting.call, .failure(error: error)), to: client)
                }
            }
        }
        client.socket.send(frame)
    }

    /// The token's end in the loop's time.
    private func end(of admission: Admission) -> Timestamp {
        self.now + Milliseconds(max(0, admission.expiresAt - WallClock.milliseconds()))
    }
}
