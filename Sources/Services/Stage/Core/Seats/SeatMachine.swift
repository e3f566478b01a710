// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Decides who sits on the seats of a live, and publishes the stage (seats, connection, battle and layout) as one
/// record, with a new revision for each change.
///
/// Rows of a live: the stage, its open requests, the revocation fence (the lowest tickets that kicked users may still
/// use), and each session's call history.
///
/// No call is executed twice (I15, docs/RULES.md), each request ends once (I13), and each user has at most one seat
/// (I11).
package struct SeatMachine: Machine {
    package typealias Input = SeatInput
    package typealias Key = SeatKey
    package typealias Row = SeatRow

    /// How long the stage of an ended live is retained.
    package static let retentionAfterEnd = Milliseconds.seconds(300)

    /// Whom the machine notifies, and how often it publishes.
    struct Settings {
        /// The apps whose backends are notified of events.
        let appsWithWebhooks: Set<AppID>
        /// The minimum time between two feed items of a stage.
        let itemInterval: Milliseconds
    }

    private let settings: Settings

    /// A machine for apps with these policies.
    ///
    /// - Parameters:
    ///   - policies: the apps' policies, which say whose backend is notified of events.
    ///   - itemInterval: the minimum time between two feed items of a stage (R12.11); 0 publishes each change at once.
    package init(policies: Policies = Policies(), itemInterval: Milliseconds = SeatStage.itemInterval) {
        self.settings = Settings(
            appsWithWebhooks: Set(policies.apps.filter { $0.value.hasWebhooks }.keys), itemInterval: itemInterval)
    }

    package func handle(
        _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        // Rows that fell due before this input are handled first.
        self.handleDue(in: &journal, at: moment, into: &effects)
        if case .requests(let caller) = input.command {
            self.answerQuery(caller, input.key, in: journal, at: moment, into: &effects)
        } else if let caller = input.command.caller {
            self.answerCall(caller, input, in: &journal, at: moment, into: &effects)
        } else {
            self.handleFact(input, in: &journal, at: moment, into: &effects)
        }
    }

    package func handleDueRow(
        _ key: SeatKey, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment, into effects: inout [Effect]
    ) {
        switch key {
        case .stage(let live):
            // `?? nil` flattens the double Optional: there may be no row, and the row may have no delayed item.
            if let item = journal.update(key, { $0.takeDelayedItem(at: moment.now) }) ?? nil {
                return effects.append(item)
            }
            // No feed item is delayed, so the row is due because the live ended `retentionAfterEnd` ago.
            journal[.stage(live)] = nil
            journal.removeRequests(of: live)
            journal[.fence(live)] = nil
            effects.append(.stageRemoved(live))
        case .requests(let live, _):
            guard var step = SeatStep(live, moment, journal) else {
                // The live has ended, and its requests with it.
                journal[key] = nil
                return
            }
            // The arrays are swapped here and back again below, so that the step appends to `effects` without a copy.
            swap(&step.effects, &effects)
            // Viewers do not see open requests, so nothing is published.
            step.expireRequests()
            step.store(in: &journal)
            swap(&step.effects, &effects)
        // A fence is never due.
        case .fence: break
        case .callHistory:
            let isExpired = journal.update(key) { $0.expire(at: moment) } ?? true
            if isExpired { journal[key] = nil }
        }
    }

    /// Decides and answers a call; a repeated call gets the same answer (I15).
    private func answerCall(
        _ caller: Caller, _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        let key = SeatKey.callHistory(input.key, caller.request.session)
        let index = journal.index(of: key)
        do throws(ReplyError) {
            switch try journal.lookup(caller, at: index, moment.now) {
            case .repeated(let outcome):
                // A call that was passed on to presence (the machine that knows who is in the live) has no reply yet.
                // It is processed again, because the client has repeated it or presence has just returned it.
                if let reply = outcome.reply(to: caller, input.key) { return effects.append(reply) }
            case .fresh where !input.command.isReturnedByPresence: break
            // A forgotten call is rejected, because nobody can tell whether it was applied: the window has dropped its
            // outcome. The same holds for a call that presence returns and that looks new: it was recorded as passed on
            // before presence got it, so the window has dropped that record.
            case .fresh, .forgotten:
                throw ReplyError.requestForgotten
            }
        } catch {
            effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            return
        }
        var outcome = SeatOutcome(result: .done)
        do throws(ReplyError) {
            guard var step = SeatStep(input.key, moment, journal) else {
                throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
            }
            try self.requireMember(caller, of: step.stage, in: journal)
            // During the step, `step.effects` begins with the effects of earlier inputs. A rejected call removes only
            // its own effects.
            let earlierEffectCount = effects.count
            swap(&step.effects, &effects)
            defer { swap(&step.effects, &effects) }
            do throws(ReplyError) {
                outcome.result = try step.decide(input.command, for: caller)
            } catch {
                step.effects.removeSubrange(earlierEffectCount...)
                throw error
            }
            outcome.revision = step.publish(self.settings)
            step.store(in: &journal)
        } catch {
            outcome.result = .rejected(error: error)
        }
        journal.record(outcome, of: caller, key, at: index, moment)
        if let reply = outcome.reply(to: caller, input.key) { effects.append(reply) }
    }

    /// Rejects a caller who has not joined the live, or was kicked after joining (I6).
    private func requireMember(
        _ caller: Caller, of stage: SeatStage, in journal: Journal<SeatKey, SeatRow>
    ) throws(ReplyError) {
        // Most lives have no kicked users, so their fence is empty and rejects only callers without a ticket. A new
        // empty fence does the same without a look-up.
        let fence = stage.hasRevocations ? journal.fence(of: stage.key) : RevocationFence()
        if let rejection = fence.rejection(of: caller) { throw rejection }
    }

    /// Answers a query for the open requests; its outcome is not recorded, because it changes nothing.
    private func answerQuery(
        _ caller: Caller, _ key: LiveKey, in journal: Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        do throws(ReplyError) {
            guard let step = SeatStep(key, moment, journal) else {
                throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
            }
            try self.requireMember(caller, of: step.stage, in: journal)
            effects.append(.success(step.listOpenRequests(for: caller), to: caller, app: key.app))
        } catch {
            effects.append(.reply(Reply(to: caller, app: key.app, .failure(error: error))))
        }
    }

    /// Handles a fact: a command without a caller, which reports what another machine has decided.
    private func handleFact(
        _ input: SeatInput, in journal: inout Journal<SeatKey, SeatRow>, at moment: Moment,
        into effects: inout [Effect]
    ) {
        switch input.command {
        case .opened(let epoch, let info):
            let previousStage = journal.stage(input.key)
            // An opening with the stage's epoch is a duplicate, and an opening with an older epoch is late. The opening
            // of a new live may arrive before the end of the previous live with the same id.
            if let previousStage, previousStage.epoch >= epoch { return }
            var step = SeatStep(
                opening: input.key, moment, epoch: epoch, info: info, after: previousStage, journal.requests(input.key))
            swap(&step.effects, &effects)
            step.publish(self.settings)
            step.store(in: &journal)
            swap(&step.effects, &effects)
        // `user` was kicked: from now on only tickets (proofs of a join) from `ticket` on are valid.
        case .floor(let user, let ticket):
            // A stage with a removal time belongs to an ended live, where no ticket is used any more.
            guard var stage = journal.stage(input.key), stage.removalTime == nil else { return }
            var fence = journal.fence(of: input.key)
            fence.raiseFloor(of: user, to: ticket)
            journal[.fence(input.key)] = .fence(fence: fence)
            if !stage.hasRevocations {
                stage.hasRevocations = true
                journal[.stage(input.key)] = .stage(stage: CopyOnWrite(stage))
            }
        case .ended(let ending):
            // The end of an earlier live with the same id must not clear the stage of the present live.
            if var step = SeatStep(input.key, moment, journal), step.stage.epoch <= ending.epoch {
                swap(&step.effects, &effects)
                // A feed item that still waits for `itemInterval` is published before the end.
                if let item = step.stage.takeDelayedItem(at: moment.now) { step.effects.append(item) }
                step.clearStage()
                step.publish(self.settings)
                step.store(in: &journal)
                swap(&step.effects, &effects)
            }
            // The end is passed on to presence, the next machine, even when this machine has no stage (R18.3).
            effects.append(.audience(AudienceInput(input.key, .ended(epoch: ending.epoch, ending: ending))))
        default:
            guard var step = SeatStep(input.key, moment, journal) else { return }
            swap(&step.effects, &effects)
            step.handleFact(input.command)
            step.publish(self.settings)
            step.store(in: &journal)
            swap(&step.effects, &effects)
        }
    }
}

extension SeatCommand {
    /// Whether presence has returned the call after it verified that the user is in the live.
    var isReturnedByPresence: Bool {
        if case .guestMembershipVerified = self { true } else { false }
    }

    /// The caller to answer, if the command is a call.
    var caller: Caller? {
        switch self {
        case .opened, .infoChanged, .ended, .userGone, .userBack, .profile, .confirmOccupants, .floor, .connection: nil
        case .apply(_, _, _, let caller), .cancelApplication(let caller), .acceptApplication(_, let caller),
            .rejectApplication(_, let caller), .invite(_, _, _, _, let caller), .cancelInvitation(_, let caller),
            .acceptInvitation(_, let caller), .rejectInvitation(_, let caller), .take(_, let caller),
            .leave(let caller), .kickOff(_, let caller), .move(_, _, _, let caller), .lock(_, _, _, _, let caller),
            .device(_, _, _, let caller), .lockDevice(_, _, _, let caller), .place(_, _, let caller),
            .requests(let caller), .guestMembershipVerified(_, _, let caller):
            caller
        }
    }
}
