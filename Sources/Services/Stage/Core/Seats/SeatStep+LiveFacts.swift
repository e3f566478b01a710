// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Handles reports of other machines: the live's info, its end, and users who join, leave or change their profile.
extension SeatStep {
    /// Applies the live's info.
    ///
    /// Users whose seats no longer exist move to free seats; when none is left, they lose their seat.
    mutating func updateInfo(_ info: LiveInfo) {
        var displaced = self.stage.applyInfo(info)
        // If seat 0 is now reserved for the owner, a guest on it moves to a free seat, as if seat 0 no longer existed.
        if self.stage.keepsOwner, let first = self.stage.seats.first, let guest = first.occupant?.user,
            guest.userID != self.stage.owner.userID
        {
            displaced.insert(first, at: 0)
            self.stage.seats[0].occupant = nil
        }
        // The owner moves to seat 0 first, so that the seat that it leaves is free for the displaced users.
        if !displaced.contains(where: { $0.occupant?.user.userID == self.stage.owner.userID }) {
            self.seatOwnerIfKept()
        }
        for seat in displaced {
            guard let occupant = seat.occupant else { continue }
            let user = occupant.user
            if let freeIndex = try? self.stage.freeSeat(-1, for: user.userID) {
                self.stage.seats[freeIndex].occupant = occupant
                self.stage.applyLocks(at: freeIndex)
                self.events.append(.userMoved(user: user, from: seat.index, to: freeIndex))
            } else {
                for device in Device.allCases { self.stage.setClosed(user.userID, device, false) }
                self.events.append(.seatLeft(index: seat.index, user: user))
                self.notify(user.userID, .kickedOffSeat(seatIndex: seat.index, by: self.stage.owner))
            }
        }
        self.seatOwnerIfKept()
    }

    /// Puts the owner on seat 0 if the live keeps its owner there, the owner is in the live, and the seat is free.
    mutating func seatOwnerIfKept() {
        let owner = self.stage.owner
        guard self.stage.keepsOwner, self.stage.isOwnerIn, let first = self.stage.seats.first, first.occupant == nil
        else { return }
        if first.isLocked {
            self.stage.seats[0].isLocked = false
            self.events.append(.seatUnlocked(index: 0))
        }
        guard let from = self.stage.seatIndex(of: owner.userID) else { return self.takeSeat(owner, at: 0) }
        self.stage.seats[0].occupant = self.stage.seats[from].occupant
        self.stage.seats[from].occupant = nil
        self.stage.applyLocks(at: 0)
        self.events.append(.userMoved(user: owner, from: from, to: 0))
    }

    /// Empties the stage, because the live has ended.
    ///
    /// The open requests are dropped without notices, because clients are notified of the live's end.
    mutating func clearStage() {
        self.stage.removalTime = self.moment.now + SeatMachine.retentionAfterEnd
        self.requests = SeatRequests()
        for index in self.stage.seats.indices { self.stage.seats[index].occupant = nil }
        self.stage.closedDevices = ClosedDevices()
        self.stage.connection = nil
        self.stage.battle = nil
        self.stage.otherBattles = nil
    }

    /// Removes a user who has left the live from its seat, and ends the user's requests.
    mutating func removeUser(_ user: UserID) {
        if user == self.stage.owner.userID { self.stage.isOwnerIn = false }
        if let index = self.stage.seatIndex(of: user) { self.vacateSeat(index) }
        self.endRequests(ofGone: user)
    }

    /// Handles the join of a user who was not in the live; the owner may get seat 0 again.
    mutating func handleUserReturn(_ user: UserInfo) {
        self.updateProfile(user)
        guard user.userID == self.stage.owner.userID else { return }
        self.stage.isOwnerIn = true
        self.seatOwnerIfKept()
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
