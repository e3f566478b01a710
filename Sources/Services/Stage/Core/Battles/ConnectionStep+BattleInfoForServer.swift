// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Answers an app server's queries about battles (R13.25).
extension ConnectionStep {
    /// The details of the battle `id`; without `id`, of the requested, running or ended battle of `live`.
    mutating func battleInfo(_ id: BattleID?, of live: LiveID?, _ caller: Caller) throws(ReplyError) -> CallResult {
        guard caller.role == .server else { throw ReplyError(.noPermission, "only the app's server may query battles") }
        if let id {
            guard let battle = self.battle(id) else {
                throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
            }
            return .battleInfo(details: battle.details)
        }
        guard let live, let storedLive = self.live(live) else {
            throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
        }
        // A requested battle has no view, and the live takes part in it. A battle with a view may be one of other lives
        // of the connection, because a live also shows their battles.
        guard let battle = self.battle(storedLive.value.battleRequest ?? storedLive.value.battle),
            battle.view?.sides.contains(where: { $0.live == live }) ?? true
        else {
            throw ReplyError(.noBattleInRoom, "the live has no battle")
        }
        return .battleInfo(details: battle.details)
    }
}
