// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// Sitting, leaving, moving, locking (reference 7), and what the other machines tell of people.
extension SeatStep {
    /// Seats `guest`, who sits nowhere, on a free seat; its open requests are void then.
    mutating func sit(_ guest: UserInfo, at index: Int) {
        self.stage.seats[index].occupant = SeatUser(
            user: guest, role: self.stage.role(of: guest.userID), live: self.stage.key.live)
        self.stage.applyLocks(at: index)
        self.events.append(.seatTaken(index: index, user: guest))
        self.endRequests(ofSeated: guest)
    }

    /// Frees the seat; returns who sat there.
    @discardableResult
    mutating func free(_ index: Int) -> UserInfo? {
        guard let user = self.stage.seats[index].occupant?.user else { return nil }
        self.stage.seats[index].occupant = nil
        for device in Device.allCases { self.stage.setClosed(user.userID, device, false) }
        self.events.append(.seatLeft(index: index, user: user))
        return user
    }

    /// Frees the seat against its occupant's will, and tells it.
    mutating func putOff(_ index: Int, by host: UserInfo) {
        guard let user = self.free(index) else { return }
        self.notify(user.userID, .kickedOffSeat(seatIndex: index, by: host))
    }

    mutating func take(seatIndex: Int, _ caller: Caller) throws(ReplyError) -> SeatFate.Result {
        guard self.stage.mode == .free || self.stage.role(of: caller.userID) != .generalUser else {
            return try self.apply(
                seatIndex: seatIndex, timeoutSeconds: Self.takeTimeoutSeconds, extraInfo: "", caller)
        }
        let index = try self.seat(for: caller, seatIndex)
        self.sit(caller.user, at: index)
        return .seat(index: index)
    }

    /// How long the application waits that taking a seat in apply mode makes (reference 7).
    private static var takeTimeoutSeconds: Int64 { 60 }

    /// The free seat that `caller`, who must not sit yet, asks for.
    func seat(for caller: Caller, _ seatIndex: Int) throws(ReplyError) -> Int {
        try self.requireUser(caller)
        if let seated = self.stage.seatIndex(of: caller.userID) {
            throw ReplyError(.alreadySeated, "you sit on seat \(seated)")
        }
        return try self.stage.freeSeat(seatIndex, for: caller.userID)
    }

    mutating func leave(_ caller: Caller) throws(ReplyError) -> SeatFate.Result {
        guard caller.role == .user, let index = self.stage.seatIndex(of: caller.userID) else {
            throw ReplyError(.notOnSeat, "you sit on no seat")
        }
        self.free(index)
        return .done
    }

    mutating func kickOff(_ user: UserID, _ caller: Caller) throws(ReplyError) -> SeatFate.Result {
        try self.requireHost(caller)
        guard let index = self.stage.seatIndex(of: user) else {
            throw ReplyError(.notOnSeat, "the user sits on no seat")
        }
        try self.requireNotKept(user)
        try self.requirePower(over: user, caller)
        self.putOff(index, by: caller.user)
        return .done
    }

    /// Refuses an admin what it would do to the owner (reference 4: an admin has no power over the owner).
    func requirePower(over user: UserID, _ caller: Caller) throws(ReplyError) {
        guard user == self.stage.owner.userID, user != caller.userID, caller.role == .user else { return }
        throw self.notAllowed("an admin has no power over the owner")
    }

    /// Refuses to take a kept owner off its seat.
    private func requireNotKept(_ user: UserID) throws(ReplyError) {
        if self.stage.isKept(user) {
            throw self.notAllowed("the owner is kept on its seat")
        }
    }

    mutating func move(
        _ user: UserID, to target: Int, _ policy: MoveSeatPolicy, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        let isSelf = caller.role == .user && user == caller.userID
        if !isSelf { try self.requireHost(caller) }
        try self.stage.check(target)
        guard let from = self.stage.seatIndex(of: user), let mover = self.stage.seats[from].occupant else {
            throw ReplyError(.notOnSeat, "the user sits on no seat")
        }
        if from == target { return .done }
        if target != 0 { try self.requireNotKept(user) }
        try self.requirePower(over: user, caller)
        if self.stage.seats[target].isLocked { throw ReplyError(.seatLocked, "seat \(target) is locked") }
        if self.stage.isReserved(target, from: user) {
            throw ReplyError(.seatOccupied, "seat \(target) is the owner's")
        }
        if let occupant = self.stage.seats[target].occupant {
            let mayDisplace = caller.role == .server || self.stage.role(of: caller.userID) != .generalUser
            switch mayDisplace ? policy : .abortWhenOccupied {
            case .abortWhenOccupied: throw ReplyError(.seatOccupied, "seat \(target) is occupied")
            case .forceReplace:
                try self.requireNotKept(occupant.user.userID)
                try self.requirePower(over: occupant.user.userID, caller)
                self.putOff(target, by: caller.user)
                self.stage.seats[from].occupant = nil
            case .swapPosition:
                try self.requireNotKept(occupant.user.userID)
                try self.requirePower(over: occupant.user.userID, caller)
                self.stage.seats[from].occupant = occupant
                self.stage.applyLocks(at: from)
                self.tellDevices(at: from, before: occupant, caller)
                self.events.append(.userMoved(user: occupant.user, from: target, to: from))
            }
        } else {
            self.stage.seats[from].occupant = nil
        }
        self.stage.seats[target].occupant = mover
        self.stage.applyLocks(at: target)
        self.tellDevices(at: target, before: mover, caller)
        self.events.append(.userMoved(user: mover.user, from: from, to: target))
        return .done
    }

    /// Locks and unlocks a seat and the devices on it; all of it or nothing.
    mutating func lock(
        _ index: Int, isLocked: Bool?, microphone: Bool?, camera: Bool?, _ caller: Caller
    ) throws(ReplyError) -> SeatFate.Result {
        try self.requireHost(caller)
        try self.stage.check(index)
        let occupant = self.stage.seats[index].occupant?.user.userID
        let isTaking = isLocked == true && !self.stage.seats[index].isLocked
        if isTaking {
            if self.stage.keepsOwner, index == 0 { throw self.notAllowed("seat 0 is kept for the owner") }
            if let occupant { try self.requireNotKept(occupant) }
        }
        if let occupant, isTaking || microphone != nil || camera != nil {
            try self.requirePower(over: occupant, caller)
        }
        if let isLocked, self.stage.seats[index].isLocked != isLocked {
            if isLocked { self.putOff(index, by: caller.user) }
            self.stage.seats[index].isLocked = isLocked
            self.events.append(isLocked ? .seatLocked(index: index) : .seatUnlocked(index: index))
        }
        self.lockDevices(of: index, microphone: microphone, camera: camera, caller)
        return .done
    }

    /// The app's server puts a member of the room on a seat.
    mutating func place(_ user: UserInfo, at seatIndex: Int, _ caller: Caller) throws(ReplyError) -> SeatFate.Result {
        try self.requireServer(caller)
        try self.requireUnseated(user.userID)
        let index = try self.stage.freeSeat(seatIndex, for: user.userID)
        self.sit(user, at: index)
        return .seat(index: index)
    }

    /// Refuses everybody but the app's server.
    func requireServer(_ caller: Caller) throws(ReplyError) {
        guard caller.role == .server else { throw self.notAllowed("only the app's server puts users on seats") }
    }

    /// Refuses what only someone without a seat can be asked or told to do.
    func requireUnseated(_ user: UserID) throws(ReplyError) {
        if let seated = self.stage.seatIndex(of: user) {
            throw ReplyError(.userAlreadyOnSeat, "the user sits on seat \(seated)")
        }
    }

    /// Takes in what the live's info says; those whose seats vanish move to free ones, as long as there are any.
    mutating func infoChanged(_ info: LiveInfo) {
        var displaced = self.stage.adopt(info)
        // Seat 0 is the owner's alone from now on: a guest there makes room, as on a seat that vanishes.
        if self.stage.keepsOwner, let first = self.stage.seats.first, let guest = first.occupant?.user,
            guest.userID != self.stage.owner.userID
        {
            displaced.insert(first, at: 0)
            self.stage.seats[0].occupant = nil
        }
        // The seat that the owner leaves for seat 0 is free for others.
        if !displaced.contains(where: { $0.occupant?.user.userID == self.stage.owner.userID }) { self.seatKeptOwner() }
        for seat in displaced {
            guard let occupant = seat.occupant else { continue }
            let user = occupant.user
            if let free = try? self.stage.freeSeat(-1, for: user.userID) {
                self.stage.seats[free].occupant = occupant
                self.stage.applyLocks(at: free)
                self.events.append(.userMoved(user: user, from: seat.index, to: free))
            } else {
                for device in Device.allCases { self.stage.setClosed(user.userID, device, false) }
                self.events.append(.seatLeft(index: seat.index, user: user))
                self.notify(user.userID, .kickedOffSeat(seatIndex: seat.index, by: self.stage.owner))
            }
        }
        self.seatKeptOwner()
    }

    /// A kept owner who is in the room sits on seat 0, once that is free.
    mutating func seatKeptOwner() {
        let owner = self.stage.owner
        guard self.stage.keepsOwner, self.stage.isOwnerIn, let first = self.stage.seats.first, first.occupant == nil
        else { return }
        if first.isLocked {
            self.stage.seats[0].isLocked = false
            self.events.append(.seatUnlocked(index: 0))
        }
        guard let from = self.stage.seatIndex(of: owner.userID) else { return self.sit(owner, at: 0) }
        self.stage.seats[0].occupant = self.stage.seats[from].occupant
        self.stage.seats[from].occupant = nil
        self.stage.applyLocks(at: 0)
        self.events.append(.userMoved(user: owner, from: from, to: 0))
    }

    /// The live is over: everybody learns that by the end itself, so no request is answered one by one.
    mutating func ended() {
        self.stage.goneAt = self.moment.now + SeatMachine.keptAfterEnd
        self.requests = SeatRequests()
        for index in self.stage.seats.indices { self.stage.seats[index].occupant = nil }
        self.stage.closed = ClosedDevices()
        self.stage.connection = nil
        self.stage.battle = nil
        self.stage.otherBattles = nil
    }

    mutating func userGone(_ user: UserID) {
        if user == self.stage.owner.userID { self.stage.isOwnerIn = false }
        if let index = self.stage.seatIndex(of: user) { self.free(index) }
        self.endRequests(ofGone: user)
    }

    /// The user's first session has entered: a kept owner sits again.
    mutating func userBack(_ user: UserInfo) {
        self.profile(user)
        guard user.userID == self.stage.owner.userID else { return }
        self.stage.isOwnerIn = true
        self.seatKeptOwner()
    }

    /// The user is shown otherwise, wherever it is named here.
    mutating func profile(_ user: UserInfo) {
        if self.stage.owner.userID == user.userID { self.stage.owner = user }
        if let index = self.stage.seatIndex(of: user.userID) {
            self.stage.changeOccupant(index) { $0.user = user }
        }
        self.requests.rename(user)
    }
}
