// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Chooses the seat that a user gets: free, unlocked, and not reserved for another user (R6.4, R6.6).
extension SeatStage {
    /// The seat index with which a request asks for any free seat.
    static let anySeat = -1

    /// Whether the seat is reserved for the owner and `user` is not the owner.
    func isReserved(_ index: Int, from user: UserID) -> Bool {
        self.keepsOwner && index == 0 && user != self.owner.userID
    }

    /// Whether `user` is the owner and has to sit on seat 0, because seat 0 is reserved for the owner.
    func isBoundToSeatZero(_ user: UserID) -> Bool { self.keepsOwner && user == self.owner.userID }

    /// The seat that `user` gets for a request of seat `index`; `anySeat` requests the lowest free and unlocked seat.
    ///
    /// - Throws: an error of R6.4 or R6.6 when the live has no seats, when no seat is free, or when the requested seat
    ///   does not exist, is locked, occupied or reserved, or is not the seat to which the owner is bound.
    func chooseSeat(_ index: Int, for user: UserID) throws(ReplyError) -> Int {
        guard !self.seats.isEmpty else { throw ReplyError(.roomHasNoSeats, "the live has no seats") }
        if index == Self.anySeat {
            let lowestFree = self.seats.indices.first { candidate in
                let seat = self.seats[candidate]
                return seat.occupant == nil && !seat.isLocked && !self.isReserved(candidate, from: user)
            }
            if let lowestFree { return lowestFree }
            if self.seats.allSatisfy({ $0.occupant != nil }) {
                throw ReplyError(.allSeatsTaken, "all \(self.seats.count) seats are taken")
            }
            throw ReplyError(.seatLimit, "no seat is free: all empty seats are locked or reserved for the owner")
        }
        try self.requireSeat(index)
        if index != 0, self.isBoundToSeatZero(user) {
            throw ReplyError(.noPermission, "the live keeps its owner on seat 0")
        }
        if self.seats[index].isLocked { throw ReplyError(.seatLocked, "seat \(index) is locked") }
        if self.seats[index].occupant != nil { throw ReplyError(.seatOccupied, "seat \(index) is occupied") }
        if self.isReserved(index, from: user) {
            throw ReplyError(.seatOccupied, "seat \(index) is reserved for the owner")
        }
        return index
    }

    /// Rejects the index of a seat that does not exist.
    func requireSeat(_ index: Int) throws(ReplyError) {
        guard self.seats.indices.contains(index) else {
            throw ReplyError(
                .noSuchSeat, "there is no seat \(index); seats are numbered 0 to \(self.seats.count - 1)")
        }
    }
}
