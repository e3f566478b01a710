// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Decides who sits on the seats of a live, and writes the stage: one record and one revision for each change.
///
/// Keyed by live. Rows: the stage, its open requests, the floors of kicked users, and the outcomes of each session's
/// calls. Answers nothing twice (I15), lets each request end once (I13), and seats each user once (I11).
package struct SeatMachine: Machine {
    package typealias Input = SeatInput
    package typealias Key = SeatKey
    package typealias Row = SeatRow

    /// How long the record of an ended live's stage stays.
    package static let keptAfterEnd = Milliseconds.seconds(300)

    private let policies: Policies

    /// A machine for apps with these policies.
    package init(policies: Policies = Policies()) { self.policies = policies }

    package func handle(
        _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        // What is due came before the input, whoever drives the machine.
        self.handleDue(in: &journal, at: moment, into: &effects)
        if let caller = input.command.caller {
            self.answer(caller, input, in: &journal, at: moment, into: &effects)
        } else {
            self.learn(input, in: &journal, at: moment, into: &effects)
        }
    }

    package func due(
        _ key: SeatKey, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment, into effects: inout [Effect]
    ) {
        switch key {
        case .stage(let live):
            journal[.stage(live)] = nil
            journal[.requests(live)] = nil
            journal[.floors(live)] = nil
            effects.append(.stageGone(live))
        case .requests(let live):
            guard var step = SeatStep(live, moment, journal) else {
                journal[key] = nil
                return
            }
            step.expireRequests()
            step.store(in: &journal, into: &effects)
        case .floors: break
        case .outcomes: journal[key] = nil
        }
    }

    /// Answers a call: once decided, always the same (I15).
    private func answer(
        _ caller: Caller, _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let app = input.key.app
        var window = journal.outcomes(input.key, caller.request.session) ?? OutcomeWindow(at: moment.now)
        switch window.verdict(on: caller.request.counter) {
        case .repeated(.answered(let outcome, let seen)):
            effects.append(.reply(Reply(to: caller, app: app, outcome, seen: seen)))
            return
        case .repeated(.passedOn):
            // Checked anew and passed on anew, or back from presence.
            break
        case .fresh where !input.command.isSecondStep:
            break
        case .fresh, .forgotten:
            effects.append(
                .failure(.requestForgotten, "the request id is older than the outcomes kept", to: caller, app: app))
            return
        }
        var entry = OutcomeWindow.Entry.passedOn
        do throws(ReplyError) {
            guard var step = SeatStep(input.key, moment, journal) else {
                throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
            }
            if let refusal = journal.floors(input.key).refusal(of: caller) { throw refusal }
            let result = try step.decide(input.command, for: caller)
            let seen = step.publish(self.policies)
            step.store(in: &journal, into: &effects)
            if let result { entry = .answered(outcome: .success(result: result), seen: seen) }
        } catch {
            entry = .answered(outcome: .failure(error: error), seen: nil)
        }
        window.record(caller.request.counter, entry, at: moment.now)
        journal[.outcomes(input.key, caller.request.session)] = .outcomes(outcomes: window)
        if case .answered(let outcome, let seen) = entry {
            effects.append(.reply(Reply(to: caller, app: app, outcome, seen: seen)))
        }
    }

    /// Takes in what another machine tells.
    private func learn(
        _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        switch input.command {
        case .opened(let epoch, let info):
            let last = journal.stage(input.key)
            // An opening that is told again, or late, is not a new one.
            if let last, last.goneAt == nil || last.epoch >= epoch { return }
            var step = SeatStep(opening: input.key, moment, epoch: epoch, info: info, after: last)
            step.publish(self.policies)
            step.store(in: &journal, into: &effects)
        case .floor(let user, let ticket):
            guard let stage = journal.stage(input.key), stage.goneAt == nil else { return }
            var floors = journal.floors(input.key)
            floors.raise(user, to: ticket)
            journal[.floors(input.key)] = .floors(floors: floors)
        case .ended(let ending):
            if var step = SeatStep(input.key, moment, journal), step.stage.epoch <= ending.epoch {
                step.ended()
                step.publish(self.policies)
                step.store(in: &journal, into: &effects)
            }
            // Also for a stage that is not known here: the end goes on to presence (reference 19).
            effects.append(.audience(AudienceInput(input.key, .ended(epoch: ending.epoch, ending: ending))))
        default:
            guard var step = SeatStep(input.key, moment, journal) else { return }
            step.learn(input.command)
            step.publish(self.policies)
            step.store(in: &journal, into: &effects)
        }
    }
}

extension OutcomeWindow {
    /// What a call that is not new gets; nil: it is new.
    func replay(to caller: Caller, app: AppID) -> [Effect]? {
        switch self.verdict(on: caller.request.counter) {
        case .fresh: nil
        case .repeated(.answered(let outcome, let seen)): [.reply(Reply(to: caller, app: app, outcome, seen: seen))]
        case .repeated(.passedOn): []
        case .forgotten:
            [.failure(.requestForgotten, "the request id is older than the outcomes kept", to: caller, app: app)]
        }
    }
}

extension SeatCommand {
    /// Whether presence sends the call back, which came here before.
    var isSecondStep: Bool {
        if case .vouched = self { true } else { false }
    }

    /// Who asks, when the command is a call.
    var caller: Caller? {
        switch self {
        case .opened, .infoChanged, .ended, .userGone, .userBack, .profile, .confirmOccupants, .floor, .connection: nil
        case .apply(_, _, _, let caller), .cancelApplication(let caller), .acceptApplication(_, let caller),
            .rejectApplication(_, let caller), .invite(_, _, _, _, let caller), .cancelInvitation(_, let caller),
            .acceptInvitation(_, let caller), .rejectInvitation(_, let caller), .take(_, let caller),
            .leave(let caller), .kickOff(_, let caller), .move(_, _, _, let caller), .lock(_, _, _, _, let caller),
            .device(_, _, _, let caller), .lockDevice(_, _, _, let caller), .place(_, _, let caller),
            .requests(let caller), .vouched(_, _, let caller):
            caller
        }
    }
}
