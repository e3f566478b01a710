// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// A model of battles between the lives of one connection: open battle requests and running battles.
struct BattleModel: Hashable {
    /// A battle request that is not fully answered yet.
    struct Agreement: Hashable {
        var inviter: LiveID
        /// The invitees that have not rejected; the value says whether the invitee has accepted.
        var invited: [LiveID: Bool]
    }

    /// One step of the model.
    ///
    /// The first live of a move is the one whose owner acts.
    enum Move: Hashable {
        case ask(LiveID, [LiveID])
        case fight(LiveID, [LiveID])
        case cancel(LiveID, [LiveID])
        case accept(LiveID)
        case reject(LiveID)
        case exit(LiveID)
        /// Requests expire; running battles continue, because they last far longer.
        case timeOut
        /// All running battles end by time.
        case timeOver
    }

    var agreements: Set<Agreement> = []
    /// The running battles; for each of its lives, the value says whether the live has left.
    var fights: Set<[LiveID: Bool]> = []

    /// All possible moves with these lives.
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

    /// Makes the move, if it is possible in this state.
    ///
    /// - Returns: the code of the reply; nil when the live has no battle that the call could name.
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

    /// Starts the battle when all remaining invitees have accepted; drops it when no invitee remains.
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

extension ConnectionHarness {
    /// The state of the rows, as a model.
    var battleModel: BattleModel {
        var model = BattleModel()
        for key in self.machine.journal.sortedKeys {
            guard case .battle(let battle)? = self.machine.journal[key] else { continue }
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
    /// - Returns: the same codes as `BattleModel.make`.
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
            _ = self.advance(milliseconds: 10_000)
            return 0
        case .timeOver:
            _ = self.advance(milliseconds: 300_000)
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
