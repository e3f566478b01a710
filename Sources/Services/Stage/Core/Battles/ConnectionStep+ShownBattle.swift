// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Decides which battle each live of a connection shows, and which lives are notified of a battle (R10.13).
///
/// The sides of a battle are the lives that take part in it.
extension ConnectionStep {
    /// Makes a live that joins a connection show the latest running battle there.
    mutating func showLatestBattle(of connection: ConnectionView, in live: LiveID) {
        var latest: (id: BattleID, startTime: Timestamp)?
        for member in connection.members {
            guard let battle = self.battle(self.live(member.live)?.value.battle), battle.isRunning,
                let view = battle.view, latest.map({ $0.startTime < view.startTime }) ?? true
            else { continue }
            latest = (battle.id, view.startTime)
        }
        if let latest { self.updateLive(live) { $0.battle = latest.id } }
    }

    /// Makes the live stop showing its battle, and removes the battle when no live shows it any more.
    mutating func hideBattle(of id: LiveID) {
        let shownBattleID = self.live(id)?.value.battle
        guard let battle = self.battle(shownBattleID), let view = battle.view else { return }
        // If the battle has ended in this step, the live's seat machine has not received the result yet.
        // `notifySeatMachines` will send the result.
        if self.battlesEndedInStep.contains(where: { $0.id == battle.id }) { self.hiddenResults.append((id, view)) }
        self.updateLive(id) { $0.battle = nil }
        if self.lives(showing: battle).isEmpty { self.setBattle(battle.id, nil) }
    }

    /// The lives that show the battle now: the sides first, then other lives of the connection.
    mutating func lives(showing battle: Battle) -> [LiveID] {
        self.sidesAndConnectedLives(of: battle).filter { live in
            self.live(live)?.value.battle == battle.id
        }
    }

    /// The lives that are notified of the battle: all lives of its connection, the sides first, even those that show
    /// another battle.
    ///
    /// A side that has left the connection is not notified.
    mutating func lives(notifiedOf battle: Battle) -> [LiveID] {
        self.sidesAndConnectedLives(of: battle).filter { live in
            battle.connection != nil && self.connectionID(of: live) == battle.connection
        }
    }

    /// The sides of a started battle, including those that have left the connection, then all other lives of its
    /// connection.
    mutating func sidesAndConnectedLives(of battle: Battle) -> [LiveID] {
        let sides = (battle.view?.sides ?? []).map(\.live)
        let connectedLives = self.connection(battle.connection)?.members.map(\.live) ?? []
        return sides + connectedLives.filter { !sides.contains($0) }
    }

    /// The battles that lives of the connection show, in the order in which they began.
    mutating func battles(of connection: ConnectionView) -> [BattleView] {
        var battles: [BattleView] = []
        for member in connection.members {
            guard let view = self.battle(self.live(member.live)?.value.battle)?.view else { continue }
            if !battles.contains(where: { $0.id == view.id }) { battles.append(view) }
        }
        return battles.sorted { ($0.startTime, $0.id) < ($1.startTime, $1.id) }
    }
}
