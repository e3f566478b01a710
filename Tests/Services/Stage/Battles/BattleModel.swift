// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// A model of battles between the lives of one connection: open battle requests and running battles.
struct BattleModel: Hashable {
    /// A battle request that not all invitees have answered.
    struct OpenRequest: Hashable {
        var inviter: LiveID
        /// The remaining invitees: those whose request was not rejected or cancelled and has not expired.
        ///
        /// The value says whether the invitee has accepted.
        var invited: [LiveID: Bool]
    }

    /// One step of the model; the first live of a move is the one whose owner acts.
    enum Move: Hashable {
        /// Requests a battle that the invitees have to accept.
        case request(LiveID, targets: [LiveID])
        /// Starts a battle that needs no response.
        case start(LiveID, targets: [LiveID])
        /// Cancels the open request of the live to the targets.
        case cancel(LiveID, targets: [LiveID])
        /// Accepts the open request to the live.
        case accept(LiveID)
        /// Rejects the open request to the live.
        case reject(LiveID)
        /// Leaves the running battle.
        case exit(LiveID)
        /// The open requests expire; running battles continue, because a battle lasts far longer than a request.
        case requestsExpire
        /// All running battles end by time; open requests expire too, because their time-out is shorter.
        case battlesEnd
    }

    var openRequests: Set<OpenRequest> = []
    /// The running battles: for each live that takes part, the value says whether the live has left.
    var runningBattles: Set<[LiveID: Bool]> = []

    /// All possible moves with these lives.
    static func moves(_ lives: [LiveID]) -> [Move] {
        var moves: [Move] = [.requestsExpire, .battlesEnd]
        for live in lives {
            let others = lives.filter { $0 != live }
            moves += [.accept(live), .reject(live), .exit(live)]
            // The targets are one other live, or all other lives.
            for targets in others.map({ [$0] }) + [others] {
                moves += [
                    .request(live, targets: targets), .start(live, targets: targets), .cancel(live, targets: targets),
                ]
            }
        }
        return moves
    }

    /// The open request that the live has sent or is invited to.
    func openRequest(of live: LiveID) -> OpenRequest? {
        self.openRequests.first { $0.inviter == live || $0.invited[live] != nil }
    }

    /// The running battle that the live takes part in and has not left.
    func runningBattle(of live: LiveID) -> [LiveID: Bool]? { self.runningBattles.first { $0[live] == false } }

    /// Makes the move, if it is possible in this state.
    ///
    /// - Returns: the code of the reply, `success` for a move that is not a call; nil when the live has no battle that
    ///   the call could name.
    mutating func make(_ move: Move) -> ReplyCode? {
        switch move {
        case .request(let live, let targets): return self.request(live, targets, needResponse: true)
        case .start(let live, let targets): return self.request(live, targets, needResponse: false)
        case .cancel(let live, let targets):
            guard let request = self.openRequest(of: live) else { return nil }
            guard request.inviter == live else { return .noPermission }
            self.update(request) { invited in for target in targets { invited[target] = nil } }
            return .success
        case .accept(let live):
            guard let request = self.openRequest(of: live) else { return nil }
            guard let hasAccepted = request.invited[live] else { return .noSuchBattle }
            if hasAccepted { return .battlePending }
            self.update(request) { $0[live] = true }
            return .success
        case .reject(let live):
            guard let request = self.openRequest(of: live) else { return nil }
            guard request.invited[live] == false else { return .noSuchBattle }
            self.update(request) { $0[live] = nil }
            return .success
        case .exit(let live):
            guard var battle = self.runningBattle(of: live) else { return nil }
            self.runningBattles.remove(battle)
            battle[live] = true
            if battle.values.contains(false) { self.runningBattles.insert(battle) }
            return .success
        case .requestsExpire:
            self.expireOpenRequests()
            return .success
        case .battlesEnd:
            self.runningBattles = []
            // The expiry of a request may start a battle. That battle has only begun, so it does not end.
            self.expireOpenRequests()
            return .success
        }
    }

    /// Removes the invitees that have not accepted from all open requests.
    private mutating func expireOpenRequests() {
        for request in self.openRequests { self.update(request) { $0 = $0.filter(\.value) } }
    }

    private mutating func request(_ live: LiveID, _ targets: [LiveID], needResponse: Bool) -> ReplyCode {
        if self.runningBattle(of: live) != nil { return .inAnotherBattle }
        if self.openRequest(of: live) != nil { return .battlePending }
        let freeTargets = targets.filter { self.runningBattle(of: $0) == nil && self.openRequest(of: $0) == nil }
        if freeTargets.isEmpty { return .noValidRoom }
        let request = OpenRequest(inviter: live, invited: [:])
        // A battle that needs no response counts as accepted by all invitees.
        self.update(request) { invited in for target in freeTargets { invited[target] = !needResponse } }
        return .success
    }

    /// Changes the invitees of a request; starts the battle when all remaining invitees have accepted, and removes the
    /// request when no invitee remains.
    private mutating func update(_ request: OpenRequest, _ change: (inout [LiveID: Bool]) -> Void) {
        self.openRequests.remove(request)
        var updated = request
        change(&updated.invited)
        if updated.invited.isEmpty { return }
        if updated.invited.values.contains(false) {
            self.openRequests.insert(updated)
        } else {
            // No live has left the battle yet.
            var hasLeft: [LiveID: Bool] = [updated.inviter: false]
            for live in updated.invited.keys { hasLeft[live] = false }
            self.runningBattles.insert(hasLeft)
        }
    }
}

extension ConnectionHarness {
    /// The state of the rows, as a model.
    var battleModel: BattleModel {
        var model = BattleModel()
        for key in self.machine.rows.sortedKeys {
            guard case .battle(let battle)? = self.machine.rows[key] else { continue }
            guard let view = battle.view else {
                let invited = battle.invitees.map { ($0.live, $0.hasAccepted) }
                model.openRequests.insert(
                    BattleModel.OpenRequest(
                        inviter: battle.inviter, invited: Dictionary(invited, uniquingKeysWith: { $1 })))
                continue
            }
            if view.ended != nil { continue }
            model.runningBattles.insert(Dictionary(view.sides.map { ($0.live, $0.hasLeft) }, uniquingKeysWith: { $1 }))
        }
        return model
    }

    /// Makes the move with the machine.
    ///
    /// - Returns: the same codes as `BattleModel.make`.
    mutating func make(_ move: BattleModel.Move) -> ReplyCode? {
        switch move {
        case .request(let live, let targets): return self.request(live, targets, needResponse: true)
        case .start(let live, let targets): return self.request(live, targets, needResponse: false)
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
            guard self.battleModel.runningBattle(of: live) != nil, let id = self.live(live)?.battle else { return nil }
            return self.call(live) { .exitBattle(battle: id, live: live, caller: $0) }.code
        // `request` below sets a time-out of 10 s and a duration of 300 s.
        case .requestsExpire:
            _ = self.advance(milliseconds: 10_000)
            return .success
        case .battlesEnd:
            _ = self.advance(milliseconds: 300_000)
            return .success
        }
    }

    private mutating func request(_ live: LiveID, _ targets: [LiveID], needResponse: Bool) -> ReplyCode? {
        self.call(live) {
            .requestBattle(
                from: live, to: targets, durationSeconds: 300, needResponse: needResponse, timeoutSeconds: 10,
                extensionInfo: "", caller: $0)
        }.code
    }
}
