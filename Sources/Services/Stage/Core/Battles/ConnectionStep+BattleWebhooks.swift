// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Notifies an app's backend of battles (R14.21, R14.22); every event names the inviting live.
extension ConnectionStep {
    /// Reports that a battle was requested.
    mutating func notifyBattleCreated(_ battle: Battle) {
        guard let inviterSide = battle.asked.first else { return }
        self.notifyBackend(
            battle,
            .battleCreated(
                battle: battle.id, from: inviterSide, to: Array(battle.asked.dropFirst()),
                durationMilliseconds: Milliseconds.seconds(battle.durationSeconds).count,
                timeoutMilliseconds: (battle.expiresAt - battle.createdAt).count, needResponse: battle.needResponse,
                extensionInfo: battle.extensionInfo))
    }

    /// Reports that a battle has started.
    mutating func notifyBattleStarted(_ battle: Battle) {
        guard let view = battle.view, let inviterSide = view.sides.first else { return }
        self.notifyBackend(
            battle,
            .battleStarted(
                battle: battle.id, from: inviterSide, to: Array(view.sides.dropFirst()), createdAt: battle.createdAt,
                startTime: view.startTime, endTime: view.endTime))
    }

    /// Reports the end of a battle, even if the battle was never started.
    mutating func notifyBattleEnded(_ battle: Battle) {
        let sides = battle.view?.sides ?? battle.asked
        // This machine stores no battle without sides, but a damaged row may have none.
        guard let inviterSide = sides.first else { return }
        let kind: BattleEndKind =
            switch battle.view?.ended {
            case nil: .neverStarted
            case .timeOver?: .timeOver
            case .allMemberExit?: .allMemberExit
            }
        self.notifyBackend(
            battle,
            .battleEnded(
                battle: battle.id, from: inviterSide, to: Array(sides.dropFirst()), createdAt: battle.createdAt,
                startTime: battle.view?.startTime, endTime: battle.view?.endTime ?? self.moment.now, kind: kind))
    }

    /// Sends an event about a battle, if the app has webhooks.
    private mutating func notifyBackend(_ battle: Battle, _ content: WebhookContent) {
        guard self.policy.hasWebhooks else { return }
        self.effects.append(
            .webhook(WebhookEvent(LiveKey(self.app, battle.inviter), at: self.moment.now, content)))
    }
}
