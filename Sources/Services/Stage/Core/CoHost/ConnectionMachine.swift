// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Decides which lives are connected (show each other), and which connected lives are in a battle (a scored contest).
///
/// All inputs of an app are handled in one order. Therefore an input that concerns several lives is one atomic step.
///
/// Rows: the running lives, the open co-host requests, connections, battles, revocation fences (the lowest tickets that
/// kicked users may still use), and each session's idempotency window. When the connection or the battle of a live
/// changes, this machine sends the whole connection and battle to the live's seat machine.
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
        // Rows that fell due before this input are handled first.
        self.handleDue(in: &journal, at: moment, into: &effects)
        self.withStep(input.app, &journal, moment, &effects) { step in
            if let caller = input.command.caller, input.command.isQuery {
                Self.answerQuery(caller, input.command, in: &step)
            } else if let caller = input.command.caller {
                Self.answerCall(caller, input.command, in: &step)
            } else {
                // A command without a caller is a fact: it reports what another machine has decided.
                step.handleFact(input.command)
                step.notifySeatMachines()
            }
        }
    }

    package func handleDueRow(
        _ key: ConnectionKey, in journal: inout Journal<ConnectionKey, ConnectionRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        switch key.kind {
        // These rows are never due.
        case .live, .connection, .fence: break
        case .idempotencyWindow:
            // A window whose row is missing counts as expired.
            let isExpired = journal.update(key) { $0.expire(at: moment) } ?? true
            if isExpired { journal[key] = nil }
        // The end of a co-host request changes no stage, so no seat machine is notified.
        case .request:
            self.withStep(key.app, &journal, moment, &effects) { step in
                step.timeOutCoHostRequest(from: key.live.live, to: key.invitee)
            }
        case .battle:
            self.withStep(key.app, &journal, moment, &effects) { step in
                step.handleDueBattle(BattleID(key.name))
                step.notifySeatMachines()
            }
        }
    }

    /// Runs a step, which handles one input or one due row.
    ///
    /// Rows and effects are swapped into the step and back, so that they are not copied.
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

    /// Answers a query; its outcome is not recorded, because it changes nothing.
    private static func answerQuery(_ caller: Caller, _ command: ConnectionCommand, in step: inout ConnectionStep) {
        let outcome: Outcome
        do throws(ReplyError) {
            outcome = .success(result: try step.answer(query: command, by: caller))
        } catch {
            outcome = .failure(error: error)
        }
        step.effects.append(.reply(Reply(to: caller, app: step.app, outcome)))
    }

    /// Decides and answers a call; a repeated call gets the same answer (I15, docs/RULES.md).
    private static func answerCall(_ caller: Caller, _ command: ConnectionCommand, in step: inout ConnectionStep) {
        let key = ConnectionKey.idempotencyWindow(step.app, caller.request.session)
        let index = step.journal.index(of: key)
        if let index, case .idempotencyWindow(let window)? = step.journal.row(at: index),
            let repeatedEffects = window.effectsOfRepeatedCall(caller, app: step.app)
        {
            step.effects.append(contentsOf: repeatedEffects)
            return
        }
        // A late retry is a copy that is sent more than 60 s after the call's first copy. It is rejected even if the
        // session has no window, because the window may have been removed.
        if caller.isLateRetry {
            step.effects.append(.requestForgotten(caller, step.app))
            return
        }
        let outcome: Outcome
        do throws(ReplyError) {
            outcome = .success(result: try step.decide(command, for: caller))
        } catch {
            outcome = .failure(error: error)
        }
        step.notifySeatMachines()
        // This machine's replies require no revision of the gateway's read model.
        let recordedOutcome = CallOutcome.answered(outcome: outcome, required: nil)
        let moment = step.moment
        if let index {
            _ = step.journal.update(at: index) { $0.record(recordedOutcome, of: caller.counter, at: moment) }
        } else {
            var window = CallWindow(at: moment)
            window.record(recordedOutcome, of: caller.counter, at: moment)
            step.journal[key] = .idempotencyWindow(window: window)
        }
        step.effects.append(.reply(Reply(to: caller, app: step.app, outcome)))
    }
}

extension CallWindow {
    /// The effects that answer a call that is repeated or forgotten; nil when the call is new.
    fileprivate func effectsOfRepeatedCall(_ caller: Caller, app: AppID) -> [Effect]? {
        switch self.lookup(caller.counter) {
        case .fresh: nil
        case .repeated(.answered(let outcome, let required)):
            [.reply(Reply(to: caller, app: app, outcome, required: required))]
        // Not reached: this machine answers its calls itself and passes none on to another machine.
        case .repeated(.passedOn): []
        // The window has dropped the outcome: nobody can tell whether the call was applied, so it is rejected.
        case .forgotten: [.requestForgotten(caller, app)]
        }
    }
}

extension ConnectionCommand {
    /// Whether the command lists open requests: a call that changes nothing, and whose outcome is not recorded.
    ///
    /// `battleInfo` changes nothing either, but is decided and recorded like other calls.
    var isQuery: Bool {
        switch self {
        case .openRequests, .openBattleRequests: true
        default: false
        }
    }

    /// The caller to answer, if the command is a call.
    var caller: Caller? {
        switch self {
        case .opened, .ended, .userGone, .userBack, .profile, .confirmOwner, .floor, .rights, .seatsChanged: nil
        case .request(_, _, _, _, _, let caller), .cancelRequest(_, _, let caller), .accept(_, _, let caller),
            .reject(_, _, let caller), .exit(_, let caller), .requestBattle(_, _, _, _, _, _, let caller),
            .cancelBattle(_, _, _, let caller), .acceptBattle(_, _, let caller), .rejectBattle(_, _, let caller),
            .exitBattle(_, _, let caller), .updateScores(_, _, _, let caller), .muteRemote(_, _, _, let caller),
            .battleInfo(_, _, let caller), .openRequests(_, let caller), .openBattleRequests(_, let caller):
            caller
        }
    }
}
