// SPDX-License-Identifier: Apache-2.0
internal import MachineKit
internal import PlazaModel

// MARK: - Second phase of a batch: results of the lease requests

extension AudienceMachine {
    /// Handles one input of the batch with the result of its lease request.
    ///
    /// - Parameters:
    ///   - planned: the input, with the decision of `plan`.
    ///   - result: the result of the input's lease request; `.nothing` for an input without a request.
    ///   - rows: the partition's rows.
    ///   - effects: the effects of the input are appended to this array.
    func handleResult(
        of planned: PlannedInput, _ result: LeaseResult, in rows: inout Rows, into effects: inout [Effect]
    ) {
        guard let input = planned.input else {
            return self.handleExpiredLeases(planned, result, in: &rows, into: &effects)
        }
        switch planned.decision {
        case .ignored: return
        case .rejected(let error):
            if let caller = input.command.caller {
                effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            }
        case .repeated: self.repeatReply(input, in: rows, into: &effects)
        case .proceed:
            switch input.command {
            case .opened: self.publishFirstCount(input.key, planned, in: rows, into: &effects)
            case .ended(_, let ending): self.forwardEnd(ending, of: input.key, planned, in: rows, into: &effects)
            default: self.handleResultInLive(planned, input, result, in: &rows, into: &effects)
            }
        }
    }

    /// Handles an admitted input of a live that was running when the input was planned.
    private func handleResultInLive(
        _ planned: PlannedInput, _ input: AudienceInput, _ result: LeaseResult, in rows: inout Rows,
        into effects: inout [Effect]
    ) {
        guard let row = rows.live(input.key), row.epoch == planned.epoch else {
            // A later input of the same batch has ended the live, and `plan` has already removed the live's row.
            if let caller = input.command.caller {
                let error = self.liveEndedError(for: input.command)
                self.replyAndRecord(caller, .failure(error: error), input, planned.moment, in: &rows, into: &effects)
            }
            return
        }
        if let caller = input.command.caller, input.command.requiresMembership,
            let error = self.rejection(ofMember: caller, in: row, rows.fence(input.key))
        {
            // An earlier input of the same batch has kicked the caller and removed the caller's lease.
            effects.append(.reply(Reply(to: caller, app: input.key.app, .failure(error: error))))
            return
        }
        switch input.command {
        case .opened, .ended, .rights, .unbanned: return
        case .join(let caller): self.handleJoin(caller, input, planned, result, in: &rows, into: &effects)
        case .leave(let caller): self.handleLeave(caller, input, planned, result, in: &rows, into: &effects)
        case .signOff: self.handleLeave(nil, input, planned, result, in: &rows, into: &effects)
        case .heartbeats: self.handleHeartbeats(input.key, planned, result, in: &rows, into: &effects)
        case .assert:
            for case .asserted(let count) in result.changes {
                self.updateCount(input.key, count, at: planned.moment.now, in: &rows, into: &effects)
            }
        case .kick(let user, let reason, let caller):
            self.handleKick(user, reason, by: caller, input, planned, result, in: &rows, into: &effects)
        case .banned(let user, _, let caller):
            self.handleBan(user, by: caller, input.key, planned.moment, result, in: &rows, into: &effects)
        case .announceMute(let user, let isDisable, let until):
            // Without a profile in Redis, viewers get only the user's id.
            var mutedUser = UserInfo(userID: user)
            if case .profile(let profile?) = result {
                mutedUser = profile
                if isDisable { self.sendSanctionProfile(profile, input.key, into: &effects) }
            }
            self.publish(
                .messageDisabled(user: mutedUser, isDisable: isDisable, until: until), to: input.key, into: &effects)
        case .profile(let caller):
            self.handleProfileChange(caller, input, planned, result, in: &rows, into: &effects)
        case .list(_, _, let caller):
            self.replyWithPage(caller, input.key, row, result, at: planned.moment.now, into: &effects)
        case .verifyAdminMembership(let user, let caller):
            self.handleAdminMembership(user, caller, input.key, result, in: rows, into: &effects)
        case .verifyGuestMembership(_, let offer, let caller):
            self.handleGuestMembership(offer, caller, input.key, result, in: rows, into: &effects)
        case .confirm(let user):
            self.handlePresenceConfirmation(user, input.key, planned.moment, result, in: &rows, into: &effects)
        }
    }

    /// The error for a call about a live that has ended; a join has its own code.
    private func liveEndedError(for command: AudienceCommand) -> ReplyError {
        if case .join = command { return ReplyError(.noSuchRoomOnEntry, "the live has ended") }
        return ReplyError(.noSuchRoom, "the live has ended")
    }

    /// The error for calls that need the leases, while Redis cannot be reached.
    static var redisUnavailableError: ReplyError {
        ReplyError(
            .unavailable, "the audience of the live is not known at the moment",
            retryAfter: Self.retryDelayMilliseconds)
    }
}
