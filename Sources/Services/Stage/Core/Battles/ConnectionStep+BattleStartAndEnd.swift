// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Starts battles, and ends them when their time is over (docs/RULES.md: R10.5, R10.12, I14).
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
        self.setBattle(battle.id, battle)
        self.notifyBattleStarted(battle)
        for live in sides { self.updateLive(live) { $0.battleRequest = nil } }
        for live in self.sidesAndConnectedLives(of: battle) {
            // The live shows this battle instead of the battle that it showed before, unless it takes part in another
            // running battle.
            if sides.contains(live) || !self.isInRunningBattle(live) {
                self.hideBattle(of: live)
                self.updateLive(live) { $0.battle = battle.id }
            }
            self.markChanged(live, .battleStarted(battle: battle.id))
            for side in sides { self.markChanged(live, .battleUserJoined(battle: battle.id, live: side)) }
        }
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

    /// Ends a running battle, whose present scores become the result.
    ///
    /// Does nothing if the battle has not started or is over.
    mutating func finish(_ battle: inout Battle, _ reason: BattleEndReason) {
        guard var view = battle.view, view.ended == nil else { return }
        view.ended = reason
        // A battle that all sides have left ends before its planned end time.
        view.endTime = min(view.endTime, self.moment.now)
        battle.view = view
        battle.isDirty = false
        self.setBattle(battle.id, battle)
        self.battlesEndedInStep.append(view)
        self.notifyBattleEnded(battle)
        for live in self.lives(notifiedOf: battle) {
            self.markChanged(live, .battleEnded(battle: battle.id, reason: reason))
        }
    }
}
