// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// Applies a new number of seats or a new layout template while users sit on seats (R6.23, R7.5).
extension SeatStep {
    /// Applies the live's changed info: owner, admins, layout template and seat count.
    ///
    /// Users whose seats no longer exist move to free seats; when none is left, they lose their seat.
    mutating func updateInfo(_ info: LiveInfo) {
        var displacedSeats = self.stage.applyInfo(info)
        // If seat 0 is now reserved for the owner, a guest on seat 0 moves to a free seat.
        if self.stage.keepsOwner, let firstSeat = self.stage.seats.first, let guest = firstSeat.occupant?.user,
            guest.userID != self.stage.owner.userID
        {
            displacedSeats.insert(firstSeat, at: 0)
            self.stage.seats[0].occupant = nil
        }
        // The owner moves to seat 0 first, so that its former seat is free for the displaced users. An owner whose own
        // seat no longer exists is one of the displaced users instead.
        if !displacedSeats.contains(where: { $0.occupant?.user.userID == self.stage.owner.userID }) {
            self.putOwnerOnSeatZeroIfReserved()
        }
        for seat in displacedSeats {
            guard let occupant = seat.occupant else { continue }
            let user = occupant.user
            if let freeIndex = try? self.stage.chooseSeat(SeatStage.anySeat, for: user.userID) {
                self.stage.seats[freeIndex].occupant = occupant
                self.stage.applyLocks(at: freeIndex)
                self.events.append(.userMoved(user: user, from: seat.index, to: freeIndex))
            } else {
                for device in Device.allCases { self.stage.setUserLock(on: device, of: user.userID, isLocked: false) }
                self.events.append(.seatLeft(index: seat.index, user: user))
                self.notify(user.userID, .kickedOffSeat(seatIndex: seat.index, by: self.stage.owner))
            }
        }
        // If the owner's seat no longer exists and seat 0 is locked, the loop above has given the owner another seat or
        // none. This call unlocks seat 0 and puts the owner on it.
        self.putOwnerOnSeatZeroIfReserved()
    }
}

extension SeatStage {
    /// Applies the live's info to the stage.
    ///
    /// - Returns: the occupied seats that no longer exist.
    mutating func applyInfo(_ info: LiveInfo) -> [Seat] {
        self.owner = info.liveOwner
        self.admins = info.admins
        self.mode = info.seatMode
        self.keepsOwner = info.keepOwnerOnSeat
        let template = SeatTemplate.resolved(info.seatTemplate)
        self.templateID = template.id
        let seatCount = template.seatCount(requested: info.maxSeatCount)
        for index in self.seats.indices {
            guard let user = self.seats[index].occupant?.user.userID else { continue }
            let role = self.role(of: user)
            self.seats[index].occupant?.role = role
        }
        let removedSeats = self.seats.dropFirst(seatCount).filter { $0.occupant != nil }
        self.seats = Array(self.seats.prefix(seatCount))
        while self.seats.count < seatCount { self.seats.append(Seat(index: self.seats.count)) }
        return removedSeats
    }
}
