// SPDX-License-Identifier: Apache-2.0
package import MachineKit

/// A ban or a mute of one user in one live (R13.21, R13.23).
package struct Sanction: Hashable, Sendable, Codable {
    package var user: UserID
    /// When the sanction ends; nil if it is permanent.
    package var until: Timestamp?
    /// The reason that the author of a ban gave, at most 200 bytes; empty for mutes.
    package var reason: String
    /// The author of the ban or mute.
    package var by: UserID
    /// The user's profile at the time of the ban or mute; nil if the user was not in the live (R4.22).
    package var userInfo: UserInfo?

    package init(
        user: UserID, until: Timestamp?, reason: String = "", by: UserID, userInfo: UserInfo? = nil
    ) {
        self.user = user
        self.until = until
        self.reason = reason
        self.by = by
        self.userInfo = userInfo
    }
}

/// A page of a live's bans or mutes, ordered by user id.
package struct SanctionPage: Hashable, Sendable, Codable {
    package var items: [Sanction]
    /// The offset of the next page; 0 if this is the last page.
    package var nextOffset: Int
    /// The broker's time of the page (R1.19); nil from earlier versions.
    package var at: Timestamp?
    /// The caller's own mute, even if another page lists it; nil if the caller is not muted, and in a page of bans
    /// (R4.23).
    package var own: Sanction?

    package init(items: [Sanction], nextOffset: Int, at: Timestamp? = nil, own: Sanction? = nil) {
        self.items = items
        self.nextOffset = nextOffset
        self.at = at
        self.own = own
    }
}

/// Limits of bans and mutes (R17.2, R13.21).
package enum SanctionLimits {
    /// The maximum number of users in one call.
    package static let usersPerCall = 20
    /// The maximum number of entries on one page of a list.
    package static let entriesPerPage = 100
    package static let reasonBytes = 200
    /// The valid duration of a temporary sanction, in seconds: up to ten years.
    package static let seconds: ClosedRange<Int64> = 1...315_360_000
    /// The maximum number of bans of one live, and the same number of mutes; a call that would exceed it is rejected.
    package static let perLive = 1000
    /// The maximum number of entries in one row of the directory.
    package static let perRow = 50
    /// The maximum number of rows with the bans of a live, and the same number with its mutes.
    package static let rowsPerList = Self.perLive / Self.perRow

    /// The error for a call that names no user or too many.
    package static func userCountError(_ count: Int) -> ReplyError {
        ReplyError(.badParameter, "users names \(count); 1 to \(Self.usersPerCall) are possible")
    }
}
