// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Battle requests, until the battle starts or is cancelled (R10.1, R10.3).
///
/// A live takes part in only one battle request or running battle at a time (I14, docs/RULES.md). The request to each
/// invitee ends exactly once (I13).
extension ConnectionStep {
    /// Requests a battle with those of `targets` that can battle now, and returns a code for each of `targets`.
    mutating func requestBattle(
        from inviterID: LiveID, to targets: [LiveID], durationSeconds: Int64, needResponse: Bool, timeoutSeconds: Int64,
        _ extensionInfo: String, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let inviter = try self.live(inviterID, forOwner: caller)
        guard inviter.value.connection != nil else {
            throw ReplyError(.noSuchConnection, "your live is in no connection; connect with other lives first")
        }
        if self.isInRunningBattle(inviterID) { throw ReplyError(.inAnotherBattle, "you are in a battle") }
        if inviter.value.battleRequest != nil { throw ReplyError(.battlePending, "a battle request is pending") }
        guard !targets.isEmpty else {
            throw ReplyError(.badParameter, "to names 0 lives; 1 to \(Limits.coHostTargets) are possible")
        }
        guard targets.count <= Limits.coHostTargets else {
            throw ReplyError(
                .overLimit, "to names \(targets.count) lives; 1 to \(Limits.coHostTargets) are possible")
        }
        guard (0...self.policy.maxBattleSeconds).contains(durationSeconds) else {
            throw ReplyError(
                .badParameter,
                "duration is \(durationSeconds); 0 (the maximum) to \(self.policy.maxBattleSeconds) seconds are "
                    + "possible")
        }
        // A battle that starts at once has no request that could expire.
        let expiresAt =
            needResponse ? try RequestParameters.expiry(after: timeoutSeconds, from: self.moment.now) : self.moment.now
        try RequestParameters.check(extraInfo: extensionInfo)
        // The limiter is stored below, because the request counts only if at least one target can be invited.
        var limiter = inviter.value.battleRequestLimiter
        if let wait = limiter.admitOrReturnWait(at: self.moment.now) {
            throw ReplyError(
                .battleTooFrequent,
                "a live sends \(RequestRateLimiter.burst) battle requests at once, then one each second",
                retryAfter: wait.count)
        }
        var invited: [LiveID] = []
        var codes: [LiveCode] = []
        for target in targets {
            let liveCode =
                invited.contains(target)
                ? .battle(target, .alreadyInvited, .battlePending)
                : self.codeOfBattleRequest(to: target, from: inviterID)
            if liveCode.code == BattleCode.sent.rawValue { invited.append(target) }
            codes.append(liveCode)
        }
        guard !invited.isEmpty else { throw ReplyError(.noValidRoom, "none of these lives can battle now") }
        self.updateLive(inviterID) { $0.battleRequestLimiter = limiter }
        var battle = Battle(
            // The offset of the input makes the id unique.
            id: BattleID("b-\(self.moment.offset)"), inviter: inviterID,
            asked: ([inviterID] + invited).map { BattleSide(live: $0, host: self.member($0).host) },
            createdAt: self.moment.now,
            durationSeconds: durationSeconds == 0 ? self.policy.maxBattleSeconds : durationSeconds,
            needResponse: needResponse, extensionInfo: extensionInfo,
            invitees: invited.map { BattleInvitee(live: $0, hasAccepted: !needResponse) }, expiresAt: expiresAt,
            connection: inviter.value.connection)
        self.setBattle(battle.id, battle)
        self.notifyBattleCreated(battle)
        for live in [inviterID] + invited { self.updateLive(live) { $0.battleRequest = battle.id } }
        if needResponse {
            for target in invited {
                self.notifyOwner(
                    of: target,
                    .battleRequestReceived(
                        battle: battle.id, inviter: self.member(inviterID), expiresAt: expiresAt,
                        durationSeconds: battle.durationSeconds, extensionInfo: extensionInfo))
            }
        } else {
            self.start(&battle)
        }
        return .battle(
            battle: battle.id, startTime: battle.view?.startTime, endTime: battle.view?.endTime, codes: codes)
    }

    /// The result for one target: `sent` if the target can be invited; otherwise the reason why not, as a battle code
    /// and as a reply code.
    private mutating func codeOfBattleRequest(to target: LiveID, from inviterID: LiveID) -> LiveCode {
        // A live that is named twice gets the same battle code, but another reply code.
        if target == inviterID { return .battle(target, .alreadyInvited, .badParameter) }
        guard let invitee = self.live(target) else { return .battle(target, .noSuchLive, .noSuchRoom) }
        if invitee.value.connection == nil || invitee.value.connection != self.live(inviterID)?.value.connection {
            return .battle(target, .hasLeft, .noSuchConnection)
        }
        if invitee.value.battleRequest != nil { return .battle(target, .inAnotherBattle, .battlePending) }
        return self.isInRunningBattle(target)
            ? .battle(target, .inAnotherBattle, .inAnotherBattle) : .battle(target, .sent)
    }

    /// Whether the live takes part in a running battle and has not left it.
    mutating func isInRunningBattle(_ id: LiveID) -> Bool {
        guard let battle = self.battle(self.live(id)?.value.battle) else { return false }
        return battle.isRunning && battle.sideIndex(of: id) != nil
    }

    /// Cancels the requests of the caller's `live` to `targets`; targets that are not invited are ignored.
    ///
    /// Only the inviter may cancel, and only before the battle starts.
    mutating func cancelBattle(
        _ id: BattleID, _ live: LiveID, to targets: [LiveID], _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        _ = try self.live(live, forOwner: caller)
        guard var battle = self.battle(id), battle.view?.ended == nil else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        guard battle.isRequested else { throw ReplyError(.notWhileFighting, "the battle has begun") }
        guard battle.inviter == live else { throw ReplyError(.noPermission, "only the inviter may cancel the request") }
        for target in targets {
            let wasInvited = self.removeInvitee(target, &battle)
            if !wasInvited { continue }
            self.notifyOwner(of: target, self.battleRequestCancelled(battle, target))
        }
        self.startOrCancelIfDecided(&battle)
        return .done
    }

    /// Accepts or rejects the request for a battle on behalf of the invited live.
    mutating func answerBattle(
        _ id: BattleID, _ live: LiveID, isAccepted: Bool, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        _ = try self.live(live, forOwner: caller)
        guard var battle = self.battle(id) else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        if battle.view?.ended != nil { throw ReplyError(.battleOver, "the battle is over") }
        guard let index = battle.invitees.firstIndex(where: { $0.live == live && !$0.hasAccepted }) else {
            // The live is not invited, or has accepted already. Only a repeated acceptance has its own error (R10.8).
            if battle.invitees.contains(where: { $0.live == live }), isAccepted {
                throw ReplyError(.battlePending, "you have accepted; other lives have not answered yet")
            }
            throw ReplyError(.noSuchBattle, "the battle has no open request to you")
        }
        if isAccepted {
            battle.invitees[index].hasAccepted = true
            self.notifyOwner(of: battle.inviter, .battleRequestAccepted(battle: id, invitee: self.member(live)))
        } else {
            self.notifyOwner(of: battle.inviter, .battleRequestRejected(battle: id, invitee: self.member(live)))
            self.removeInvitee(live, &battle)
        }
        self.startOrCancelIfDecided(&battle)
        return .done
    }

    /// Removes the invitees that have not answered in time; the battle continues as if they had rejected the request.
    mutating func expireBattleRequests(_ battle: inout Battle) {
        for invitee in battle.invitees where !invitee.hasAccepted {
            self.removeInvitee(invitee.live, &battle)
            let notice = NoticeContent.battleRequestTimedOut(
                battle: battle.id, inviter: battle.inviter, invitee: invitee.live,
                inviterMember: self.member(battle.inviter), inviteeMember: self.member(invitee.live))
            for live in [battle.inviter, invitee.live] { self.notifyOwner(of: live, notice) }
        }
        self.startOrCancelIfDecided(&battle)
    }

    /// Makes the live `id` leave a battle that has not started: the inviter cancels the battle, an invitee rejects it.
    mutating func leaveRequestedBattle(_ id: LiveID, _ battle: inout Battle) {
        if battle.inviter == id {
            for invitee in battle.invitees {
                self.removeInvitee(invitee.live, &battle)
                self.notifyOwner(of: invitee.live, self.battleRequestCancelled(battle, invitee.live))
            }
            self.updateLive(id) { $0.battleRequest = nil }
            self.cancelRequestedBattle(battle)
            return
        }
        // If the invitee has accepted, its request has ended already, and the inviter got the notice of that.
        let hasOpenRequest = battle.invitees.contains { $0.live == id && !$0.hasAccepted }
        self.removeInvitee(id, &battle)
        if hasOpenRequest {
            self.notifyOwner(of: battle.inviter, .battleRequestRejected(battle: battle.id, invitee: self.member(id)))
        }
        self.startOrCancelIfDecided(&battle)
    }

    /// The notice that the inviter has cancelled its request to `invitee`.
    private mutating func battleRequestCancelled(_ battle: Battle, _ invitee: LiveID) -> NoticeContent {
        .battleRequestCancelled(
            battle: battle.id, inviter: battle.inviter, invitee: invitee, inviterMember: self.member(battle.inviter),
            inviteeMember: self.member(invitee))
    }

    /// Removes an invitee from the request; false when the live is not invited.
    @discardableResult
    private mutating func removeInvitee(_ id: LiveID, _ battle: inout Battle) -> Bool {
        guard let index = battle.invitees.firstIndex(where: { $0.live == id }) else { return false }
        battle.invitees.remove(at: index)
        self.updateLive(id) { $0.battleRequest = nil }
        return true
    }

    /// Starts the battle when all remaining invitees have accepted; cancels it when none remains; else only stores it.
    private mutating func startOrCancelIfDecided(_ battle: inout Battle) {
        if battle.invitees.isEmpty {
            self.updateLive(battle.inviter) { $0.battleRequest = nil }
            self.notifyOwner(of: battle.inviter, .battleNotStarted(battle: battle.id))
            self.cancelRequestedBattle(battle)
        } else if battle.invitees.allSatisfy(\.hasAccepted) {
            self.start(&battle)
        } else {
            self.setBattle(battle.id, battle)
        }
    }

    /// Removes a battle that has not started.
    private mutating func cancelRequestedBattle(_ battle: Battle) {
        self.setBattle(battle.id, nil)
        self.notifyBattleEnded(battle)
    }
}
