// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// What battles between lives of one connection should do: what is being agreed on, and who fights.
struct BattleModel: Hashable {
    /// A battle that is being agreed on.
    struct Agreement: Hashable {
        var inviter: LiveID
        /// Whether each of those who have not declined has accepted.
        var invited: [LiveID: Bool]
    }

    /// What may happen; the owner of the first live named acts.
    enum Move: Hashable {
        case ask(LiveID, [LiveID])
        case fight(LiveID, [LiveID])
        case cancel(LiveID, [LiveID])
        case accept(LiveID)
        case reject(LiveID)
        case exit(LiveID)
        /// Requests expire; fights last far longer.
        case timeOut
        /// Fights end.
        case timeOver
    }

    var agreements: Set<Agreement> = []
    /// Each running fight: whether each of its lives has left.
    var fights: Set<[LiveID: Bool]> = []

    /// Every move with these lives.
    static func moves(_ lives: [LiveID]) -> [Move] {
        var moves: [Move] = [.timeOut, .timeOver]
        for live in lives {
            let others = lives.filter { $0 != live }
            moves += [.accept(live), .reject(live), .exit(live)]
            for targets in others.map({ [$0] }) + [others] {
                moves += [.ask(live, targets), .fight(live, targets), .cancel(live, targets)]
            }
        }
        return moves
    }

    func agreement(of live: LiveID) -> Agreement? {
        self.agreements.first { $0.inviter == live || $0.invited[live] != nil }
    }

    func fight(of live: LiveID) -> [LiveID: Bool]? { self.fights.first { $0[live] == false } }

    /// Makes the move, if it can be thought of in this state.
    ///
    /// - Returns: the code; nil: there is nothing to send, for no battle of this live can be named.
    mutating func make(_ move: Move) -> Int? {
        switch move {
        case .ask(let live, let targets): return self.request(live, targets, needResponse: true)
        case .fight(let live, let targets): return self.request(live, targets, needResponse: false)
        case .cancel(let live, let targets):
            guard let old = self.agreement(of: live) else { return nil }
            guard old.inviter == live else { return 100006 }
            self.settle(old) { invited in for target in targets { invited[target] = nil } }
            return 0
        case .accept(let live):
            guard let old = self.agreement(of: live) else { return nil }
            guard let hasAccepted = old.invited[live] else { return 100411 }
            if hasAccepted { return 100416 }
            self.settle(old) { $0[live] = true }
            return 0
        case .reject(let live):
            guard let old = self.agreement(of: live) else { return nil }
            guard old.invited[live] == false else { return 100411 }
            self.settle(old) { $0[live] = nil }
            return 0
        case .exit(let live):
            guard var fight = self.fight(of: live) else { return nil }
            self.fights.remove(fight)
            fight[live] = true
            if fight.values.contains(false) { self.fights.insert(fight) }
            return 0
        case .timeOver:
            self.fights = []
            fallthrough
        case .timeOut:
            for old in self.agreements { self.settle(old) { $0 = $0.filter(\.value) } }
            return 0
        }
    }

    private mutating func request(_ live: LiveID, _ targets: [LiveID], needResponse: Bool) -> Int {
        if self.fight(of: live) != nil { return 100415 }
        if self.agreement(of: live) != nil { return 100416 }
        let free = targets.filter { self.fight(of: $0) == nil && self.agreement(of: $0) == nil }
        if free.isEmpty { return 100412 }
        let new = Agreement(inviter: live, invited: [:])
        self.settle(new) { invited in for target in free { invited[target] = !needResponse } }
        return 0
    }

    /// Starts when all have answered and somebody accepted, and is forgotten when nobody is left.
    private mutating func settle(_ old: Agreement, _ change: (inout [LiveID: Bool]) -> Void) {
        self.agreements.remove(old)
        var new = old
        change(&new.invited)
        if new.invited.isEmpty { return }
        if new.invited.values.contains(false) {
            self.agreements.insert(new)
        } else {
            self.fights.insert(new.invited.mapValues { _ in false }.merging([new.inviter: false]) { $1 })
        }
    }
}

extension ConnectionRig {
    /// What the rows say, as the model would.
    var battleModel: BattleModel {
        var model = BattleModel()
        for key in self.rig.journal.sortedKeys {
            guard case .battle(let battle)? = self.rig.journal[key] else { continue }
            guard let view = battle.view else {
                let invited = battle.invitees.map { ($0.live, $0.hasAccepted) }
                model.agreements.insert(
                    BattleModel.Agreement(
                        inviter: battle.inviter, invited: Dictionary(invited, uniquingKeysWith: { $1 })))
                continue
            }
            if view.ended != nil { continue }
            model.fights.insert(Dictionary(view.sides.map { ($0.live, $0.hasLeft) }, uniquingKeysWith: { $1 }))
        }
        return model
    }

    /// Makes the move with the machine.
    ///
    /// - Returns: as `BattleModel.make`.
    mutating func make(_ move: BattleModel.Move) -> Int? {
        switch move {
        case .ask(let live, let targets): return self.request(live, targets, needResponse: true)
        case .fight(let live, let targets): return self.request(live, targets, needResponse: false)
        case .cancel(let live, let targets):
            guard let id = self.live(live)?.battleRequest else { return nil }
            return self.call(live) { .cancelBattle(battle: id, live: live, to: targets, caller: $0) }.code
        case .accept(let live):
            guard let id = self.live(live)?.battleRequest else { return nil }
            return self.call(live) { .acceptBattle(battle: id, live: live, caller: $0) }.code
        case .reject(let live):
            guard let id = self.live(live)?.battleRequest else { return nil }
            return self.call(live) { .rejectBattle(battle: id, live: live, caller: $0) }.code
        case .exit(let live):
            guard self.battleModel.fight(of: live) != nil, let id = self.live(live)?.battle else { return nil }
            return self.call(live) { .exitBattle(battle: id, live: live, caller: $0) }.code
        case .timeOut:
            _ = self.pass(milliseconds: 10_000)
            return 0
        case .timeOver:
            _ = self.pass(milliseconds: 300_000)
            return 0
        }
    }

    private mutating func request(_ live: LiveID, _ targets: [LiveID], needResponse: Bool) -> Int? {
        self.call(live) {
            .requestBattle(
                from: live, to: targets, durationSeconds: 300, needResponse: needResponse, timeoutSeconds: 10,
                extensionInfo: "", caller: $0)
        }.code
    }
}
