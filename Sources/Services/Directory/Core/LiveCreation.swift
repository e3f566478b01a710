// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// A request to create a live; both steps of the creation use it.
struct CreateRequest {
    var key: LiveKey
    /// The fields of the new live that the request sets.
    var changes: LiveChanges
    var owner: UserInfo
    var caller: Caller

    var app: AppID { self.key.app }
    var ownerKey: UserKey { UserKey(self.key.app, self.owner.userID) }
}

/// The two steps of creating a live.
///
/// An owner may run only one live, and only one live may have an id. These two checks need rows of different
/// partitions, so creating a live takes two steps.
///
/// The first step is handled in the partition of the owner. It stores the owner's claim: the right to run this live and
/// no other. The second step is handled in the partition of the live.
///
/// Exactly one `release` command removes the claim. The command is written in the transaction that rejects the second
/// step or ends the live, so the command can never remove a later claim for the same live.
extension DirectoryMachine {
    /// First step, in the owner's partition: checks that the owner runs no other live, and stores the claim.
    func claimOwner(
        _ request: CreateRequest, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let caller = request.caller
        // The key of the row with the session's idempotency window.
        let callsKey = DirectoryKey.ownerCalls(request.ownerKey, caller.request.session)
        switch rows.lookup(callsKey, caller) {
        case .repeated(.answered(let outcome, let required)):
            effects.append(.reply(Reply(to: caller, app: request.app, outcome, required: required)))
            return
        case .repeated(.passedOn):
            // The second step has recorded the outcome, so the second step sends the reply again.
            effects.append(.directory(request.input(.repeatOpen(live: request.key.live, caller: caller))))
            return
        case .forgotten:
            // The window has dropped the outcome: nobody can tell whether the call was applied, so it is rejected.
            effects.append(.requestForgotten(caller, request.app))
            return
        case .fresh:
            break
        }
        do throws(ReplyError) {
            try self.checkFields(of: request)
            if try self.isReentry(request, in: rows) {
                rows.record(callsKey, caller, .passedOn, at: moment)
                let enter = DirectoryCommand.enter(
                    live: request.key.live, owner: request.owner.userID, caller: caller)
                effects.append(.directory(request.input(enter)))
                return
            }
            rows[.claim(request.ownerKey)] = .claim(claim: OwnerClaim(live: request.key.live))
            rows.record(callsKey, caller, .passedOn, at: moment)
            let open = DirectoryCommand.open(
                live: request.key.live, changes: request.changes, owner: request.owner, caller: caller)
            effects.append(.directory(request.input(open)))
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), required: nil), at: moment)
            effects.append(.reply(Reply(to: caller, app: request.app, .failure(error: error))))
        }
    }

    /// Checks the fields of a request.
    ///
    /// - Throws: `noPermission` when a user names another owner; otherwise the error of the first invalid field.
    private func checkFields(of request: CreateRequest) throws(ReplyError) {
        let owner = request.owner
        if request.caller.role == .user, owner.userID != request.caller.userID {
            throw ReplyError(.noPermission, "a user may create only its own lives")
        }
        guard LiveID(checking: request.key.live.text) != nil else {
            throw ReplyError(.badRoomID, "a live's id is 1 to 48 printable ASCII characters without blanks and '/'")
        }
        guard UserID(checking: owner.userID.text) != nil else {
            throw ReplyError(.badParameter, "the owner's id is 1 to 32 letters, digits, '-' or '_'")
        }
        if let error = UserInfo.validationError(
            name: owner.userName, avatarURL: owner.avatarURL, parameterPrefix: "owner")
        {
            throw error
        }
        // The info is built only to check its fields, so any time will do.
        _ = try NewLiveDefaults.info(for: request, self.policies[request.app], at: Timestamp(milliseconds: 0))
        try self.checkFilteredWords(request.changes, request.app)
    }

    /// Whether the owner already runs this live, so that the request is a re-entry instead of a creation.
    ///
    /// - Throws: `inAnotherRoom` when the owner runs another live; `roomExistsAndIsYours` when the owner already runs
    ///   this live and the caller is the app's server, which cannot enter a live.
    private func isReentry(_ request: CreateRequest, in rows: DirectoryRows) throws(ReplyError) -> Bool {
        guard case .claim(let claim)? = rows[.claim(request.ownerKey)] else { return false }
        guard claim.live == request.key.live else {
            throw ReplyError(.inAnotherRoom, "the owner runs the live \(claim.live)")
        }
        guard request.caller.role == .user else {
            throw ReplyError(.roomExistsAndIsYours, "the owner already runs this live")
        }
        return true
    }

    /// Second step for a re-entry, in the live's partition: replies with the current info of the owner's running live.
    ///
    /// The fields of the request are ignored. This step checks again that the live is running and who owns it, because
    /// the live may have ended after the first step.
    func replyToReentry(
        _ key: LiveKey, _ owner: UserID, _ caller: Caller, in rows: inout DirectoryRows, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let callsKey = DirectoryKey.liveCalls(key, caller.request.session)
        guard case .fresh = rows.lookup(callsKey, caller) else {
            self.repeatReplyOfOpening(key, caller, in: rows, into: &effects)
            return
        }
        // The outcome if the live has ended since the first step. Soon a retry can create a new live with this id.
        var outcome = Outcome.failure(
            error: ReplyError(
                .createdTooOften, "the last live with this id is still ending",
                retryAfter: Self.closingRetryMilliseconds))
        var required: RequiredRevision?
        if case .live(let row)? = rows[.live(key)], row.ended == nil {
            if row.info.liveOwner.userID == owner {
                outcome = .success(result: .live(info: row.info, epoch: row.epoch, revision: row.revision))
                required = RequiredRevision(.rooms, key.live, revision: row.revision)
            } else {
                outcome = .failure(error: ReplyError(.roomExists, "the live's id is in use"))
            }
        }
        rows.record(callsKey, caller, .answered(outcome: outcome, required: required), at: moment)
        effects.append(.reply(Reply(to: caller, app: key.app, outcome, required: required)))
    }

    /// Second step for a new live, in the live's partition: checks that the id is free, and opens the live.
    func openLive(
        _ request: CreateRequest, in rows: inout DirectoryRows, at moment: Moment, into effects: inout [Effect]
    ) {
        let caller = request.caller
        let callsKey = DirectoryKey.liveCalls(request.key, caller.request.session)
        switch rows.lookup(callsKey, caller) {
        case .repeated(.answered(let outcome, let required)):
            // The caller repeated the request for another owner, or after the window of the first step had been
            // removed. In both cases the first step has taken the request for a new one and stored a claim, which must
            // be released.
            let reply = Reply(to: caller, app: request.app, outcome, required: required)
            self.rejectAndReleaseClaim(request, reply, in: rows, into: &effects)
            return
        case .repeated(.passedOn), .forgotten:
            let error = ReplyError.requestForgotten
            self.rejectAndReleaseClaim(
                request, Reply(to: caller, app: request.app, .failure(error: error)), in: rows, into: &effects)
            return
        case .fresh:
            break
        }
        do throws(ReplyError) {
            try self.checkIDIsFree(request, in: rows, at: moment.now)
            let info = try NewLiveDefaults.info(for: request, self.policies[request.app], at: moment.now)
            var row = LiveRow(info: info, epoch: moment.offset)
            // A running live counts as empty from now on. A scheduled live does not, so that the app's dismissal policy
            // does not end it before a user has joined.
            if info.status == .running { row.emptySince = moment.now }
            row.dismissAt = self.dismissalTime(of: row, app: request.app)
            rows[.live(request.key)] = .live(row: row)
            let outcome = Outcome.success(
                result: .live(info: info, epoch: row.epoch, revision: row.revision))
            let required = RequiredRevision(.rooms, request.key.live, revision: row.revision)
            rows.record(callsKey, caller, .answered(outcome: outcome, required: required), at: moment)
            self.publishOpening(row, request.key, by: caller, at: moment.now, into: &effects)
            effects.append(.reply(Reply(to: caller, app: request.app, outcome, required: required)))
        } catch {
            rows.record(callsKey, caller, .answered(outcome: .failure(error: error), required: nil), at: moment)
            self.rejectAndReleaseClaim(
                request, Reply(to: caller, app: request.app, .failure(error: error)), in: rows, into: &effects)
        }
    }

    /// Checks that no running or ending live has the id, and that the last live with this id was created long enough
    /// ago.
    ///
    /// - Throws: `roomExists` or `roomExistsAndIsYours` if a running live has the id; `createdTooOften` if the last
    ///   live with this id is still ending, or was created less than `createInterval` ago.
    private func checkIDIsFree(_ request: CreateRequest, in rows: DirectoryRows, at now: Timestamp) throws(ReplyError) {
        guard case .live(let row)? = rows[.live(request.key)] else { return }
        if row.ended == nil {
            throw row.info.liveOwner.userID == request.owner.userID
                ? ReplyError(.roomExistsAndIsYours, "the owner already runs this live")
                : ReplyError(.roomExists, "the live's id is in use")
        }
        if row.isClosing == true {
            throw ReplyError(
                .createdTooOften, "the last live with this id is still ending",
                retryAfter: Self.closingRetryMilliseconds)
        }
        let remainingInterval = row.info.createTime + Self.createInterval - now
        if remainingInterval > Milliseconds(0) {
            throw ReplyError(
                .createdTooOften, "a live with the same id may be created only once a second",
                retryAfter: remainingInterval.count)
        }
    }

    /// Publishes the record of the new live, and notifies the other machines and the app's backend.
    private func publishOpening(
        _ row: LiveRow, _ key: LiveKey, by caller: Caller, at now: Timestamp, into effects: inout [Effect]
    ) {
        let info = row.info
        effects.append(.live(row.record(app: key.app)))
        effects.append(.audience(AudienceInput(key, .opened(epoch: row.epoch, owner: info.liveOwner))))
        effects.append(.barrage(BarrageInput(key, .opened(epoch: row.epoch, owner: info.liveOwner.userID))))
        // The fan-out and presence begin with the default rights, so only other rights are sent.
        if info.isMessageDisable || !info.isGiftEnabled { effects.append(.rightsForFanOut(key, info)) }
        if info.maxMemberCount > 0 { effects.append(.rightsForPresence(key, info)) }
        effects.append(.seat(SeatInput(key, .opened(epoch: row.epoch, info: info))))
        let opened = ConnectionCommand.opened(live: key.live, owner: info.liveOwner, isVoice: info.isVoice)
        effects.append(.connection(ConnectionInput(app: key.app, opened)))
        self.sendCreationEvent(info, key, by: caller.userID, at: now, into: &effects)
    }

    /// Releases the owner's claim and then sends the reply, for a call that opened no live.
    ///
    /// If the owner runs this live, the claim belongs to the running live and is not released.
    private func rejectAndReleaseClaim(
        _ request: CreateRequest, _ reply: Reply, in rows: DirectoryRows, into effects: inout [Effect]
    ) {
        if case .live(let row)? = rows[.live(request.key)], row.ended == nil,
            row.info.liveOwner.userID == request.owner.userID
        {
            effects.append(.reply(reply))
        } else {
            let release = DirectoryCommand.release(
                owner: request.owner.userID, live: request.key.live, thenReply: reply)
            effects.append(.directory(request.input(release)))
        }
    }

    /// Answers a repeated call with the reply that the second step has recorded; opens no live.
    func repeatReplyOfOpening(_ key: LiveKey, _ caller: Caller, in rows: DirectoryRows, into effects: inout [Effect]) {
        switch rows.lookup(.liveCalls(key, caller.request.session), caller) {
        case .repeated(.answered(let outcome, let required)):
            effects.append(
                .reply(Reply(to: caller, app: key.app, rows.outcomeWithMetadata(outcome, of: key), required: required)))
        case .repeated(.passedOn), .forgotten, .fresh:
            effects.append(.requestForgotten(caller, key.app))
        }
    }

    /// Removes the owner's claim for `live`, then sends the reply, if there is one; runs in the owner's partition.
    ///
    /// The reply is sent after the removal, so that the caller can create a live as soon as it has the reply.
    func removeClaim(
        of owner: UserKey, _ live: LiveID, _ reply: Reply?, in rows: inout DirectoryRows,
        into effects: inout [Effect]
    ) {
        if case .claim(let claim)? = rows[.claim(owner)], claim.live == live { rows[.claim(owner)] = nil }
        if let reply { effects.append(.reply(reply)) }
    }
}

extension CreateRequest {
    /// The directory's input with `command`, for the request's app.
    func input(_ command: DirectoryCommand) -> DirectoryInput { DirectoryInput(app: self.app, command) }
}
