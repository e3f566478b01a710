// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Makes lives leave battles; a battle that all sides have left ends (R10.14, R10.15).
extension ConnectionStep {
    /// Makes the live leave a running battle; the caller is the live's owner or the app's server.
    mutating func exitBattle(_ id: BattleID, _ live: LiveID, _ caller: Caller) throws(ReplyError) -> CallResult {
        _ = try self.live(live, forOwner: caller)
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

    /// Makes the live leave its running battle or its open battle request, if it has one.
    mutating func leaveBattles(_ id: LiveID) {
        if var requestedBattle = self.battle(self.live(id)?.value.battleRequest) {
            self.leaveRequestedBattle(id, &requestedBattle)
        }
        if self.isInRunningBattle(id), let battle = self.live(id)?.value.battle { self.leaveRunningBattle(id, battle) }
    }

    /// Makes one side leave the running battle; when all sides have left, the battle ends.
    private mutating func leaveRunningBattle(_ live: LiveID, _ id: BattleID) {
        guard var battle = self.battle(id), let index = battle.sideIndex(of: live) else { return }
        battle.view?.sides[index].hasLeft = true
        self.setBattle(battle.id, battle)
        for notifiedLive in self.lives(notifiedOf: battle) {
            self.markChanged(notifiedLive, .battleUserExited(battle: battle.id, live: live))
        }
        if battle.view?.sides.allSatisfy(\.hasLeft) == true { self.finish(&battle, .allMemberExit) }
    }
}
