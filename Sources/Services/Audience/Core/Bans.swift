// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The users who may not join a live, with the end of each ban.
///
/// The directory decides bans; presence enforces them (I6 in docs/RULES.md).
package struct Bans: Hashable, Sendable, Codable {
    /// One user's ban.
    package struct Ban: Hashable, Sendable, Codable {
        /// The banned user.
        package var user: UserID
        /// When the ban ends; nil for a ban without an end.
        package var until: Timestamp?

        /// Whether the ban is in force at `now`.
        package func isActive(at now: Timestamp) -> Bool { self.until.map { now < $0 } ?? true }
    }

    /// The bans, sorted by user, so that a binary search finds the ban of a user who joins.
    package private(set) var bans: [Ban] = []

    /// An empty list of bans.
    package init() {}

    /// When the next ban ends; nil when no ban has an end.
    package var nextEnd: Timestamp? { self.bans.lazy.compactMap(\.until).min() }

    /// Bans a user until `until`; replaces an earlier ban of the user.
    ///
    /// Beyond the limit of bans, the ban that ends first is removed.
    package mutating func set(_ user: UserID, until: Timestamp?) {
        let index = self.index(of: user)
        if index < self.bans.count, self.bans[index].user == user {
            self.bans[index].until = until
            return
        }
        self.bans.insert(Ban(user: user, until: until), at: index)
        if self.bans.count > SanctionLimits.perLive,
            let firstToEnd = self.bans.indices.min(by: {
                self.bans[$0].until ?? .distantFuture < self.bans[$1].until ?? .distantFuture
            })
        {
            self.bans.remove(at: firstToEnd)
        }
    }

    /// Lifts a user's ban.
    package mutating func lift(_ user: UserID) {
        let index = self.index(of: user)
        if index < self.bans.count, self.bans[index].user == user { self.bans.remove(at: index) }
    }

    /// The user's ban that is in force at `now`, if there is one.
    package func ban(of user: UserID, at now: Timestamp) -> Ban? {
        if self.bans.isEmpty { return nil }
        let index = self.index(of: user)
        guard index < self.bans.count, self.bans[index].user == user else { return nil }
        return self.bans[index].isActive(at: now) ? self.bans[index] : nil
    }

    /// Removes the bans that have ended.
    package mutating func prune(at now: Timestamp) { self.bans.removeAll { !$0.isActive(at: now) } }

    /// The index of the ban of `user`, or the index at which to insert one.
    private func index(of user: UserID) -> Int {
        self.bans.partitioningIndex { $0.user >= user }
    }
}
