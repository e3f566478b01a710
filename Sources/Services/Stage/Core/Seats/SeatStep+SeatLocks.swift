// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Hosts lock and unlock seats (R7.7).
extension SeatStep {
    /// Locks or unlocks a seat and the devices on it; nil leaves a lock as it is.
    ///
    /// Either all changes apply or none.
    mutating func lock(
        _ index: Int, isLocked: Bool?, microphone: Bool?, camera: Bool?, _ caller: Caller
    ) throws(ReplyError) -> SeatOutcome.Result {
        try self.requireHost(caller)
        try self.stage.requireSeat(index)
        let occupant = self.stage.seats[index].occupant?.user.userID
        let isLocking = isLocked == true && !self.stage.seats[index].isLocked
        if isLocking {
            if self.stage.keepsOwner, index == 0 { throw self.permissionError("seat 0 is reserved for the owner") }
            if let occupant { try self.requireRemovable(occupant) }
        }
        if let occupant, isLocking || microphone != nil || camera != nil {
            try self.requireAuthority(over: occupant, caller)
        }
        if let isLocked, self.stage.seats[index].isLocked != isLocked {
            if isLocked { self.removeFromSeat(index, by: caller.user) }
            self.stage.seats[index].isLocked = isLocked
            self.events.append(isLocked ? .seatLocked(index: index) : .seatUnlocked(index: index))
        }
        self.lockDevices(of: index, microphone: microphone, camera: camera, caller)
        return .done
    }
}
