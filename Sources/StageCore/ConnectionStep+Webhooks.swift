// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What an app's backend is told of battles (reference 14), all under the inviting live.
extension ConnectionStep {
    mutating func tellCreated(_ battle: Battle) {
        self.tellBackend(
            battle,
            .battleCreated(
                battle: battle.id, from: battle.asked[0], to: Array(battle.asked.dropFirst()),
                durationMilliseconds: battle.durationSeconds * 1000,
                timeoutMilliseconds: (battle.expiresAt - battle.createdAt).count, needResponse: battle.needResponse,
                extensionInfo: battle.extensionInfo))
    }

    mutating func tellStarted(_ battle: Battle) {
        guard let view = battle.view else { return }
        self.tellBackend(
            battle,
            .battleStarted(
                battle: battle.id, from: view.sides[0], to: Array(view.sides.dropFirst()), createdAt: battle.createdAt,
                startTime: view.startTime, endTime: view.endTime))
    }

    /// The battle is over, or never started.
    mutating func tellEnded(_ battle: Battle) {
        let sides = battle.view?.sides ?? battle.asked
        let kind: BattleEndKind =
            switch battle.view?.ended {
            case nil: .neverStarted
            case .timeOver?: .timeOver
            case .allMemberExit?: .allMemberExit
            }
        self.tellBackend(
            battle,
            .battleEnded(
                battle: battle.id, from: sides[0], to: Array(sides.dropFirst()), createdAt: battle.createdAt,
                startTime: battle.view?.startTime, endTime: battle.view?.endTime ?? self.moment.now, kind: kind))
    }

    private mutating func tellBackend(_ battle: Battle, _ content: WebhookContent) {
        guard self.policy.hasWebhooks else { return }
        self.effects.append(
            .webhook(WebhookEvent(LiveKey(self.app, battle.inviter), at: self.moment.now, content)))
    }
}
