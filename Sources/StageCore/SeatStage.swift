// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The stage of one live: its seats, and the connection and battle that the connection machine told.
///
/// Open until the live ends; then empty, with `goneAt` set, until it is removed or the live is created anew.
package struct SeatStage: Equatable, Sendable, Codable {
    package var key: LiveKey
    package var epoch: Int64
    /// Grows with every change that viewers see.
    package var revision: Int64
    package var owner: UserInfo
    package var admins: [UserID]
    package var mode: TakeSeatMode
    /// Seat 0 is the owner's alone, and nobody else moves it off its seat.
    package var keepsOwner: Bool
    package var seats: [Seat]
    /// The template of section 9 that lays the stage out while no connection does.
    package var templateID: Int
    /// The owner is in the room, so a kept seat is its own at once.
    package var isOwnerIn: Bool
    package var closed = ClosedDevices()
    /// There is a row of floors.
    package var hasFloors = false
    package var connection: ConnectionView?
    package var battle: BattleView?
    /// The connection's other battles; nil: there is none.
    package var otherBattles: [BattleView]?
    /// The revision of the last word of the connection machine.
    package var connectionRevision: Int64
    /// Set when the live has ended: when the stage is removed.
    package var goneAt: Timestamp?

    init(key: LiveKey, epoch: Int64, revision: Int64, info: LiveInfo) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        self.owner = info.liveOwner
        self.admins = info.admins
        self.mode = info.seatMode
        self.keepsOwner = info.keepOwnerOnSeat
        let template = SeatTemplate.resolved(info.seatTemplate)
        self.templateID = template.id
        self.isOwnerIn = info.status != .scheduled
        self.seats = (0..<template.seatCount(wanted: info.maxSeatCount)).map { Seat(index: $0) }
        self.connectionRevision = .min
    }

    package init(from decoder: any Decoder) throws {
        let values = try decoder.container(keyedBy: CodingKeys.self)
        self.key = try values.decode(LiveKey.self, forKey: .key)
        self.epoch = try values.decode(Int64.self, forKey: .epoch)
        self.revision = try values.decode(Int64.self, forKey: .revision)
        self.owner = try values.decode(UserInfo.self, forKey: .owner)
        self.admins = try values.decode([UserID].self, forKey: .admins)
        self.mode = try values.decode(TakeSeatMode.self, forKey: .mode)
        self.keepsOwner = try values.decode(Bool.self, forKey: .keepsOwner)
        self.seats = try values.decode([Seat].self, forKey: .seats)
        self.templateID = try values.decodeIfPresent(Int.self, forKey: .templateID) ?? SeatTemplate.dynamicGrid.id
        self.isOwnerIn = try values.decodeIfPresent(Bool.self, forKey: .isOwnerIn) ?? true
        self.closed = try values.decodeIfPresent(ClosedDevices.self, forKey: .closed) ?? ClosedDevices()
        self.hasFloors = try values.decodeIfPresent(Bool.self, forKey: .hasFloors) ?? true
        self.connection = try values.decodeIfPresent(ConnectionView.self, forKey: .connection)
        self.battle = try values.decodeIfPresent(BattleView.self, forKey: .battle)
        self.otherBattles = try values.decodeIfPresent([BattleView].self, forKey: .otherBattles)
        self.connectionRevision = try values.decode(Int64.self, forKey: .connectionRevision)
        self.goneAt = try values.decodeIfPresent(Timestamp.self, forKey: .goneAt)
    }

    /// The stage as the topic `stages` shows it.
    package var record: StageRecord {
        StageRecord(
            app: self.key.app, live: self.key.live, epoch: self.epoch, revision: self.revision, seats: self.seats,
            connection: self.connection, battle: self.battle, otherBattles: self.otherBattles,
            layout: .computed(
                live: self.key.live, seats: self.seats, template: self.template, connection: self.connection))
    }

    /// What lays the stage out while no connection does.
    var template: SeatTemplate { .resolved(self.templateID) }

    func role(of user: UserID) -> LiveRole {
        user == self.owner.userID ? .owner : self.admins.contains(user) ? .admin : .generalUser
    }

    /// Who may answer applications and invite: the owner and the admins.
    var hosts: [UserID] { [self.owner.userID] + self.admins.filter { $0 != self.owner.userID } }

    func seatIndex(of user: UserID) -> Int? { self.seats.firstIndex { $0.occupant?.user.userID == user } }

    /// Whether the seat is kept free for the owner.
    func isReserved(_ index: Int, from user: UserID) -> Bool {
        self.keepsOwner && index == 0 && user != self.owner.userID
    }

    /// Whether `user` is the owner, whose place is seat 0 alone.
    func isKept(_ user: UserID) -> Bool { self.keepsOwner && user == self.owner.userID }

    /// The seat that `user` would get by asking for `index`; -1 is the lowest that is free and unlocked.
    ///
    /// - Throws: the refusal of the reference, sections 6 and 7: no seats, no such seat, locked, occupied, none left.
    func freeSeat(_ index: Int, for user: UserID) throws(ReplyError) -> Int {
        guard !self.seats.isEmpty else { throw ReplyError(.roomHasNoSeats, "the live has no seats") }
        if index == -1 {
            let free = self.seats.first {
                $0.occupant == nil && !$0.isLocked && !self.isReserved($0.index, from: user)
            }
            if let free { return free.index }
            if self.seats.allSatisfy({ $0.occupant != nil }) {
                throw ReplyError(.allSeatsTaken, "all \(self.seats.count) seats are taken")
            }
            throw ReplyError(.seatLimit, "no seat is left: those that are empty are locked or kept for the owner")
        }
        try self.check(index)
        if index != 0, self.isKept(user) {
            throw ReplyError(.noPermission, "the owner is kept on its seat: that is seat 0")
        }
        if self.seats[index].isLocked { throw ReplyError(.seatLocked, "seat \(index) is locked") }
        if self.seats[index].occupant != nil { throw ReplyError(.seatOccupied, "seat \(index) is occupied") }
        if self.isReserved(index, from: user) { throw ReplyError(.seatOccupied, "seat \(index) is the owner's") }
        return index
    }

    /// Refuses an index that no seat has.
    func check(_ index: Int) throws(ReplyError) {
        guard self.seats.indices.contains(index) else {
            throw ReplyError(.noSuchSeat, "seats are numbered 0 to \(self.seats.count - 1)")
        }
    }

    /// Takes in what the live's info says; seats that vanish lose their occupants, who are returned.
    mutating func adopt(_ info: LiveInfo) -> [Seat] {
        self.owner = info.liveOwner
        self.admins = info.admins
        self.mode = info.seatMode
        self.keepsOwner = info.keepOwnerOnSeat
        let template = SeatTemplate.resolved(info.seatTemplate)
        self.templateID = template.id
        let count = template.seatCount(wanted: info.maxSeatCount)
        for index in self.seats.indices {
            guard let user = self.seats[index].occupant?.user.userID else { continue }
            let role = self.role(of: user)
            self.seats[index].occupant?.role = role
        }
        let vanished = self.seats.dropFirst(count).filter { $0.occupant != nil }
        self.seats = Array(self.seats.prefix(count))
        while self.seats.count < count { self.seats.append(Seat(index: self.seats.count)) }
        return vanished
    }

    // MARK: - Devices

    mutating func changeOccupant(_ index: Int, _ change: (inout SeatUser) -> Void) {
        guard var occupant = self.seats[index].occupant else { return }
        change(&occupant)
        self.seats[index].occupant = occupant
    }

    /// A host closes a device to someone on stage, or opens it; `applyLocks` must follow.
    mutating func setClosed(_ user: UserID, _ device: Device, _ isClosed: Bool) {
        self.closed.set(user, device, isClosed)
    }

    /// What whoever sits at `index` may use follows from the locks on the seat and on the person.
    mutating func applyLocks(at index: Int) {
        let seat = self.seats[index]
        let closed = self.closed
        self.changeOccupant(index) { occupant in
            for device in Device.allCases {
                occupant.setAllowed(device, !seat.isLocked(device) && !closed.contains(occupant.user.userID, device))
            }
        }
    }
}
