// SPDX-License-Identifier: Apache-2.0
package import CoreKit
import PlazaModel

extension ConnectionMachine {
    /// What is wrong with the rows; empty when the invariants hold.
    ///
    /// For tests and simulation.
    package func checkInvariants(
        of journal: Journal<ConnectionKey, ConnectionRow>, at now: Timestamp
    ) -> [String] {
        var wrong: [String] = []
        for key in journal.sortedKeys {
            let found: [String] =
                switch (key.kind, journal[key]) {
                case (.live, .live(let live)?): self.check(live.value, key.live, journal)
                case (.request, .request(let request)?): self.check(request, key.app, journal, now)
                case (.connection, .connection(let view)?): self.check(view, key.app, journal)
                case (.battle, .battle(let battle)?): self.check(battle, key.app, journal, now)
                case (.floors, .floors?): []
                case (.outcomes, .outcomes(let window)?):
                    window.due <= now ? ["I15: outcomes outlived their time"] : []
                default: ["a row of another kind"]
                }
            wrong += found.map { "\(key.text): \($0)" }
        }
        return wrong
    }

    private func live(_ id: LiveID, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>) -> HostedLive? {
        if case .live(let live)? = rows[.live(LiveKey(app, id))] { live.value } else { nil }
    }

    private func check(
        _ live: HostedLive, _ key: LiveKey, _ rows: Journal<ConnectionKey, ConnectionRow>
    ) -> [String] {
        var wrong: [String] = []
        if let id = live.connection {
            if case .connection(let view)? = rows[.connection(key.app, id)] {
                if view.members.count(where: { $0.live == key.live }) != 1 { wrong.append("I12: not a member") }
            } else {
                wrong.append("I12: in a connection that is not there")
            }
        }
        for invitee in live.outgoing where rows[.request(inviter: key, invitee: invitee)] == nil {
            wrong.append("I13: asks \(invitee) without a request")
        }
        if let inviter = live.incoming {
            if rows[.request(inviter: LiveKey(key.app, inviter), invitee: key.live)] == nil {
                wrong.append("I13: asked by \(inviter) without a request")
            }
        }
        if live.outgoing.count > Limits.coHostTargets { wrong.append("I16: asks too many") }
        if let id = live.battle {
            let connection: ConnectionID?
            if case .battle(let battle)? = rows[.battle(key.app, id)], battle.view != nil {
                connection = battle.connection
            } else {
                connection = nil
            }
            if connection == nil || live.connection != connection {
                wrong.append("I14: shows a battle of another connection")
            }
        }
        if let id = live.battleRequest {
            guard case .battle(let battle)? = rows[.battle(key.app, id)], battle.isAsking else {
                return wrong + ["I14: agrees on a battle that is not asked for"]
            }
            let isIn = battle.inviter == key.live || battle.invitees.contains { $0.live == key.live }
            if !isIn { wrong.append("I14: agrees on a battle of others") }
        }
        return wrong
    }

    private func check(
        _ request: CoHostRequest, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>, _ now: Timestamp
    ) -> [String] {
        var wrong: [String] = []
        let inviter = self.live(request.inviter, app, rows)
        let invitee = self.live(request.invitee, app, rows)
        if inviter?.outgoing.contains(request.invitee) != true { wrong.append("I13: the inviter does not know") }
        if invitee?.incoming != request.inviter { wrong.append("I13: the invitee does not know") }
        if request.expiresAt <= now { wrong.append("I13: a request outlived its time") }
        if let connection = inviter?.connection, connection == invitee?.connection {
            wrong.append("I13: a request between connected lives")
        }
        return wrong
    }

    private func check(
        _ view: ConnectionView, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>
    ) -> [String] {
        var wrong: [String] = []
        if !(2...Limits.coHostLives).contains(view.members.count) { wrong.append("I12: \(view.members.count) lives") }
        if Set(view.members.map(\.live)).count != view.members.count { wrong.append("I12: a live twice") }
        let lives = view.members.map { self.live($0.live, app, rows) }
        if lives.contains(where: { $0?.connection != view.id }) { wrong.append("I12: not symmetric") }
        if Set(lives.map { $0?.isVoice }).count != 1 { wrong.append("I12: voice and video mixed") }
        return wrong
    }

    /// Some live of the battle's connection shows it.
    private func isShown(_ battle: Battle, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>) -> Bool {
        guard let id = battle.connection, case .connection(let view)? = rows[.connection(app, id)] else { return false }
        return view.members.contains { self.live($0.live, app, rows)?.battle == battle.id }
    }

    private func check(
        _ battle: Battle, _ app: AppID, _ rows: Journal<ConnectionKey, ConnectionRow>, _ now: Timestamp
    ) -> [String] {
        var wrong: [String] = []
        if let due = battle.due, due <= now { wrong.append("I14: a battle outlived its time") }
        guard let view = battle.view else {
            if !battle.invitees.contains(where: { !$0.hasAccepted }) { wrong.append("I14: all answered, no start") }
            let all = ([battle.inviter] + battle.invitees.map(\.live)).map { self.live($0, app, rows) }
            if all.contains(where: { $0?.battleRequest != battle.id }) { wrong.append("I14: a live does not know") }
            if Set(all.map { $0?.connection }).count != 1 { wrong.append("I14: asked across connections") }
            return wrong
        }
        let showing = view.sides.filter { self.live($0.live, app, rows)?.battle == battle.id }
        if showing.isEmpty, !self.isShown(battle, app, rows) { wrong.append("I14: a battle that nobody shows") }
        if view.sides.contains(where: { $0.score < 0 }) { wrong.append("I14: a score below zero") }
        if battle.isFighting {
            let fighting = view.sides.filter { !$0.hasLeft }
            if fighting.isEmpty { wrong.append("I14: all have left, no end") }
            if !fighting.allSatisfy(showing.contains) { wrong.append("I14: a fighting live is in another battle") }
            if Set(fighting.map { self.live($0.live, app, rows)?.connection }).count > 1 {
                wrong.append("I14: fighting across connections")
            }
        }
        return wrong
    }
}
