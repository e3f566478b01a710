// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// One keyed piece of presence's state.
///
/// No row has the sessions of a live: Redis holds the sessions, and gateways can assert them again.
package enum AudienceRow: JournalRow, Codable {
    case partition(row: PartitionRow)
    case live(row: LiveRow)
    case fence(row: RevocationFence)
    case bans(row: Bans)
    case calls(row: CallWindow)

    /// The names in stored rows.
    private enum CodingKeys: String, CodingKey {
        case partition, live, bans, calls
        case fence = "floors"
    }

    package var due: Timestamp? {
        switch self {
        case .partition(let row): row.settlesAt
        case .live(let row): [row.countDue, row.occupancyDue].lazy.compactMap { $0 }.min()
        case .fence: nil
        case .bans(let row): row.nextEnd
        case .calls(let row): row.due
        }
    }
}

/// The state of the leases of a whole partition.
package struct PartitionRow: Hashable, Sendable, Codable {
    /// When the new epoch of the leases has settled.
    ///
    /// Until then no lease expires, because gateways are still asserting their sessions. Nil when no epoch is
    /// settling.
    package var settlesAt: Timestamp?
    /// Whether Redis cannot be reached and counts have been marked stale.
    package var isUnavailable = false
    /// Whether a change of the leases was decided without Redis, so that a new epoch must begin (I5).
    package var needsEpoch = false
    /// The total standstill of the partition so far (`Moment.standstill`); nil means none.
    package var standstill: Milliseconds?

    package init() {}

    private enum CodingKeys: String, CodingKey {
        case settlesAt
        case isUnavailable = "isAway"
        case needsEpoch
        case standstill
    }
}

/// A running live as presence knows it.
package struct LiveRow: Hashable, Sendable, Codable {
    /// The live's feed epoch.
    package var epoch: Int64
    /// The owner.
    ///
    /// The owner has a lease like every user, but is not listed, counted, or announced as joined or left.
    package var owner: UserID
    /// The users who are shown as admins.
    package var admins: [UserID] = []
    /// The live's own limit of users; 0 means that only the app's limit applies.
    package var maxMembers = 0
    /// The offset of the live's opening.
    ///
    /// A ticket below it is from an earlier live of the same name.
    package var openedAt: Int64
    /// The number of users in the live according to the leases, without the owner.
    package var count = 0
    /// The number of joins so far, including repeated visits.
    package var totalViewers = 0
    /// The last published values of `count` and `totalViewers`, and when they were published.
    package var publishedCount = 0
    package var publishedTotal = 0
    package var publishedAt: Timestamp
    /// When the unpublished count is due to be published (at most one update a second).
    package var countDue: Timestamp?
    /// Whether the owner is present, has left or is offline, according to the leases.
    package var ownerPresence = OwnerPresence.left
    /// The occupancy last reported to the directory, which assumes these values for a new live.
    package var reportedOwner = OwnerPresence.left
    package var reportedEmpty = true
    package var occupancyReportedAt = Timestamp.distantPast
    /// When the unreported occupancy is due to be reported (at most one update a second).
    package var occupancyDue: Timestamp?
    /// Whether the leases of this live are uncertain: Redis cannot be reached, or a new epoch has not settled.
    package var isStale = false
    /// Whether a new epoch has settled and presence does not know yet whether the owner is in the live.
    package var awaitsOwner = false
    /// Whether a user joined while Redis could not be reached: then the live is not empty, even if it has no leases.
    package var hasUnrecordedJoins = false
    /// The users who were kicked while the leases are uncertain and have not joined again.
    ///
    /// A second kick of such a user fails (I6).
    package var kickedWhileStale: [UserID] = []

    package init(epoch: Int64, owner: UserID, openedAt: Int64, publishedAt: Timestamp) {
        self.epoch = epoch
        self.owner = owner
        self.openedAt = openedAt
        self.publishedAt = publishedAt
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, owner, admins, maxMembers, openedAt, count, totalViewers
        case publishedCount = "toldCount"
        case publishedTotal = "toldTotal"
        case publishedAt = "toldAt"
        case countDue, ownerPresence
        case reportedOwner = "toldOwner"
        case reportedEmpty = "toldEmpty"
        case occupancyReportedAt = "occupancyToldAt"
        case occupancyDue, isStale, awaitsOwner
        case hasUnrecordedJoins = "hasUnwritten"
        case kickedWhileStale
    }

    /// The user's role in this live.
    package func role(of user: UserID) -> LiveRole {
        if user == self.owner { return .owner }
        return self.admins.contains(user) ? .admin : .generalUser
    }

    /// The record of the last published count.
    package func record(_ key: LiveKey, at now: Timestamp) -> CountRecord {
        CountRecord(
            app: key.app, live: key.live, epoch: self.epoch, count: self.publishedCount,
            totalViewers: self.publishedTotal,
            stale: self.isStale, at: now)
    }
}
