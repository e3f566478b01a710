// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Who may not enter a live, and until when; the directory decides it, presence keeps to it (I6).
package struct Bans: Hashable, Sendable, Codable {
    /// One user's ban.
    package struct Ban: Hashable, Sendable, Codable {
        /// Who is banned.
        package var user: UserID
        /// When it ends; nil: never by itself.
        package var until: Timestamp?

        /// Whether it still holds.
        package func holds(at now: Timestamp) -> Bool { self.until.map { now < $0 } ?? true }
    }

    /// In the order of the users, so that a join's check is a binary search.
    package private(set) var bans: [Ban] = []

    /// Nobody is banned.
    package init() {}

    /// When the next ban ends by itself, if one does.
    package var nextEnd: Timestamp? { self.bans.lazy.compactMap(\.until).min() }

    /// Bans a user until `until`, whatever held for it before; beyond the most bans of a live, the one that ends first goes.
    package mutating func set(_ user: UserID, until: Timestamp?) {
        let index = self.index(of: user)
        if index < self.bans.count, self.bans[index].user == user {
            self.bans[index].until = until
            return
        }
        self.bans.insert(Ban(user: user, until: until), at: index)
        if self.bans.count > Limits.bansPerLive,
            let first = self.bans.indices.min(by: {
                self.bans[$0].until ?? .distantFuture < self.bans[$1].until ?? .distantFuture
            })
        {
            self.bans.remove(at: first)
        }
    }

    /// Lifts a user's ban.
    package mutating func lift(_ user: UserID) {
        let index = self.index(of: user)
        if index < self.bans.count, self.bans[index].user == user { self.bans.remove(at: index) }
    }

    /// The ban that keeps a user out at `now`, if one does.
    package func ban(of user: UserID, at now: Timestamp) -> Ban? {
        if self.bans.isEmpty { return nil }
        let index = self.index(of: user)
        guard index < self.bans.count, self.bans[index].user == user else { return nil }
        return self.bans[index].holds(at: now) ? self.bans[index] : nil
    }

    /// Forgets the bans that have ended.
    package mutating func prune(at now: Timestamp) { self.bans.removeAll { !$0.holds(at: now) } }

    /// Where `user` stands, or would stand.
    private func index(of user: UserID) -> Int {
        self.bans.partitioningIndex { $0.user >= user }
    }
}
