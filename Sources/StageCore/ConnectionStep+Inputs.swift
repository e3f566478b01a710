// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// What comes in: calls, which are decided, and words of other machines, which are taken in.
extension ConnectionStep {

    /// The live that `caller` acts for.
    ///
    /// - Throws: the refusal, when it does not run, or the caller was put out of it or does not own it.
    mutating func owned(_ id: LiveID, by caller: Caller) throws(ReplyError) -> Boxed<HostedLive> {
        guard let live = self.live(id) else {
            throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
        }
        if caller.role == .server { return live }
        if live.value.hasFloors || caller.ticket == nil, let refusal = self.floors(of: id).refusal(of: caller) {
            throw refusal
        }
        guard live.value.owner.userID == caller.userID else {
            throw ReplyError(.needsOwner, "only the owner of the live may do this")
        }
        return live
    }

    /// The live that `caller` acts for, as its owner or an admin.
    ///
    /// - Throws: the refusal, as `owned` does.
    mutating func hosted(_ id: LiveID, by caller: Caller) throws(ReplyError) -> Boxed<HostedLive> {
        do throws(ReplyError) {
            return try self.owned(id, by: caller)
        } catch {
            guard error.code == .needsOwner, let live = self.live(id), live.value.admins.contains(caller.userID) else {
                throw error.code == .needsOwner
                    ? ReplyError(.needsOwnerOrAdmin, "only the owner and admins may do this") : error
            }
            return live
        }
    }

    /// Decides a call; what tells rather than asks is none.
    mutating func decide(_ command: ConnectionCommand, for caller: Caller) throws(ReplyError) -> CallResult {
        switch command {
        case .request(let from, let to, let template, let timeout, let extensionInfo, _):
            return try self.request(
                from: from, to: to, layoutTemplate: template, timeoutSeconds: timeout, extensionInfo, caller)
        case .cancelRequest(let from, let to, _): return try self.cancelRequest(from: from, to: to, caller)
        case .accept(let live, let inviter, _): return try self.accept(live, inviter: inviter, caller)
        case .reject(let live, let inviter, _): return try self.reject(live, inviter: inviter, caller)
        case .exit(let live, _): return try self.exit(live, caller)
        case .requestBattle(let from, let to, let duration, let needResponse, let timeout, let extensionInfo, _):
            return try self.requestBattle(
                from: from, to: to, durationSeconds: duration, needResponse: needResponse, timeoutSeconds: timeout,
                extensionInfo, caller)
        case .cancelBattle(let id, let live, let to, _): return try self.cancelBattle(id, live, to: to, caller)
        case .acceptBattle(let id, let live, _): return try self.answerBattle(id, live, accepted: true, caller)
        case .rejectBattle(let id, let live, _): return try self.answerBattle(id, live, accepted: false, caller)
        case .exitBattle(let id, let live, _): return try self.exitBattle(id, live, caller)
        case .updateScores(let id, let operation, let scores, _):
            return try self.updateScores(id, operation, scores, caller)
        case .muteRemote(let live, let other, let isMuted, _):
            return try self.muteRemote(live, other, isMuted, caller)
        case .battleInfo(let id, let live, _): return try self.battleInfo(id, of: live, caller)
        case .opened, .ended, .userGone, .userBack, .profile, .confirmOwner, .floor, .rights, .seatsChanged:
            return .done
        }
    }

    /// Takes in what is told.
    mutating func learn(_ command: ConnectionCommand) {
        switch command {
        case .opened(let id, let owner, let isVoice): self.opened(id, owner: owner, isVoice: isVoice)
        case .ended(let id, let ending): self.ended(id, ending)
        case .userGone(let id, let user):
            if self.live(id)?.value.owner.userID == user { self.withdraw(id) }
        // Being gone was leaving: an owner who is back is in no connection, and asks anew.
        case .userBack(let id, let user), .profile(let id, let user): self.renamed(id, user)
        case .rights(let id, let admins): self.update(id) { $0.admins = admins }
        case .seatsChanged(let id, let seats): self.seatsChanged(id, seats)
        case .confirmOwner(let id):
            guard let live = self.live(id) else { return }
            let isIdle = live.value.connection == nil && live.value.outgoing.isEmpty && live.value.incoming == nil
            if isIdle { return }
            self.effects.append(
                .audience(AudienceInput(LiveKey(self.app, id), .confirm(user: live.value.owner.userID))))
        case .floor(let id, let user, let ticket):
            guard self.live(id) != nil else { return }
            self.update(id) { $0.hasFloors = true }
            var floors = self.floors(of: id)
            floors.raise(user, to: ticket)
            self.journal[.floors(LiveKey(self.app, id))] = .floors(floors: floors)
        default: break
        }
    }
}
