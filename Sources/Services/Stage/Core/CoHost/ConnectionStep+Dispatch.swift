// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Passes each command to the function that handles it.
extension ConnectionStep {
    /// Decides a call other than the queries `openRequests` and `openBattleRequests` (see `answer(query:by:)`).
    ///
    /// `handleFact` handles the commands without a caller.
    mutating func decide(_ command: ConnectionCommand, for caller: Caller) throws(ReplyError) -> CallResult {
        switch command {
        case .request(let from, let to, let template, let timeout, let extensionInfo, _):
            return try self.sendCoHostRequests(
                from: from, to: to, layoutTemplate: template, timeoutSeconds: timeout, extensionInfo, caller)
        case .cancelRequest(let from, let to, _): return try self.cancelCoHostRequests(from: from, to: to, caller)
        case .accept(let live, let inviter, _): return try self.acceptCoHostRequest(live, inviter: inviter, caller)
        case .reject(let live, let inviter, _): return try self.rejectCoHostRequest(live, inviter: inviter, caller)
        case .exit(let live, _): return try self.exitConnection(live, caller)
        case .requestBattle(let from, let to, let duration, let needResponse, let timeout, let extensionInfo, _):
            return try self.requestBattle(
                from: from, to: to, durationSeconds: duration, needResponse: needResponse, timeoutSeconds: timeout,
                extensionInfo, caller)
        case .cancelBattle(let id, let live, let to, _): return try self.cancelBattle(id, live, to: to, caller)
        case .acceptBattle(let id, let live, _): return try self.answerBattle(id, live, isAccepted: true, caller)
        case .rejectBattle(let id, let live, _): return try self.answerBattle(id, live, isAccepted: false, caller)
        case .exitBattle(let id, let live, _): return try self.exitBattle(id, live, caller)
        case .updateScores(let id, let operation, let scores, _):
            return try self.updateScores(id, operation, scores, caller)
        case .muteRemote(let live, let target, let isMuted, _):
            return try self.muteRemote(live, target, isMuted, caller)
        case .battleInfo(let id, let live, _): return try self.battleInfo(id, of: live, caller)
        case .opened, .ended, .userGone, .userBack, .profile, .confirmOwner, .floor, .rights, .seatsChanged,
            .openRequests, .openBattleRequests:
            // Never reached: these commands are facts and queries.
            return .done
        }
    }

    /// Handles a fact: a command without a caller, which reports what another machine has decided.
    mutating func handleFact(_ command: ConnectionCommand) {
        switch command {
        case .opened(let id, let owner, let isVoice): self.openLive(id, owner: owner, isVoice: isVoice)
        case .ended(let id, let ending): self.endLive(id, ending)
        case .userGone(let id, let user):
            if self.live(id)?.value.owner.userID == user { self.leaveConnection(id) }
        // The live left its connection when its owner left. When the owner is back, only the profile is updated: to
        // connect again, the owner has to send a new co-host request.
        case .userBack(let id, let user), .profile(let id, let user): self.updateOwnerProfile(id, user)
        case .rights(let id, let admins): self.updateLive(id) { $0.admins = admins }
        case .seatsChanged(let id, let seats): self.updateSeats(id, seats)
        // Presence (the machine that knows who is in a live) has lost its data in Redis. Therefore this machine asks
        // presence whether the owner is still in the live.
        case .confirmOwner(let id):
            guard let live = self.live(id) else { return }
            // A live without connection and requests has nothing to end if its owner is gone.
            let isIdle = live.value.connection == nil && live.value.outgoing.isEmpty && live.value.incoming == nil
            if isIdle { return }
            self.effects.append(
                .audience(AudienceInput(LiveKey(self.app, id), .confirm(user: live.value.owner.userID))))
        // `user` was kicked: only tickets (proofs of a join) from `ticket` on are valid.
        case .floor(let id, let user, let ticket):
            guard self.live(id) != nil else { return }
            self.updateLive(id) { $0.hasRevocations = true }
            var fence = self.fence(of: id)
            fence.raiseFloor(of: user, to: ticket)
            self.journal[.fence(LiveKey(self.app, id))] = .fence(fence: fence)
        // Calls and queries are not facts and are handled elsewhere.
        default: break
        }
    }
}
