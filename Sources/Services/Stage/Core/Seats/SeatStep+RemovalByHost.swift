// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Hosts remove users from seats (R6.22, R7.17).
extension SeatStep {
    /// Removes a user from its seat; the caller must be a host.
    mutating func kickOff(_ user: UserID, _ caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireHost(caller)
        guard let index = self.stage.seatIndex(of: user) else {
            throw ReplyError(.notOnSeat, "the user sits on no seat")
        }
        try self.requireRemovable(user)
        try self.requireAuthority(over: user, caller)
        self.removeFromSeat(index, by: caller.user)
        return .done
    }

    /// Removes the occupant from the seat, and notifies the occupant that `host` has removed it.
    mutating func removeFromSeat(_ index: Int, by host: UserInfo) {
        guard let user = self.vacateSeat(index) else { return }
        self.notify(user.userID, .kickedOffSeat(seatIndex: index, by: host))
    }
}
