// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// One keyed piece of presence's state.
///
/// Who is in a room is not among them: that is Redis's, and can be rebuilt.
package enum AudienceRow: JournalRow, Codable {
    case partition(row: PartitionRow)
    case live(row: LiveRow)
    case floors(row: Floors)
    case bans(row: Bans)
    case calls(row: OutcomeWindow)

    package var due: Timestamp? {
        switch self {
        case .partition(let row): row.settlesAt
        case .live(let row): [row.countDue, row.occupancyDue].lazy.compactMap { $0 }.min()
        case .floors: nil
        case .bans(let row): row.nextEnd
        case .calls(let row): row.due
        }
    }
}

/// What presence knows of the leases of a whole partition.
package struct PartitionRow: Hashable, Sendable, Codable {
    /// Set while a new epoch of the leases settles: until then nothing expires, for gateways still tell who is here.
    package var settlesAt: Timestamp?
    /// The leases cannot be reached; counts have been marked stale.
    package var isAway = false
    /// Something that changes leases was decided without them, so their next state needs a new epoch (I5).
    package var needsEpoch = false

    package init() {}
}

/// A running live as presence knows it.
package struct LiveRow: Hashable, Sendable, Codable {
    /// The live's feed epoch.
    package var epoch: Int64
    /// The owner: has a lease like everybody, and is in no list, count or tip.
    package var owner: UserID
    /// Who is shown as admin.
    package var admins: [UserID] = []
    /// Users that the live may have; 0: as many as the app allows.
    package var maxMembers = 0
    /// The offset of the live's opening: tickets below it are of an older live of the same name.
    package var openedAt: Int64
    /// Users in the live as the leases have it, the owner not counted.
    package var count = 0
    /// All entries so far, repeat visits counted.
    package var totalViewers = 0
    /// What was last told of both.
    package var toldCount = 0
    package var toldTotal = 0
    package var toldAt: Timestamp
    /// When the count that is not told yet will be (at most one update a second).
    package var countDue: Timestamp?
    /// Where the owner is, as far as its leases told.
    package var ownerPresence = OwnerPresence.left
    /// What the directory was last told of owner and room; a new live's directory takes it for so.
    package var toldOwner = OwnerPresence.left
    package var toldEmpty = true
    package var occupancyToldAt = Timestamp.distantPast
    /// When the directory is told what it has not been told yet (at most one update a second).
    package var occupancyDue: Timestamp?
    /// The leases of this live are not known for certain: they are away, or a new epoch has not settled.
    package var isStale = false
    /// A new epoch has settled, and whether the owner is here has been asked for.
    package var awaitsOwner = false
    /// Somebody entered while nobody could write it down: the live is not empty, whatever the leases say.
    package var hasUnwritten = false
    /// Users kicked while the live is stale and not back since, so that a second kick is told from the first (I6).
    package var kickedWhileStale: [UserID] = []

    package init(epoch: Int64, owner: UserID, openedAt: Int64, toldAt: Timestamp) {
        self.epoch = epoch
        self.owner = owner
        self.openedAt = openedAt
        self.toldAt = toldAt
    }

    /// What a user is in this live.
    package func role(of user: UserID) -> LiveRole {
        if user == self.owner { return .owner }
        return self.admins.contains(user) ? .admin : .generalUser
    }

    /// The record of the count as it was last told.
    package func record(_ key: LiveKey, at now: Timestamp) -> CountRecord {
        CountRecord(
            app: key.app, live: key.live, epoch: self.epoch, count: self.toldCount, totalViewers: self.toldTotal,
            stale: self.isStale, at: now)
    }
}
