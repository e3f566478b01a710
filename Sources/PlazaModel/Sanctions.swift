// SPDX-License-Identifier: Apache-2.0
package import CoreKit

/// A ban or a mute of one user in one live (reference 13.1).
package struct Sanction: Hashable, Sendable, Codable {
    package var user: UserID
    /// When it ends; nil: for good.
    package var until: Timestamp?
    /// What its maker wrote; at most 200 bytes, empty for mutes.
    package var reason: String
    package var by: UserID

    package init(user: UserID, until: Timestamp?, reason: String = "", by: UserID) {
        self.user = user
        self.until = until
        self.reason = reason
        self.by = by
    }
}

/// Part of a live's list of bans or mutes, in the order of the users.
package struct SanctionPage: Hashable, Sendable, Codable {
    package var items: [Sanction]
    /// Where the next page begins; 0: there is none.
    package var nextOffset: Int

    package init(items: [Sanction], nextOffset: Int) {
        self.items = items
        self.nextOffset = nextOffset
    }
}

/// Limits of bans and mutes (reference 17).
package enum SanctionLimits {
    /// Users named by one call.
    package static let usersPerCall = 20
    /// Entries of one page of a list.
    package static let page = 100
    package static let reasonBytes = 200
    /// How long one may last, but for those that are for good.
    package static let seconds: ClosedRange<Int64> = 1...315_360_000
    /// Bans of one live, and as many mutes; a call that would exceed them is refused.
    package static let perLive = 1000
}
