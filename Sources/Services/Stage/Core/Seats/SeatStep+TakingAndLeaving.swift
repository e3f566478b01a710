// SPDX-License-Identifier: Apache-2.0
import PlazaModel

/// Users take seats and leave them (R7.3, R6.4, R6.21).
extension SeatStep {
    /// Puts `guest`, who has no seat, on the free seat `index`; the open requests of the guest become void.
    mutating func putOnSeat(_ guest: UserInfo, at index: Int) {
        self.stage.seats[index].occupant = SeatUser(
            user: guest, role: self.stage.role(of: guest.userID), live: self.stage.key.live)
        self.stage.applyLocks(at: index)
        self.events.append(.seatTaken(index: index, user: guest))
        self.endRequests(ofSeated: guest)
    }

    /// Removes the occupant from the seat without a notice to the occupant.
    ///
    /// - Returns: the former occupant; nil when the seat was empty.
    @discardableResult
    mutating func vacateSeat(_ index: Int) -> UserInfo? {
        guard let user = self.stage.seats[index].occupant?.user else { return nil }
        self.stage.seats[index].occupant = nil
        // The locks that hosts set on a user end when the user loses the seat.
        for device in Device.allCases { self.stage.setUserLock(on: device, of: user.userID, isLocked: false) }
        self.events.append(.seatLeft(index: index, user: user))
        return user
    }

    /// Gives the caller a free seat at once, or makes an application if the caller needs a host's consent.
    ///
    /// In free mode nobody needs consent. In apply mode everybody does, except the owner and the admins.
    mutating func take(seatIndex: Int, _ caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        guard self.stage.mode == .free || self.stage.role(of: caller.userID) != .generalUser else {
            return try self.apply(
                seatIndex: seatIndex, timeoutSeconds: Self.takeTimeoutSeconds, extraInfo: "", caller)
        }
        let index = try self.requestedSeat(for: caller, seatIndex)
        self.putOnSeat(caller.user, at: index)
        return .seat(index: index)
    }

    /// The timeout of the application that `take` makes in a live that requires applications, in seconds (R7.3).
    private static var takeTimeoutSeconds: Int64 { 60 }

    /// The free seat that `caller` requests.
    ///
    /// - Throws: when the caller already has a seat, or the requested seat is not free.
    func requestedSeat(for caller: Caller, _ seatIndex: Int) throws(ReplyError) -> Int {
        try self.requireUser(caller)
        if let currentSeat = self.stage.seatIndex(of: caller.userID) {
            throw ReplyError(.alreadySeated, "you sit on seat \(currentSeat)")
        }
        return try self.stage.chooseSeat(seatIndex, for: caller.userID)
    }

    /// Makes the caller leave its seat.
    mutating func leave(_ caller: Caller) throws(ReplyError) -> SeatOutcome.Result {
        guard caller.role == .user, let index = self.stage.seatIndex(of: caller.userID) else {
            throw ReplyError(.notOnSeat, "you sit on no seat")
        }
        self.vacateSeat(index)
        return .done
    }

    /// Rejects a user who already has a seat.
    func requireUnseated(_ user: UserID) throws(ReplyError) {
        if let currentSeat = self.stage.seatIndex(of: user) {
            throw ReplyError(.userAlreadyOnSeat, "the user sits on seat \(currentSeat)")
        }
    }
}
