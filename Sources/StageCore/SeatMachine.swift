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

    /// The apps whose backends want to hear of what happens.
    private let backends: Set<AppID>

    /// A machine for apps with these policies.
    package init(policies: Policies = Policies()) {
        self.backends = Set(policies.apps.filter { $0.value.hasWebhooks }.keys)
    }

    package func handle(
        _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        // What is due came before the input, whoever drives the machine.
        self.handleDue(in: &journal, at: moment, into: &effects)
        if case .requests(let caller) = input.command {
            self.read(caller, input.key, in: journal, at: moment, into: &effects)
        } else if let caller = input.command.caller {
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
            swap(&step.effects, &effects)
            step.expireRequests()
            step.store(in: &journal)
            swap(&step.effects, &effects)
        case .floors: break
        case .outcomes: journal[key] = nil
        }
    }

    /// Answers a call: once decided, always the same (I15).
    private func answer(
        _ caller: Caller, _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let key = SeatKey.outcomes(input.key, caller.request.session)
        let place = journal.place(of: key)
        do throws(ReplyError) {
            switch try journal.verdict(at: place, on: caller, at: moment.now) {
            case .repeated(let fate):
                // What was passed on is checked anew and passed on anew, or is back from presence.
                if let reply = fate.reply(to: caller, input.key) { return effects.append(reply) }
            case .fresh where !input.command.isSecondStep: break
            case .fresh, .forgotten:
                throw ReplyError(.requestForgotten, "the request id is older than the outcomes kept")
            }
        } catch {
            effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            return
        }
        var fate = SeatFate(counter: caller.counter, result: .done)
        do throws(ReplyError) {
            guard var step = SeatStep(input.key, moment, journal) else {
                throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
            }
            try self.admit(caller, to: step.stage, in: journal)
            let count = effects.count
            swap(&step.effects, &effects)
            defer { swap(&step.effects, &effects) }
            do throws(ReplyError) {
                fate.result = try step.decide(input.command, for: caller)
            } catch {
                step.effects.removeSubrange(count...)
                throw error
            }
            fate.revision = step.publish(self.backends)
            step.store(in: &journal)
        } catch {
            fate.result = .refused(error: error)
        }
        journal.record(key, at: place, fate, at: moment.now)
        if let reply = fate.reply(to: caller, input.key) { effects.append(reply) }
    }

    /// Refuses who has not joined, or was kicked since (I6).
    private func admit(
        _ caller: Caller, to stage: SeatStage, in journal: Journal<SeatKey, SeatRow>
    ) throws(ReplyError) {
        // Most lives have no floors; then the ticket alone counts.
        let floors = stage.hasFloors ? journal.floors(stage.key) : Floors()
        if let refusal = floors.refusal(of: caller) { throw refusal }
    }

    /// Answers a question of a host; nothing of it is kept, so it may be asked again freely.
    private func read(
        _ caller: Caller, _ key: LiveKey, in journal: Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        do throws(ReplyError) {
            guard let step = SeatStep(key, moment, journal) else {
                throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
            }
            try self.admit(caller, to: step.stage, in: journal)
            effects.append(.success(try step.openRequests(caller), to: caller, app: key.app))
        } catch {
            effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: error))))
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
            // An opening that is told again, or late, is not a new one. A newer one may overtake the end of the last live.
            if let last, last.epoch >= epoch { return }
            var step = SeatStep(
                opening: input.key, moment, epoch: epoch, info: info, after: last, journal.requests(input.key))
            swap(&step.effects, &effects)
            step.publish(self.backends)
            step.store(in: &journal)
            swap(&step.effects, &effects)
        case .floor(let user, let ticket):
            guard var stage = journal.stage(input.key), stage.goneAt == nil else { return }
            var floors = journal.floors(input.key)
            floors.raise(user, to: ticket)
            journal[.floors(input.key)] = .floors(floors: floors)
            if !stage.hasFloors {
                stage.hasFloors = true
                journal[.stage(input.key)] = .stage(stage: Boxed(stage))
            }
        case .ended(let ending):
            if var step = SeatStep(input.key, moment, journal), step.stage.epoch <= ending.epoch {
                swap(&step.effects, &effects)
                step.ended()
                step.publish(self.backends)
                step.store(in: &journal)
                swap(&step.effects, &effects)
            }
            // Also for a stage that is not known here: the end goes on to presence (reference 19).
            effects.append(.audience(AudienceInput(input.key, .ended(epoch: ending.epoch, ending: ending))))
        default:
            guard var step = SeatStep(input.key, moment, journal) else { return }
            swap(&step.effects, &effects)
            step.learn(input.command)
            step.publish(self.backends)
            step.store(in: &journal)
            swap(&step.effects, &effects)
        }
    }
}

extension OutcomeWindow {
    /// What a call that is not new gets; nil: it is new.
    func replay(to caller: Caller, app: AppID) -> [Effect]? {
        switch self.verdict(on: caller.counter) {
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
