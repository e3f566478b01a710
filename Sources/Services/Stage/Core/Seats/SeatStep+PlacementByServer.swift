// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The app's server puts a user on a seat (R7.16).
///
/// A placement takes two steps, as an invitation does (see `SeatStep+Invitations.swift`).
extension SeatStep {
    /// First step of a placement: checks the call, then asks presence to verify that the user is in the live.
    mutating func requestPlacement(
        to user: UserID, seatIndex: Int, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireServer(caller)
        try self.requireUnseated(user)
        _ = try self.stage.chooseSeat(seatIndex, for: user)
        return self.verifyMembership(.placement(seatIndex: seatIndex), to: user, caller)
    }

    /// Second step: puts the user, whom presence has verified to be in the live, on a seat.
    mutating func place(_ user: UserInfo, at seatIndex: Int, _ caller: Caller) throws(ReplyError) -> SeatOutcome.Result
    {
        try self.requireServer(caller)
        try self.requireUnseated(user.userID)
        let index = try self.stage.chooseSeat(seatIndex, for: user.userID)
        self.putOnSeat(user, at: index)
        return .seat(index: index)
    }
}
