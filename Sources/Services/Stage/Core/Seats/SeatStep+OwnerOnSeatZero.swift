// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Keeps the owner of a live on seat 0 (R7.1).
extension SeatStep {
    /// Puts the owner on seat 0 if the seat is reserved for the owner (`keepsOwner`) and empty, and the owner is in the
    /// live.
    ///
    /// A locked seat 0 is unlocked.
    mutating func putOwnerOnSeatZeroIfReserved() {
        let owner = self.stage.owner
        guard self.stage.keepsOwner, self.stage.isOwnerIn, let seatZero = self.stage.seats.first,
            seatZero.occupant == nil
        else { return }
        if seatZero.isLocked {
            self.stage.seats[0].isLocked = false
            self.events.append(.seatUnlocked(index: 0))
        }
        guard let from = self.stage.seatIndex(of: owner.userID) else { return self.putOnSeat(owner, at: 0) }
        self.stage.seats[0].occupant = self.stage.seats[from].occupant
        self.stage.seats[from].occupant = nil
        // Seat 0 may have other locks on its camera and microphone than the owner's former seat.
        self.stage.applyLocks(at: 0)
        self.events.append(.userMoved(user: owner, from: from, to: 0))
    }
}
