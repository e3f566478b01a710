// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Starts battles, ends them, and makes lives leave them (R10.5, R10.14, R10.16, I14).
extension ConnectionStep {
    /// Starts a requested battle between the inviter and the remaining invitees.
    mutating func start(_ battle: inout Battle) {
        let sides = [battle.inviter] + battle.invitees.map(\.live)
        let endTime = self.moment.now + .seconds(battle.durationSeconds)
        battle.view = BattleView(
            id: battle.id, extensionInfo: battle.extensionInfo, durationSeconds: battle.durationSeconds,
            needResponse: battle.needResponse, startTime: self.moment.now, endTime: endTime,
            sides: sides.map { BattleSide(live: $0, host: self.member($0).host) })
        battle.invitees = []
        self.set(battle.id, battle)
        self.notifyBattleStarted(battle)
        for live in sides { self.update(live) { $0.battleRequest = nil } }
        let others = self.connection(battle.connection)?.members.map(\.live) ?? []
        for live in sides + others.filter({ !sides.contains($0) }) {
            // The live shows this battle instead of the result of its last one, unless the live itself is in another
            // running battle.
            if sides.contains(live) || !self.isInRunningBattle(live) {
                self.hideBattle(of: live)
                self.update(live) { $0.battle = battle.id }
            }
            self.markChanged(live, .battleStarted(battle: battle.id))
            for side in sides { self.markChanged(live, .battleUserJoined(battle: battle.id, live: side)) }
        }
    }

    /// Makes a live that joins a connection show the latest running battle there.
    mutating func showLatestBattle(of connection: ConnectionView, in live: LiveID) {
        var latest: (id: BattleID, startTime: Timestamp)?
        for member in connection.members {
            guard let battle = self.battle(self.live(member.live)?.value.battle), battle.isRunning,
                let view = battle.view, latest.map({ $0.startTime < view.startTime }) ?? true
            else { continue }
            latest = (battle.id, view.startTime)
        }
        if let latest { self.update(live) { $0.battle = latest.id } }
    }

    /// Takes the action for which the battle is due: expires the request, ends the battle, or publishes its scores.
    mutating func handleDueBattle(_ id: BattleID) {
        guard var battle = self.battle(id) else { return }
        guard let view = battle.view else { return self.expireBattleRequests(&battle) }
        if view.endTime <= self.moment.now {
            self.finish(&battle, .timeOver)
        } else {
            self.publishScores(&battle)
        }
    }

    /// Ends the battle, unless it has already ended; its scores become the final result.
    private mutating func finish(_ battle: inout Battle, _ reason: BattleEndReason) {
        guard var view = battle.view, view.ended == nil else { return }
        view.ended = reason
        view.endTime = min(view.endTime, self.moment.now)
        battle.view = view
        battle.isDirty = false
        self.set(battle.id, battle)
        self.battlesEndedInStep.append(view)
        self.notifyBattleEnded(battle)
        for live in self.lives(notifiedOf: battle) {
            self.markChanged(live, .battleEnded(battle: battle.id, reason: reason))
        }
    }

    /// Makes the live leave a running battle at its owner's call.
    mutating func exitBattle(_ id: BattleID, _ live: LiveID, _ caller: Caller) throws(ReplyError) -> CallResult {
        _ = try self.ownedLive(live, by: caller)
        guard let battle = self.battle(id) else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        if battle.isRequested { throw ReplyError(.battleNotStarted, "the battle has not begun") }
        if !battle.isRunning { throw ReplyError(.battleOver, "the battle is over") }
        guard battle.sideIndex(of: live) != nil else {
            throw ReplyError(.roomNotInBattle, "the live is not in the battle")
        }
        self.leaveRunningBattle(live, id)
        return .done
    }

    /// Makes the live leave its running battle and its open battle request.
    mutating func leaveBattles(_ id: LiveID) {
        if var requested = self.battle(self.live(id)?.value.battleRequest) {
            self.leaveRequestedBattle(id, &requested)
        }
        if self.isInRunningBattle(id), let battle = self.live(id)?.value.battle { self.leaveRunningBattle(id, battle) }
    }

    /// Makes one side leave the running battle; when all sides have left, the battle ends.
    private mutating func leaveRunningBattle(_ live: LiveID, _ id: BattleID) {
        guard var battle = self.battle(id), let side = battle.sideIndex(of: live) else { return }
        battle.view?.sides[side].hasLeft = true
        self.set(battle.id, battle)
        for viewer in self.lives(notifiedOf: battle) {
            self.markChanged(viewer, .battleUserExited(battle: battle.id, live: live))
        }
        if battle.view?.sides.allSatisfy(\.hasLeft) == true { self.finish(&battle, .allMemberExit) }
    }
}
