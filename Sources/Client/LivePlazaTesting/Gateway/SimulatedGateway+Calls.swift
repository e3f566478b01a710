// SPDX-License-Identifier: Apache-2.0
internal import GatewayCore
internal import MachineKit
internal import PlazaModel
internal import PlazaWire

/// Calls: the gateway answers reads from memory, and forwards all other calls to their machine.
///
/// A parameter `number` is the number of a connection.
extension SimulatedGateway {
    private static let serverCannotJoin = ReplyError(.noPermission, "an app's server acts in a live without joining it")

    /// Handles a text from a client.
    mutating func textReceived(_ text: [UInt8], from number: Int) {
        guard self.connections[number] != nil else { return }
        self.connections[number]?.lastReceivedAt = self.now
        let frame: CallFrame
        do throws(ReplyError) {
            frame = try CallFrame(text)
        } catch {
            // The id of the call cannot be read, so the reply has the id -1.
            self.reply(-1, .failure(error: error), to: number)
            return self.disconnect(number, .protocolViolation)
        }
        let isLateRetry =
            self.connections[number]?.retryAges.recordCall(
                frame.id, statedAge: frame.age.map { Milliseconds($0) }, at: self.now) ?? false
        if frame.method == "login" { return self.logIn(frame, number) }
        do throws(ReplyError) {
            guard let connection = self.connections[number], connection.core.isLoggedIn else {
                throw ReplyError(.notLoggedIn, "the first call must be login")
            }
            try self.handleCall(frame, connection, isLateRetry: isLateRetry)
        } catch {
            self.reply(frame.id, .failure(error: error), to: number)
        }
    }

    /// Answers a call from memory, or forwards it to its machine.
    private mutating func handleCall(
        _ frame: CallFrame, _ connection: SimulatedConnection, isLateRetry: Bool
    ) throws(ReplyError) {
        let caller = connection.caller(frame.id, self.id, isLateRetry: isLateRetry)
        let parsed = try CallParser(app: connection.app, caller: caller, in: connection.core.live).parse(frame)
        let number = connection.number
        switch parsed {
        case .join where connection.role == .server, .createAndJoin where connection.role == .server:
            throw Self.serverCannotJoin
        case .join(let live, let effect): try self.forward(effect, frame.id, .join(live), in: nil, number)
        case .createAndJoin(let live, let effect):
            try self.forward(effect, frame.id, .create(live, isLateRetry: isLateRetry), in: nil, number)
        case .leave(let live, _) where connection.core.live != live:
            // The client is not in this live, but the call may repeat an earlier leave. It is sent without a ticket,
            // because the connection's ticket is not of this live.
            var caller = caller
            caller.ticket = nil
            let input = AudienceInput(connection.key(live), .leave(caller: caller))
            try self.forward(.audience(input), frame.id, .leave(live), in: nil, number)
        case .leave(let live, let effect): try self.forward(effect, frame.id, .leave(live), in: nil, number)
        case .forward(let effect, let live): try self.forward(effect, frame.id, .plain, in: live, number)
        // `textReceived` has handled the login.
        case .login: break
        case .updateProfile(let name, let avatarURL):
            try self.updateProfile(frame.id, connection, caller, name: name, avatarURL: avatarURL)
        case .ping, .list, .get, .count, .stage, .metadata, .candidates, .gifts, .app:
            let result = try self.answerFromMemory(parsed, app: connection.app)
            self.reply(frame.id, .success(result: result), to: number)
        }
    }

    /// Changes the name or avatar of a user: in presence while the user is in a live, otherwise only here.
    private mutating func updateProfile(
        _ id: Int64, _ connection: SimulatedConnection, _ caller: Caller, name: String?, avatarURL: String?
    ) throws(ReplyError) {
        // A simulated token sets no avatar.
        let caller = try caller.changingProfile(
            name: name, avatarURL: avatarURL, hasFixedName: connection.token?.name != nil, hasFixedAvatar: false)
        if let live = connection.core.live {
            let input = AudienceInput(connection.key(live), .profile(caller: caller))
            return try self.forward(.audience(input), id, .updateProfile(caller.user), in: nil, connection.number)
        }
        self.connections[connection.number]?.user = caller.user
        self.reply(id, .success(result: .done), to: connection.number)
    }

    /// Forwards a call to its machine, unless a call with this id is open already, whose reply then answers both.
    ///
    /// `purpose`: what the call changes at the connection if it succeeds.
    /// `live`: the live that the client must be in; nil if it need not be in any.
    ///
    /// - Throws: The reason of a rejection, such as that the client is not in `live`.
    private mutating func forward(
        _ effect: Effect, _ id: Int64, _ purpose: CallPurpose, in live: LiveID?, _ number: Int
    ) throws(ReplyError) {
        guard let connection = self.connections[number] else { return }
        switch connection.core.verdict(on: id, purpose, requiredLive: live) {
        case .proceed: self.beginCall(id, purpose, effect, number)
        case .repeated: return
        case .rejected(let error):
            // If the live does not exist, `requireLive` throws `noSuchRoom`, which is more exact than `notInRoom`.
            if error.code == .notInRoom, let live { _ = try self.requireLive(self.model.running(connection.key(live))) }
            throw error
        }
    }

    /// Writes a call's record, and registers the open call.
    ///
    /// `start`: when the call's first record was written; nil if this record is the first one.
    mutating func beginCall(
        _ id: Int64, _ purpose: CallPurpose, _ effect: Effect, _ number: Int, since start: MonotonicTime? = nil
    ) {
        self.write(effect)
        self.connections[number]?.core.registerCall(id, purpose, SentEffect(effect: effect), at: self.now, since: start)
    }

    /// The result of a call that only reads; the caller, `handleCall`, passes no other calls.
    private func answerFromMemory(_ call: ParsedCall, app: AppID) throws(ReplyError) -> CallResult {
        let model = self.model
        switch call {
        case .ping: return .pong(at: self.wallTime)
        case .list(let cursor, let count, let category, let isAscending):
            let (items, nextCursor) = try self.ranking.page(
                app: app, cursor: cursor, count: count, isAscending: isAscending, at: self.now
            ) { model.listEntry($0, category: category) }
            return .lives(items: items, cursor: nextCursor)
        case .get(let live): return .room(details: try self.requireLive(model.details(LiveKey(app, live))))
        case .count(let live): return .count(count: try self.requireLive(model.count(LiveKey(app, live))))
        case .stage(let live): return .stage(record: try self.requireLive(model.stage(LiveKey(app, live))))
        case .metadata(let live, let keys):
            return .metadata(values: try self.requireLive(model.metadata(LiveKey(app, live), keys: keys)))
        case .candidates(let live, let cursor, let caller):
            let ownLive = try self.requireLive(model.running(LiveKey(app, live)))
            guard caller.role == .server || caller.userID == ownLive.info.liveOwner.userID else {
                throw ReplyError(.needsOwner, "only the owner of the live may do this")
            }
            let (items, nextCursor) = try self.ranking.page(
                app: app, cursor: cursor, count: Limits.candidatesPage, at: self.now
            ) { model.candidate($0, for: ownLive) }
            return .lives(items: items, cursor: nextCursor)
        case .gifts(let language): return .gifts(categories: model.apps[app].gifts.map { $0.localized(to: language) })
        case .app: return .app(settings: model.apps[app], revision: model.apps.revision(of: app))
        case .login, .updateProfile, .join, .leave, .createAndJoin, .forward:
            throw ReplyError(.internalError, "this call is not answered from memory")
        }
    }

    /// Unwraps what the model knows of a live.
    ///
    /// - Throws: `noSuchRoom` if the value is nil, because the live does not exist.
    private func requireLive<Value>(_ value: Value?) throws(ReplyError) -> Value {
        guard let value else { throw ReplyError(.noSuchRoom, "there is no such live") }
        return value
    }

    /// Applies the changes that an ended call makes to its connection, and sends the reply.
    mutating func complete(_ ended: SessionCore<SentEffect>.EndedCall, _ number: Int) {
        guard let connection = self.connections[number] else { return }
        switch ended.action {
        case .reply(let outcome): self.reply(ended.id, outcome, to: number)
        case .joined(let live, let epoch, let outcome):
            self.completeJoin(connection.key(live), epoch: epoch, outcome, call: ended.id, number)
        case .created(let live, let result, let isLateRetry):
            self.joinCreated(live, result, ended, connection, isLateRetry: isLateRetry)
        case .resumed(let point, let ticket, let epoch):
            self.completeResume(point, ticket: ticket, epoch: epoch, call: ended.id, number)
        case .missedEnd(let point, let outcome): self.sendMissedEnd(point, outcome, call: ended.id, number)
        case .profileUpdated(let user, let outcome):
            self.connections[number]?.user = user
            self.reply(ended.id, outcome, to: number)
        case .left(_, let outcome):
            self.reply(ended.id, outcome, to: number)
            self.connections[number]?.live = nil
        }
    }

    /// Joins the live that a call has created, as part of that call (docs/RULES.md, R3.66).
    private mutating func joinCreated(
        _ live: LiveID, _ created: CallResult, _ ended: SessionCore<SentEffect>.EndedCall,
        _ connection: SimulatedConnection, isLateRetry: Bool
    ) {
        // If the client has entered another live meanwhile, the created live exists, but its owner does not join it.
        guard case .proceed = connection.core.verdict(on: ended.id, .joinCreated(live, created)) else {
            return self.reply(ended.id, .success(result: created), to: connection.number)
        }
        var caller = connection.caller(ended.id, self.id, isLateRetry: isLateRetry)
        // If the client has not joined the created live before, its ticket is not of this live.
        if connection.core.live != live { caller.ticket = nil }
        let effect = Effect.audience(AudienceInput(connection.key(live), .join(caller: caller)))
        self.beginCall(ended.id, .joinCreated(live, created), effect, connection.number, since: ended.startedAt)
    }
}
