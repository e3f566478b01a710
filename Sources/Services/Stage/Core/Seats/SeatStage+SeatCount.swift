// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// The number of seats of a live, which changes with the live's info even while users sit on seats (R7.5).
extension SeatStage {
    /// Applies the live's info to the stage.
    ///
    /// - Returns: the seats that no longer exist and were occupied.
    mutating func applyInfo(_ info: LiveInfo) -> [Seat] {
        self.owner = info.liveOwner
        self.admins = info.admins
        self.mode = info.seatMode
        self.keepsOwner = info.keepOwnerOnSeat
        let template = SeatTemplate.resolved(info.seatTemplate)
        self.templateID = template.id
        let count = template.seatCount(requested: info.maxSeatCount)
        for index in self.seats.indices {
            guard let user = self.seats[index].occupant?.user.userID else { continue }
            let role = self.role(of: user)
            self.seats[index].occupant?.role = role
        }
        let removedSeats = self.seats.dropFirst(count).filter { $0.occupant != nil }
        self.seats = Array(self.seats.prefix(count))
        while self.seats.count < count { self.seats.append(Seat(index: self.seats.count)) }
        return removedSeats
    }
}
