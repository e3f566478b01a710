// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// A row of presence: one keyed piece of its state, stored as a record of the state topic.
///
/// The rows do not contain the sessions of the lives. Redis holds the sessions, and gateways can assert (list) them
/// again.
package enum AudienceRow: JournalRow, Codable {
    case partition(row: PartitionRow)
    case live(row: LiveRow)
    case fence(row: RevocationFence)
    case bans(row: Bans)
    case calls(row: CallWindow)

    /// The names in stored rows; one differs from its case, because stored names never change.
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
    /// When the new epoch of the leases will have settled; nil when no epoch is settling.
    ///
    /// Until then no lease expires, because gateways are still asserting their sessions.
    package var settlesAt: Timestamp?
    /// Whether Redis cannot be reached and counts have been marked stale.
    package var isUnavailable = false
    /// Whether a new epoch (new lease data) must begin, because the leases in Redis may contradict what presence has
    /// decided without Redis (I5 in docs/RULES.md).
    package var needsEpoch = false
    /// The sum of the times in which the partition had no owner or no input (`Moment.standstill`); nil means none.
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
    /// The live's feed epoch, which distinguishes the live from earlier lives with the same id.
    package var epoch: Int64
    /// The owner.
    ///
    /// The owner has a lease like every user, but is not listed, counted, or announced as joined or left.
    package var owner: UserID
    /// The users who are shown as admins.
    package var admins: [UserID] = []
    /// The live's own limit of users; 0 means that only the app's limit applies.
    package var maxMembers = 0
    /// The inbox offset of the live's opening.
    ///
    /// A ticket (the inbox offset of a join) that is lower is from an earlier live with the same id.
    package var openingOffset: Int64
    /// The number of users in the live according to the leases, without the owner.
    package var count = 0
    /// The number of visits so far, including repeated visits of a user; `RecentLeaves` says what counts as one visit.
    package var totalViewers = 0
    /// The users who left within the last minute; nil if nobody has left, and in rows of earlier versions.
    package var recentLeaves: RecentLeaves?
    /// The last published value of `count`.
    package var publishedCount = 0
    /// The last published value of `totalViewers`.
    package var publishedTotalViewers = 0
    /// When the count was last published.
    package var publishedAt: Timestamp
    /// When a changed count is due to be published (at most one update a second); nil if the count has not changed.
    package var countDue: Timestamp?
    /// Whether the owner is present, has left or is offline, according to the leases.
    package var ownerPresence = OwnerPresence.left
    /// The owner's presence as last reported to the directory, which assumes `left` for a new live.
    package var reportedOwnerPresence = OwnerPresence.left
    /// Whether the live was last reported to the directory as empty; the directory assumes that a new live is empty.
    package var wasReportedEmpty = true
    /// When the occupancy was last reported to the directory.
    package var occupancyReportedAt = Timestamp.distantPast
    /// When a changed occupancy is due to be reported (at most one update a second); nil if nothing is to report.
    package var occupancyDue: Timestamp?
    /// Whether the leases of this live are uncertain: Redis cannot be reached, or a new epoch has not settled.
    package var isStale = false
    /// Whether a new epoch has settled, but presence has not confirmed yet whether the owner is in the live.
    package var isOwnerUnconfirmed = false
    /// Whether a user joined while Redis could not be reached; then the live is not empty, even if it has no leases.
    package var hasUnrecordedJoins = false
    /// The users who were kicked while the leases were uncertain and have not joined again.
    ///
    /// While the leases are uncertain, a second kick of such a user fails (I6).
    package var kickedWhileStale: [UserID] = []

    package init(epoch: Int64, owner: UserID, openingOffset: Int64, publishedAt: Timestamp) {
        self.epoch = epoch
        self.owner = owner
        self.openingOffset = openingOffset
        self.publishedAt = publishedAt
    }

    private enum CodingKeys: String, CodingKey {
        case epoch, owner, admins, maxMembers
        case openingOffset = "openedAt"
        case count, totalViewers, recentLeaves
        case publishedCount = "toldCount"
        case publishedTotalViewers = "toldTotal"
        case publishedAt = "toldAt"
        case countDue, ownerPresence
        case reportedOwnerPresence = "toldOwner"
        case wasReportedEmpty = "toldEmpty"
        case occupancyReportedAt = "occupancyToldAt"
        case occupancyDue, isStale
        case isOwnerUnconfirmed = "awaitsOwner"
        case hasUnrecordedJoins = "hasUnwritten"
        case kickedWhileStale
    }

    /// Remembers the leave of a viewer, whose visit continues if the viewer comes back soon.
    mutating func rememberLeave(of user: UserID, at now: Timestamp) {
        self.recentLeaves = self.recentLeaves ?? RecentLeaves()
        self.recentLeaves?.add(user, at: now)
    }

    /// The user's role in this live.
    package func role(of user: UserID) -> LiveRole {
        if user == self.owner { return .owner }
        return self.admins.contains(user) ? .admin : .generalUser
    }

    /// The record of the last published count.
    package func countRecord(_ key: LiveKey, at now: Timestamp) -> CountRecord {
        CountRecord(
            app: key.app, live: key.live, epoch: self.epoch, count: self.publishedCount,
            totalViewers: self.publishedTotalViewers, stale: self.isStale, at: now)
    }
}
