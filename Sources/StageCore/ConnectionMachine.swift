// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Decides which lives are connected and which of them battle, in one order per app, so that an agreement between
/// lives is one step.
///
/// Rows: the running lives, the open co-host requests, connections, battles, floors of kicked users, and the outcomes
/// of each session's calls. Each live's seat machine is told its connection and battle whole, at every change.
package struct ConnectionMachine: Machine {
    package typealias Input = ConnectionInput
    package typealias Key = ConnectionKey
    package typealias Row = ConnectionRow

    private let policies: Policies

    /// A machine for apps with these policies.
    package init(policies: Policies = Policies()) { self.policies = policies }

    package func handle(
        _ input: ConnectionInput, in journal: inout Journal<ConnectionKey, ConnectionRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        // What is due came before the input, whoever drives the machine.
        self.handleDue(in: &journal, at: moment, into: &effects)
        self.withStep(input.app, &journal, moment, &effects) { step in
            if let caller = input.command.caller {
                Self.answer(caller, input.command, in: &step)
            } else {
                step.learn(input.command)
                step.tellSeats()
            }
        }
    }

    package func due(
        _ key: ConnectionKey, in journal: inout Journal<ConnectionKey, ConnectionRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        switch key.kind {
        case .live, .connection, .floors: break
        case .outcomes: journal[key] = nil
        case .request:
            self.withStep(key.app, &journal, moment, &effects) { $0.requestTimedOut(key.live.live, key.invitee) }
        case .battle:
            self.withStep(key.app, &journal, moment, &effects) { step in
                step.battleDue(BattleID(key.name))
                step.tellSeats()
            }
        }
    }

    /// Lends the rows to a step; moved there and back, not copied.
    private func withStep(
        _ app: AppID, _ journal: inout Journal<ConnectionKey, ConnectionRow>, _ moment: Moment,
        _ effects: inout [Effect], _ body: (inout ConnectionStep) -> Void
    ) {
        var step = ConnectionStep(app: app, moment: moment, policies: self.policies)
        swap(&step.journal, &journal)
        swap(&step.effects, &effects)
        body(&step)
        swap(&step.journal, &journal)
        swap(&step.effects, &effects)
    }

    /// Answers a call: once decided, always the same (I15).
    private static func answer(_ caller: Caller, _ command: ConnectionCommand, in step: inout ConnectionStep) {
        let key = ConnectionKey.outcomes(step.app, caller.request.session)
        let place = step.journal.place(of: key)
        if let place, case .outcomes(let known)? = step.journal.row(at: place),
            let again = known.replay(to: caller, app: step.app)
        {
            step.effects.append(contentsOf: again)
            return
        }
        let outcome: Outcome
        do throws(ReplyError) {
            outcome = .success(result: try step.decide(command, for: caller))
        } catch {
            outcome = .failure(error: error)
        }
        step.tellSeats()
        let entry = OutcomeWindow.Entry.answered(outcome: outcome, seen: nil)
        let now = step.moment.now
        if let place {
            _ = step.journal.update(at: place) { $0.record(caller.counter, entry, at: now) }
        } else {
            var window = OutcomeWindow(at: now)
            window.record(caller.counter, entry, at: now)
            step.journal[key] = .outcomes(outcomes: window)
        }
        step.effects.append(.reply(Reply(to: caller, app: step.app, outcome)))
    }
}

extension ConnectionCommand {
    /// Who asks, when the command is a call.
    var caller: Caller? {
        switch self {
        case .opened, .ended, .userGone, .userBack, .profile, .confirmOwner, .floor, .rights, .seatsChanged: nil
        case .request(_, _, _, _, _, let caller), .cancelRequest(_, _, let caller), .accept(_, _, let caller),
            .reject(_, _, let caller), .exit(_, let caller), .requestBattle(_, _, _, _, _, _, let caller),
            .cancelBattle(_, _, _, let caller), .acceptBattle(_, _, let caller), .rejectBattle(_, _, let caller),
            .exitBattle(_, _, let caller), .updateScores(_, _, _, let caller), .muteRemote(_, _, _, let caller),
            .battleInfo(_, _, let caller):
            caller
        }
    }
}
