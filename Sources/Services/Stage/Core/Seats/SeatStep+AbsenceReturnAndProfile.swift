// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Handles what presence (the machine that knows who is in the live) reports: users who leave, return, or change their
/// profile (R2.12, R3.29).
extension SeatStep {
    /// Removes a user who has left the live from its seat, and ends the user's requests.
    mutating func removeUser(_ user: UserID) {
        if user == self.stage.owner.userID { self.stage.isOwnerIn = false }
        if let index = self.stage.seatIndex(of: user) { self.vacateSeat(index) }
        self.endRequests(ofLeaver: user)
    }

    /// Handles the first join or the return of a user; an owner for whom seat 0 is reserved gets the seat.
    mutating func handleUserReturn(_ user: UserInfo) {
        self.updateProfile(user)
        guard user.userID == self.stage.owner.userID else { return }
        self.stage.isOwnerIn = true
        self.putOwnerOnSeatZeroIfReserved()
    }

    /// Replaces the user's profile wherever the stage shows the user.
    mutating func updateProfile(_ user: UserInfo) {
        if self.stage.owner.userID == user.userID { self.stage.owner = user }
        if let index = self.stage.seatIndex(of: user.userID) {
            self.stage.changeOccupant(index) { $0.user = user }
        }
        self.requests.updateProfile(user)
    }
}
