// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Removes a user from its seat at a host's call (R6.22, R7.17).
extension SeatStep {
    /// Removes a user from its seat at a host's call.
    mutating func kickOff(_ user: UserID, _ caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireHost(caller)
        guard let index = self.stage.seatIndex(of: user) else {
            throw ReplyError(.notOnSeat, "the user sits on no seat")
        }
        try self.requireNotKeptOwner(user)
        try self.requireAuthority(over: user, caller)
        self.removeFromSeat(index, by: caller.user)
        return .done
    }

    /// Removes the occupant from the seat at a host's call, and notifies the occupant.
    mutating func removeFromSeat(_ index: Int, by host: UserInfo) {
        guard let user = self.vacateSeat(index) else { return }
        self.notify(user.userID, .kickedOffSeat(seatIndex: index, by: host))
    }
}
