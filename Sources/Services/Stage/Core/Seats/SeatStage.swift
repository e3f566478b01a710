// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The stage of one live: its seats, and the connection and battle that the connection machine reported.
///
/// The stage is open until the live ends. After that it is empty, and `removalTime` is set, until the stage is removed
/// or a live with the same id is created.
package struct SeatStage: Equatable, Sendable, Codable {
    package var key: LiveKey
    /// The number that distinguishes the live from earlier lives with the same id; a later live has a higher epoch.
    package var epoch: Int64
    /// Grows with every change that viewers see.
    package var revision: Int64
    package var owner: UserInfo
    package var admins: [UserID]
    /// Whether users take free seats at once or have to apply for them.
    package var mode: TakeSeatMode
    /// Whether seat 0 is reserved for the owner, so that nobody can remove the owner from it.
    package var keepsOwner: Bool
    package var seats: [Seat]
    /// The layout template while the live is not in a connection (docs/RULES.md, section 9).
    package var templateID: Int
    /// Whether the owner is in the live.
    package var isOwnerIn: Bool
    /// The devices of seated users that hosts have locked.
    package var closedDevices = ClosedDevices()
    /// Whether the live has a revocation fence (the lowest tickets that kicked users may still use).
    ///
    /// If false, calls need not read the fence.
    package var hasRevocations = false
    package var connection: ConnectionView?
    package var battle: BattleView?
    /// The other battles of the connection; nil when there are none.
    package var otherBattles: [BattleView]?
    /// The revision of the last report of the connection machine.
    package var connectionRevision: Int64
    /// When the row of the ended stage is removed; nil while the live runs.
    package var removalTime: Timestamp?
    /// When the last feed item was published (R12.11); nil before the first, and in rows of older versions.
    package var itemPublishedAt: Timestamp?
    /// The events of changes that are not in the feed yet; nil when the feed shows all changes.
    ///
    /// The next feed item contains these events.
    package var unpublishedEvents: [StageEvent]?

    /// Some stored names differ from the names of their cases, because stored names never change.
    private enum CodingKeys: String, CodingKey {
        case key, epoch, revision, owner, admins, mode, keepsOwner, seats, templateID, isOwnerIn
        case closedDevices = "closed"
        case hasRevocations = "hasFloors"
        case connection, battle, otherBattles, connectionRevision
        case removalTime = "goneAt"
        case itemPublishedAt = "itemAt"
        case unpublishedEvents = "unpublished"
    }

    init(key: LiveKey, epoch: Int64, revision: Int64, info: LiveInfo) {
        self.key = key
        self.epoch = epoch
        self.revision = revision
        (self.owner, self.admins, self.mode) = (info.liveOwner, info.admins, info.seatMode)
        self.keepsOwner = info.keepOwnerOnSeat
        self.templateID = info.seatTemplate
        // The owner counts as present until presence reports that the owner has left. But the owner of a scheduled
        // live, which the app's server has created, has not joined yet.
        self.isOwnerIn = info.status != .scheduled
        self.seats = []
        self.connectionRevision = .min
        // Swift requires that all properties are set before this call, which replaces some of them and creates the
        // seats. The result, the occupied seats that no longer exist, is empty for a new stage.
        _ = self.applyInfo(info)
    }

    /// Decodes a row; rows of older versions lack some fields.
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
        self.closedDevices =
            try values.decodeIfPresent(ClosedDevices.self, forKey: .closedDevices) ?? ClosedDevices()
        // Rows of older versions lack the field, even if the live has a fence. `true` makes calls read the fence.
        self.hasRevocations = try values.decodeIfPresent(Bool.self, forKey: .hasRevocations) ?? true
        self.connection = try values.decodeIfPresent(ConnectionView.self, forKey: .connection)
        self.battle = try values.decodeIfPresent(BattleView.self, forKey: .battle)
        self.otherBattles = try values.decodeIfPresent([BattleView].self, forKey: .otherBattles)
        self.connectionRevision = try values.decode(Int64.self, forKey: .connectionRevision)
        self.removalTime = try values.decodeIfPresent(Timestamp.self, forKey: .removalTime)
        self.itemPublishedAt = try values.decodeIfPresent(Timestamp.self, forKey: .itemPublishedAt)
        self.unpublishedEvents = try values.decodeIfPresent([StageEvent].self, forKey: .unpublishedEvents)
    }

    /// The record of the stage in the topic `stages`.
    package var record: StageRecord {
        StageRecord(
            app: self.key.app, live: self.key.live, epoch: self.epoch, revision: self.revision, seats: self.seats,
            connection: self.connection, battle: self.battle, otherBattles: self.otherBattles,
            layout: .computed(
                live: self.key.live, seats: self.seats, template: self.template, connection: self.connection))
    }

    /// The layout template while the live is not in a connection.
    var template: SeatTemplate { .resolved(self.templateID) }

    /// The role of a user in the live.
    func role(of user: UserID) -> LiveRole {
        user == self.owner.userID ? .owner : self.admins.contains(user) ? .admin : .generalUser
    }

    /// The users who may answer applications and invite guests: the owner and the admins.
    var hosts: [UserID] { [self.owner.userID] + self.admins.filter { $0 != self.owner.userID } }

    /// The seat of a user; nil when the user has none.
    func seatIndex(of user: UserID) -> Int? { self.seats.firstIndex { $0.occupant?.user.userID == user } }

    // MARK: - Devices

    /// Changes the occupant of seat `index`; does nothing if the seat is empty.
    mutating func changeOccupant(_ index: Int, _ change: (inout SeatUser) -> Void) {
        guard var occupant = self.seats[index].occupant else { return }
        change(&occupant)
        self.seats[index].occupant = occupant
    }

    /// Sets or removes a host's lock on a device of a user; for a user who stays seated, call `applyLocks` afterwards.
    mutating func setUserLock(on device: Device, of user: UserID, isLocked: Bool) {
        self.closedDevices.set(device, of: user, isClosed: isLocked)
    }

    /// Sets which devices the occupant of seat `index` may use, according to the locks on the seat and on the user.
    mutating func applyLocks(at index: Int) {
        let seat = self.seats[index]
        let closedDevices = self.closedDevices
        self.changeOccupant(index) { occupant in
            for device in Device.allCases {
                occupant.setAllowed(
                    device, !seat.isLocked(device) && !closedDevices.contains(occupant.user.userID, device))
            }
        }
    }
}
