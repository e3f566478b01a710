// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Answers an app server's queries about battles (R13.25).
extension ConnectionStep {
    /// The details of the battle `id`, or of the battle in which `live` takes part if `id` is nil.
    ///
    /// A requested battle of the live comes before the running or ended battle that the live shows.
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
        // `battleRequest` is a battle in which the live takes part, and which has no view yet. `battle` is the battle
        // that the live shows. It may be a battle between other lives of the connection, which is not returned.
        guard let battle = self.battle(storedLive.value.battleRequest ?? storedLive.value.battle),
            battle.view?.sides.contains(where: { $0.live == live }) ?? true
        else {
            throw ReplyError(.noBattleInRoom, "the live has no battle")
        }
        return .battleInfo(details: battle.details)
    }
}
