// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Passes each command to the function that handles it.
extension SeatStep {
    /// Decides a call; `handleFact` handles the other commands.
    mutating func decide(_ command: SeatCommand, for caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        switch command {
        case .apply(let index, let timeout, let extraInfo, _):
            return try self.apply(seatIndex: index, timeoutSeconds: timeout, extraInfo: extraInfo, caller)
        case .cancelApplication: return try self.cancelApplication(caller)
        case .acceptApplication(let user, _): return try self.answerApplication(of: user, isAccepted: true, caller)
        case .rejectApplication(let user, _): return try self.answerApplication(of: user, isAccepted: false, caller)
        case .invite(let user, let index, let timeout, let extraInfo, _):
            return try self.invite(user, seatIndex: index, timeoutSeconds: timeout, extraInfo: extraInfo, caller)
        case .place(let user, let index, _):
            return try self.requestPlacement(to: user, seatIndex: index, caller)
        case .guestMembershipVerified(let user, let offer, _):
            return try self.decideVerifiedOffer(user, offer, caller)
        case .cancelInvitation(let user, _): return try self.cancelInvitation(of: user, caller)
        case .acceptInvitation(let inviter, _):
            return try self.answerInvitation(of: inviter, isAccepted: true, caller)
        case .rejectInvitation(let inviter, _):
            return try self.answerInvitation(of: inviter, isAccepted: false, caller)
        case .take(let index, _): return try self.take(seatIndex: index, caller)
        case .leave: return try self.leave(caller)
        case .kickOff(let user, _): return try self.kickOff(user, caller)
        case .move(let user, let index, let policy, _): return try self.move(user, to: index, policy, caller)
        case .lock(let index, let isLocked, let microphone, let camera, _):
            return try self.lock(index, isLocked: isLocked, microphone: microphone, camera: camera, caller)
        case .device(let microphone, let camera, let suspend, _):
            return try self.setDevices(microphone: microphone, camera: camera, suspend: suspend, caller)
        case .lockDevice(let user, let device, let isLocked, _):
            return try self.lockDevice(of: user, device, isLocked: isLocked, caller)
        case .requests, .opened, .infoChanged, .ended, .userGone, .userBack, .profile, .confirmOccupants, .floor,
            .connection:
            // Never reached: these commands are a query and facts.
            return .done
        }
    }

    /// Handles a fact that another machine has reported; `SeatMachine` handles openings, endings and kicks itself.
    mutating func handleFact(_ command: SeatCommand) {
        switch command {
        case .infoChanged(let info): self.updateInfo(info)
        case .userGone(let user): self.removeUser(user)
        case .userBack(let user): self.handleUserReturn(user)
        case .profile(let user): self.updateProfile(user)
        // Presence (the machine that knows who is in the live) has lost its data in Redis. Therefore this machine asks
        // presence about each user who counts as present here: the occupants of the seats, and the owner.
        case .confirmOccupants:
            let owner = self.stage.owner.userID
            let seatedUsers = self.stage.seats.compactMap { $0.occupant?.user.userID }
            // An owner without a seat counts as present by `isOwnerIn`.
            let hasUnseatedOwner = self.stage.isOwnerIn && !seatedUsers.contains(owner)
            for user in hasUnseatedOwner ? seatedUsers + [owner] : seatedUsers {
                self.effects.append(.audience(AudienceInput(self.stage.key, .confirm(user: user))))
            }
        case .connection(let view, let battle, let revision, let events, let otherBattles):
            // A report is ignored if it is older than the last report, or repeats it.
            guard revision > self.stage.connectionRevision else { return }
            self.stage.connectionRevision = revision
            self.stage.connection = view
            self.stage.battle = battle
            self.stage.otherBattles = otherBattles
            self.events.append(contentsOf: events)
        // `SeatMachine` handles the other facts, and calls are not facts.
        default: break
        }
    }
}
