// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Moves users between seats (R7.6, R7.11).
extension SeatStep {
    /// Moves a user to another seat; if that seat is occupied, `policy` says what happens to its occupant.
    ///
    /// Only hosts and the app's server may move an occupant away.
    mutating func move(
        _ user: UserID, to target: Int, _ policy: MoveSeatPolicy, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        let isOwnMove = caller.role == .user && user == caller.userID
        if !isOwnMove { try self.requireHost(caller) }
        try self.stage.requireSeat(target)
        guard let from = self.stage.seatIndex(of: user), let mover = self.stage.seats[from].occupant else {
            throw ReplyError(.notOnSeat, "the user sits on no seat")
        }
        if from == target { return .done }
        // An owner who is bound to seat 0 may move only to seat 0.
        if target != 0 { try self.requireRemovable(user) }
        try self.requireAuthority(over: user, caller)
        if self.stage.seats[target].isLocked { throw ReplyError(.seatLocked, "seat \(target) is locked") }
        if self.stage.isReserved(target, from: user) {
            throw ReplyError(.seatOccupied, "seat \(target) is reserved for the owner")
        }
        if let occupant = self.stage.seats[target].occupant {
            let allowedPolicy: MoveSeatPolicy = self.isHost(caller) ? policy : .abortWhenOccupied
            switch allowedPolicy {
            case .abortWhenOccupied: throw ReplyError(.seatOccupied, "seat \(target) is occupied")
            case .forceReplace:
                try self.requireRemovable(occupant.user.userID)
                try self.requireAuthority(over: occupant.user.userID, caller)
                self.removeFromSeat(target, by: caller.user)
                self.stage.seats[from].occupant = nil
            case .swapPosition:
                try self.requireRemovable(occupant.user.userID)
                try self.requireAuthority(over: occupant.user.userID, caller)
                self.stage.seats[from].occupant = occupant
                self.stage.applyLocks(at: from)
                self.notifyDeviceChanges(at: from, before: occupant, caller)
                self.events.append(.userMoved(user: occupant.user, from: target, to: from))
            }
        } else {
            self.stage.seats[from].occupant = nil
        }
        self.stage.seats[target].occupant = mover
        self.stage.applyLocks(at: target)
        self.notifyDeviceChanges(at: target, before: mover, caller)
        self.events.append(.userMoved(user: mover.user, from: from, to: target))
        return .done
    }
}
