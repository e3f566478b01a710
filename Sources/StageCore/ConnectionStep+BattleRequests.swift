// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// How a battle is agreed on (reference 10). A live takes part in one agreement or fight at a time (I14), and each
/// invitee's request ends exactly once (I13).
extension ConnectionStep {
    mutating func requestBattle(
        from: LiveID, to targets: [LiveID], durationSeconds: Int64, needResponse: Bool, timeoutSeconds: Int64,
        _ extensionInfo: String, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        let inviter = try self.owned(from, by: caller)
        guard inviter.value.connection != nil else {
            throw ReplyError(.noSuchConnection, "connect with other lives first")
        }
        if self.isFighting(from) { throw ReplyError(.inAnotherBattle, "you are in a battle") }
        if inviter.value.battleRequest != nil { throw ReplyError(.battlePending, "a battle request is pending") }
        guard !targets.isEmpty else { throw ReplyError(.badParameter, "name the lives to battle with") }
        guard targets.count <= Limits.coHostTargets else {
            throw ReplyError(.overLimit, "a battle request names at most \(Limits.coHostTargets) lives")
        }
        guard (0...self.policy.maxBattleSeconds).contains(durationSeconds) else {
            throw ReplyError(
                .badParameter,
                "a battle lasts 1 to \(self.policy.maxBattleSeconds) seconds; 0 stands for the longest")
        }
        let expiresAt =
            needResponse ? try RequestTimeout.expiry(of: timeoutSeconds, from: self.moment.now) : self.moment.now
        try RequestTimeout.check(extraInfo: extensionInfo)
        var pace = inviter.value.battlePace
        if let wait = pace.count(at: self.moment.now) {
            throw ReplyError(
                .battleTooFrequent, "a live sends \(Pace.burst) battle requests at once, then one each second",
                retryAfter: wait.count)
        }
        var asked: [LiveID] = []
        var codes: [LiveCode] = []
        for target in targets {
            let code =
                asked.contains(target)
                ? .battle(target, .alreadyInvited, .battlePending) : self.code(forBattling: target, from: from)
            if code.code == BattleCode.sent.rawValue { asked.append(target) }
            codes.append(code)
        }
        guard !asked.isEmpty else { throw ReplyError(.noValidRoom, "none of these lives can battle now") }
        self.update(from) { $0.battlePace = pace }
        var battle = Battle(
            id: BattleID("b-\(self.moment.offset)"), inviter: from,
            asked: ([from] + asked).map { BattleSide(live: $0, host: self.member($0).host) },
            createdAt: self.moment.now,
            durationSeconds: durationSeconds == 0 ? self.policy.maxBattleSeconds : durationSeconds,
            needResponse: needResponse, extensionInfo: extensionInfo,
            invitees: asked.map { BattleInvitee(live: $0, hasAccepted: !needResponse) }, expiresAt: expiresAt,
            connection: inviter.value.connection)
        self.set(battle.id, battle)
        self.tellCreated(battle)
        for live in [from] + asked { self.update(live) { $0.battleRequest = battle.id } }
        if needResponse {
            for target in asked {
                self.notify(
                    target,
                    .battleRequestReceived(
                        battle: battle.id, inviter: self.member(from), expiresAt: expiresAt,
                        durationSeconds: battle.durationSeconds, extensionInfo: extensionInfo))
            }
        } else {
            self.start(&battle)
        }
        return .battle(
            battle: battle.id, startTime: battle.view?.startTime, endTime: battle.view?.endTime, codes: codes)
    }

    private mutating func code(forBattling target: LiveID, from: LiveID) -> LiveCode {
        if target == from { return .battle(target, .alreadyInvited, .badParameter) }
        guard let invitee = self.live(target) else { return .battle(target, .noSuchLive, .noSuchRoom) }
        if invitee.value.connection == nil || invitee.value.connection != self.live(from)?.value.connection {
            return .battle(target, .hasLeft, .noSuchConnection)
        }
        if invitee.value.battleRequest != nil { return .battle(target, .inAnotherBattle, .battlePending) }
        return self.isFighting(target)
            ? .battle(target, .inAnotherBattle, .inAnotherBattle) : .battle(target, .sent)
    }

    mutating func isFighting(_ id: LiveID) -> Bool {
        guard let battle = self.battle(self.live(id)?.value.battle) else { return false }
        return battle.isFighting && battle.side(of: id) != nil
    }

    /// By the inviter, before the start; lives that are not invited are ignored.
    mutating func cancelBattle(
        _ id: BattleID, _ live: LiveID, to targets: [LiveID], _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        _ = try self.owned(live, by: caller)
        guard var battle = self.battle(id), battle.view?.ended == nil else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        guard battle.isAsking else { throw ReplyError(.notWhileFighting, "the battle has begun") }
        guard battle.inviter == live else { throw ReplyError(.noPermission, "only the inviter cancels") }
        for target in targets where self.dropInvitee(target, &battle) {
            self.notify(target, .battleRequestCancelled(battle: id, inviter: live, invitee: target))
        }
        self.settle(&battle)
        return .done
    }

    mutating func answerBattle(
        _ id: BattleID, _ live: LiveID, accepted: Bool, _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        _ = try self.owned(live, by: caller)
        guard var battle = self.battle(id) else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        if battle.view?.ended != nil { throw ReplyError(.battleOver, "the battle is over") }
        guard let index = battle.invitees.firstIndex(where: { $0.live == live && !$0.hasAccepted }) else {
            if battle.invitees.contains(where: { $0.live == live }), accepted {
                throw ReplyError(.battlePending, "you have accepted; others have yet to answer")
            }
            throw ReplyError(.noSuchBattle, "the battle has no open request to you")
        }
        if accepted {
            battle.invitees[index].hasAccepted = true
            self.notify(battle.inviter, .battleRequestAccepted(battle: id, invitee: self.member(live)))
        } else {
            self.notify(battle.inviter, .battleRequestRejected(battle: id, invitee: self.member(live)))
            self.dropInvitee(live, &battle)
        }
        self.settle(&battle)
        return .done
    }

    /// Those who have not answered in time have declined.
    mutating func expireBattleRequests(_ battle: inout Battle) {
        for invitee in battle.invitees where !invitee.hasAccepted {
            self.dropInvitee(invitee.live, &battle)
            for live in [battle.inviter, invitee.live] {
                self.notify(
                    live,
                    .battleRequestTimedOut(battle: battle.id, inviter: battle.inviter, invitee: invitee.live))
            }
        }
        self.settle(&battle)
    }

    /// `id` leaves while a battle with it is being agreed on: the inviter takes all back, an invitee declines.
    mutating func leaveAgreement(_ id: LiveID, _ battle: inout Battle) {
        if battle.inviter == id {
            for invitee in battle.invitees {
                self.dropInvitee(invitee.live, &battle)
                self.notify(
                    invitee.live, .battleRequestCancelled(battle: battle.id, inviter: id, invitee: invitee.live))
            }
            self.update(id) { $0.battleRequest = nil }
            self.close(battle)
            return
        }
        let isOpen = battle.invitees.contains { $0.live == id && !$0.hasAccepted }
        self.dropInvitee(id, &battle)
        if isOpen { self.notify(battle.inviter, .battleRequestRejected(battle: battle.id, invitee: self.member(id))) }
        self.settle(&battle)
    }

    @discardableResult
    private mutating func dropInvitee(_ id: LiveID, _ battle: inout Battle) -> Bool {
        guard let index = battle.invitees.firstIndex(where: { $0.live == id }) else { return false }
        battle.invitees.remove(at: index)
        self.update(id) { $0.battleRequest = nil }
        return true
    }

    /// Starts the battle when all are processed and somebody accepted; ends the matter when nobody did.
    private mutating func settle(_ battle: inout Battle) {
        if battle.invitees.isEmpty {
            self.update(battle.inviter) { $0.battleRequest = nil }
            self.notify(battle.inviter, .battleNotStarted(battle: battle.id))
            self.close(battle)
        } else if battle.invitees.allSatisfy(\.hasAccepted) {
            self.start(&battle)
        } else {
            self.set(battle.id, battle)
        }
    }

    /// The battle never starts.
    private mutating func close(_ battle: Battle) {
        self.set(battle.id, nil)
        self.tellEnded(battle)
    }
}
