// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel

@testable import StageCore

extension ConnectionMachine: CheckedMachine {
    func violations(in rows: Journal<ConnectionKey, ConnectionRow>, at now: Timestamp) -> [String] {
        var violations: [String] = []
        for key in rows.sortedKeys {
            let rowViolations: [String] =
                switch (key.kind, rows[key]) {
                case (.live, .live(let live)?): self.checkLive(live.value, key.live, rows)
                case (.request, .request(let request)?): self.checkRequest(request, key.app, rows, now)
                case (.connection, .connection(let view)?): self.checkConnection(view, key.app, rows)
                case (.battle, .battle(let battle)?): self.checkBattle(battle, key.app, rows, now)
                case (.fence, .fence?): []
                case (.idempotencyWindow, .idempotencyWindow(let window)?):
                    window.due <= now ? ["I15: outcomes outlived their time"] : []
                default: ["a row of a kind that does not fit its key"]
                }
            violations += rowViolations.map { "\(key.text): \($0)" }
        }
        return violations
    }

    private func live(_ id: LiveID, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>) -> HostedLive? {
        if case .live(let live)? = rows[.live(LiveKey(app, id))] { live.value } else { nil }
    }

    private func checkLive(
        _ live: HostedLive, _ key: LiveKey, _ rows: Journal<ConnectionKey, ConnectionRow>
    ) -> [String] {
        var violations: [String] = []
        if let id = live.connection {
            if case .connection(let view)? = rows[.connection(key.app, id)] {
                if view.members.count(where: { $0.live == key.live }) != 1 { violations.append("I12: not a member") }
            } else {
                violations.append("I12: in a connection that does not exist")
            }
        }
        for invitee in live.outgoing where rows[.request(inviter: key, invitee: invitee)] == nil {
            violations.append("I13: lists a request to \(invitee) that does not exist")
        }
        if let inviter = live.incoming {
            if rows[.request(inviter: LiveKey(key.app, inviter), invitee: key.live)] == nil {
                violations.append("I13: lists a request from \(inviter) that does not exist")
            }
        }
        if live.outgoing.count > Limits.coHostTargets { violations.append("I16: too many open requests") }
        if let id = live.battle {
            let connection: ConnectionID?
            if case .battle(let battle)? = rows[.battle(key.app, id)], battle.view != nil {
                connection = battle.connection
            } else {
                connection = nil
            }
            if connection == nil || live.connection != connection {
                violations.append("I14: shows a battle of another connection")
            }
        }
        if let id = live.battleRequest {
            guard case .battle(let battle)? = rows[.battle(key.app, id)], battle.isRequested else {
                return violations + ["I14: lists a battle request that does not exist"]
            }
            let takesPart = battle.inviter == key.live || battle.invitees.contains { $0.live == key.live }
            if !takesPart { violations.append("I14: lists a battle request of other lives") }
        }
        return violations
    }

    private func checkRequest(
        _ request: CoHostRequest, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>, _ now: Timestamp
    ) -> [String] {
        var violations: [String] = []
        let inviter = self.live(request.inviter, app, rows)
        let invitee = self.live(request.invitee, app, rows)
        if inviter?.outgoing.contains(request.invitee) != true {
            violations.append("I13: the inviter does not list it")
        }
        if invitee?.incoming != request.inviter { violations.append("I13: the invitee does not list it") }
        if request.expiresAt <= now { violations.append("I13: a request outlived its time") }
        if let connection = inviter?.connection, connection == invitee?.connection {
            violations.append("I13: a request between connected lives")
        }
        return violations
    }

    private func checkConnection(
        _ view: ConnectionView, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>
    ) -> [String] {
        var violations: [String] = []
        if !(2...Limits.coHostLives).contains(view.members.count) {
            violations.append("I12: \(view.members.count) lives")
        }
        if Set(view.members.map(\.live)).count != view.members.count { violations.append("I12: a live twice") }
        let lives = view.members.map { self.live($0.live, app, rows) }
        if lives.contains(where: { $0?.connection != view.id }) { violations.append("I12: a member's row disagrees") }
        if Set(lives.map { $0?.isVoice }).count != 1 { violations.append("I12: voice and video mixed") }
        return violations
    }

    /// Whether at least one live of the battle's connection shows the battle.
    private func isShown(_ battle: Battle, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>) -> Bool {
        guard let id = battle.connection, case .connection(let view)? = rows[.connection(app, id)] else { return false }
        return view.members.contains { self.live($0.live, app, rows)?.battle == battle.id }
    }

    private func checkBattle(
        _ battle: Battle, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>, _ now: Timestamp
    ) -> [String] {
        var violations: [String] = []
        if let due = battle.due, due <= now { violations.append("I14: a battle outlived its time") }
        guard let view = battle.view else {
            if !battle.invitees.contains(where: { !$0.hasAccepted }) {
                violations.append("I14: all invitees have accepted, but the battle has not started")
            }
            let participants = ([battle.inviter] + battle.invitees.map(\.live)).map { self.live($0, app, rows) }
            if participants.contains(where: { $0?.battleRequest != battle.id }) {
                violations.append("I14: a live does not list it")
            }
            if Set(participants.map { $0?.connection }).count != 1 {
                violations.append("I14: requested across connections")
            }
            return violations
        }
        let showingSides = view.sides.filter { self.live($0.live, app, rows)?.battle == battle.id }
        if showingSides.isEmpty, !self.isShown(battle, app, rows) {
            violations.append("I14: a battle that no live shows")
        }
        if view.sides.contains(where: { $0.score < 0 }) { violations.append("I14: a score below zero") }
        if battle.isRunning {
            let remaining = view.sides.filter { !$0.hasLeft }
            if remaining.isEmpty { violations.append("I14: all sides have left, but the battle has not ended") }
            if !remaining.allSatisfy(showingSides.contains) { violations.append("I14: a side shows another battle") }
            if Set(remaining.map { self.live($0.live, app, rows)?.connection }).count > 1 {
                violations.append("I14: a battle across connections")
            }
        }
        return violations
    }
}
