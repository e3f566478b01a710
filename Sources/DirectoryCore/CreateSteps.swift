// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// A create, as both of its steps carry it.
struct CreateRequest {
    var key: LiveKey
    var changes: LiveChanges
    var owner: UserInfo
    var caller: Caller

    var app: AppID { self.key.app }
    var ownerKey: UserKey { UserKey(self.key.app, self.owner.userID) }
}

/// Creating takes two steps, for two things are unique, and each belongs to another partition: the live that an owner
/// runs, and the owner that a live has.
///
/// A claim is made by the first step and released by exactly one `release`, which is told in the transaction that
/// refuses the second step or ends the live; so a release can never meet a later claim for the same live.
extension DirectoryMachine {
    /// First step, keyed by the owner: the owner runs no other live.
    func create(
        _ request: CreateRequest, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let caller = request.caller
        let callsKey = DirectoryKey.ownerCalls(request.ownerKey, caller.request.session)
        switch rows.verdict(callsKey, caller) {
        case .repeated(.answered(let outcome, let seen)):
            effects.append(.reply(Reply(to: caller, app: request.app, outcome, seen: seen)))
            return
        case .repeated(.passedOn):
            effects.append(.directory(request.input(.repeatOpen(live: request.key.live, caller: caller))))
            return
        case .forgotten:
            effects.append(.forgotten(caller, request.app))
            return
        case .fresh:
            break
        }
        do throws(ReplyError) {
            if try self.returns(request, in: rows) {
                rows.record(callsKey, caller, .passedOn, at: moment.now)
                let enter = DirectoryCommand.enter(
                    live: request.key.live, owner: request.owner.userID, caller: caller)
                effects.append(.directory(request.input(enter)))
                return
            }
            rows[.claim(request.ownerKey)] = .claim(claim: OwnerClaim(live: request.key.live))
            rows.record(callsKey, caller, .passedOn, at: moment.now)
            let open = DirectoryCommand.open(
                live: request.key.live, changes: request.changes, owner: request.owner, caller: caller)
            effects.append(.directory(request.input(open)))
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), seen: nil), at: moment.now)
            effects.append(.reply(Reply(to: caller, app: request.app, .failure(error: error))))
        }
    }

    /// Checks a create's form, and the owner's claim.
    ///
    /// - Returns: whether the owner runs this very live already, and so enters it. An app's server enters nothing.
    private func returns(_ request: CreateRequest, in rows: DirectoryRows) throws(ReplyError) -> Bool {
        let owner = request.owner
        if request.caller.role == .user, owner.userID != request.caller.userID {
            throw ReplyError(.noPermission, "a user creates lives of its own only")
        }
        guard LiveID(checking: request.key.live.text) != nil else {
            throw ReplyError(.badRoomID, "a live's id is 1 to 48 printable ASCII characters without blanks and '/'")
        }
        guard UserID(checking: owner.userID.text) != nil, owner.userName.utf8.count <= Limits.userNameBytes,
            owner.avatarURL.utf8.count <= Limits.urlBytes
        else {
            throw ReplyError(
                .badParameter,
                "the owner's id is 1 to 32 letters, digits, '-' or '_', the name at most \(Limits.userNameBytes) bytes, "
                    + "the avatar's URL at most \(Limits.urlBytes)")
        }
        _ = try LiveRules.newInfo(request, self.policies[request.app], at: Timestamp(milliseconds: 0))
        try self.checkWords(request.changes, request.app)
        guard case .claim(let claim)? = rows[.claim(request.ownerKey)] else { return false }
        guard claim.live == request.key.live else {
            throw ReplyError(.inAnotherRoom, "the owner runs the live \(claim.live)")
        }
        guard request.caller.role == .user else {
            throw ReplyError(.roomExistsAndIsYours, "the owner already runs this live")
        }
        return true
    }

    /// Second step of the owner's return, keyed by the live: it goes on as it is, whatever the create named.
    ///
    /// The claim that the first step saw may be of a live that has ended since, and is about to go; nothing here
    /// depends on it.
    func enter(
        _ key: LiveKey, _ owner: UserID, _ caller: Caller, in rows: inout DirectoryRows, at now: Timestamp,
        into effects: inout [Effect]
    ) {
        let callsKey = DirectoryKey.roomCalls(key, caller.request.session)
        guard case .fresh = rows.verdict(callsKey, caller) else {
            self.repeatOpen(key, caller, in: rows, into: &effects)
            return
        }
        var outcome = Outcome.failure(
            error: ReplyError(.createdTooOften, "the last live of this id is just ending", retryAfter: 100))
        var seen: Seen?
        if case .room(let room)? = rows[.room(key)], room.ended == nil {
            if room.info.liveOwner.userID == owner {
                outcome = .success(result: .live(info: room.info, epoch: room.epoch))
                seen = Seen(.rooms, key.live, revision: room.revision)
            } else {
                outcome = .failure(error: ReplyError(.roomExists, "the live's id is in use"))
            }
        }
        rows.record(callsKey, caller, .answered(outcome: outcome, seen: seen), at: now)
        effects.append(.reply(Reply(to: caller, app: key.app, outcome, seen: seen)))
    }

    /// Second step, keyed by the live: the id is free, and the claim stands.
    func open(_ request: CreateRequest, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]) {
        let caller = request.caller
        let callsKey = DirectoryKey.roomCalls(request.key, caller.request.session)
        switch rows.verdict(callsKey, caller) {
        case .repeated(.answered(let outcome, let seen)):
            // The same request under another owner, or again after the first step forgot it: its claim must go.
            let reply = Reply(to: caller, app: request.app, outcome, seen: seen)
            self.giveUp(request, reply, in: rows, into: &effects)
            return
        case .repeated(.passedOn), .forgotten:
            let error = ReplyError.forgotten
            self.giveUp(request, Reply(to: caller, app: request.app, .failure(error: error)), in: rows, into: &effects)
            return
        case .fresh:
            break
        }
        do throws(ReplyError) {
            try self.checkFree(request, in: rows, at: moment.now)
            let info = try LiveRules.newInfo(request, self.policies[request.app], at: moment.now)
            var row = RoomRow(info: info, epoch: moment.offset)
            // A live that an app's server makes waits for its owner, and is not dismissed before somebody has come.
            if info.status == .running { row.emptySince = moment.now }
            row.dismissAt = self.dismissal(of: row, app: request.app)
            rows[.room(request.key)] = .room(row: row)
            let outcome = Outcome.success(result: .live(info: info, epoch: row.epoch))
            let seen = Seen(.rooms, request.key.live, revision: row.revision)
            rows.record(callsKey, caller, .answered(outcome: outcome, seen: seen), at: moment.now)
            self.tellOpened(row, request.key, by: caller, at: moment.now, into: &effects)
            effects.append(.reply(Reply(to: caller, app: request.app, outcome, seen: seen)))
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), seen: nil), at: moment.now)
            self.giveUp(request, Reply(to: caller, app: request.app, .failure(error: error)), in: rows, into: &effects)
        }
    }

    private func checkFree(_ request: CreateRequest, in rows: DirectoryRows, at now: Timestamp) throws(ReplyError) {
        guard case .room(let room)? = rows[.room(request.key)] else { return }
        if room.ended == nil {
            throw room.info.liveOwner.userID == request.owner.userID
                ? ReplyError(.roomExistsAndIsYours, "the owner already runs this live")
                : ReplyError(.roomExists, "the live's id is in use")
        }
        if room.isClosing == true {
            throw ReplyError(.createdTooOften, "the last live of this id is just ending", retryAfter: 100)
        }
        let wait = room.info.createTime + Self.createInterval - now
        if wait > Milliseconds(0) {
            throw ReplyError(.createdTooOften, "a live's id may be created once a second", retryAfter: wait.count)
        }
    }

    private func tellOpened(
        _ row: RoomRow, _ key: LiveKey, by caller: Caller, at now: Timestamp, into effects: inout [Effect]
    ) {
        let info = row.info
        effects.append(.room(row.record(app: key.app)))
        effects.append(.audience(AudienceInput(key, .opened(epoch: row.epoch, owner: info.liveOwner))))
        effects.append(.barrage(BarrageInput(key, .opened(epoch: row.epoch, owner: info.liveOwner.userID))))
        if info.isMessageDisable || !info.isGiftEnabled { effects.append(.rights(key, info)) }
        if info.maxMemberCount > 0 { effects.append(.limits(key, info)) }
        effects.append(.seat(SeatInput(key, .opened(epoch: row.epoch, info: info))))
        let opened = ConnectionCommand.opened(live: key.live, owner: info.liveOwner, isVoice: info.isVoice)
        effects.append(.connection(ConnectionInput(app: key.app, opened)))
        if self.policies[key.app].hasWebhooks {
            let created = WebhookContent.roomCreated(info: info, by: caller.userID)
            effects.append(.webhook(WebhookEvent(key, at: now, created)))
        }
    }

    /// Answers a create that opened nothing, by way of the owner's claim; a claim whose live does run stays.
    private func giveUp(
        _ request: CreateRequest, _ reply: Reply, in rows: DirectoryRows, into effects: inout [Effect]
    ) {
        if case .room(let room)? = rows[.room(request.key)], room.ended == nil,
            room.info.liveOwner.userID == request.owner.userID
        {
            effects.append(.reply(reply))
        } else {
            let release = DirectoryCommand.release(
                owner: request.owner.userID, live: request.key.live, thenReply: reply)
            effects.append(.directory(request.input(release)))
        }
    }

    /// A create that was sent again: the second step's answer is given again, and nothing is opened.
    func repeatOpen(_ key: LiveKey, _ caller: Caller, in rows: DirectoryRows, into effects: inout [Effect]) {
        switch rows.verdict(.roomCalls(key, caller.request.session), caller) {
        case .repeated(.answered(let outcome, let seen)):
            effects.append(.reply(Reply(to: caller, app: key.app, outcome, seen: seen)))
        case .repeated(.passedOn), .forgotten, .fresh:
            effects.append(.forgotten(caller, key.app))
        }
    }

    /// Keyed by the owner: the claim for `live` goes, and then the caller hears, so that it can create again at once.
    func release(
        _ owner: UserKey, _ live: LiveID, _ thenReply: Reply?, in rows: inout DirectoryRows,
        into effects: inout [Effect]
    ) {
        if case .claim(let claim)? = rows[.claim(owner)], claim.live == live { rows[.claim(owner)] = nil }
        if let thenReply { effects.append(.reply(thenReply)) }
    }
}

extension CreateRequest {
    func input(_ command: DirectoryCommand) -> DirectoryInput { DirectoryInput(app: self.app, command) }
}
