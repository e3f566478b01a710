// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The bans or the mutes of a live, or one page of them: sorted by user, with at most one entry for each user.
package struct SanctionList: Hashable, Sendable, Codable {
    /// The sanctions, sorted by user.
    package private(set) var entries: [Sanction] = []

    /// Creates an empty list.
    package init() {}

    /// Creates one page of a list from entries in any order.
    init(page entries: [Sanction]) { self.entries = entries.sorted { $0.user < $1.user } }

    /// Creates a list from all its pages.
    init(pages: [SanctionList]) {
        // The entries of a single page are sorted already.
        if pages.count == 1 {
            self = pages[0]
            return
        }
        self.entries = pages.flatMap(\.entries).sorted { $0.user < $1.user }
    }

    /// When the next sanction expires; nil if all are permanent.
    package var nextExpiry: Timestamp? { self.entries.lazy.compactMap(\.until).min() }

    /// The sanction of `user`; nil if the user has none.
    func entry(of user: UserID) -> Sanction? {
        let index = self.index(of: user)
        return index < self.entries.count && self.entries[index].user == user ? self.entries[index] : nil
    }

    /// Adds a sanction, or replaces the earlier sanction of its user.
    ///
    /// A sanction without a profile takes over the profile of the earlier one.
    mutating func set(_ sanction: Sanction) {
        let index = self.index(of: sanction.user)
        if index < self.entries.count, self.entries[index].user == sanction.user {
            let earlierProfile = self.entries[index].userInfo
            self.entries[index] = sanction
            self.entries[index].userInfo = sanction.userInfo ?? earlierProfile
        } else {
            self.entries.insert(sanction, at: index)
        }
    }

    /// Sets the name and picture of a user in the user's sanction.
    ///
    /// - Returns: whether the list has changed.
    mutating func setProfile(_ user: UserInfo) -> Bool {
        guard let entry = self.entry(of: user.userID), entry.userInfo != user else { return false }
        self.entries[self.index(of: user.userID)].userInfo = user
        return true
    }

    /// Removes the sanction of `user`.
    ///
    /// - Returns: whether the user had a sanction.
    mutating func lift(_ user: UserID) -> Bool {
        guard self.entry(of: user) != nil else { return false }
        self.entries.remove(at: self.index(of: user))
        return true
    }

    /// Removes expired sanctions.
    ///
    /// - Returns: the users whose sanctions have expired.
    mutating func removeExpired(at now: Timestamp) -> [UserID] {
        func isExpired(_ sanction: Sanction) -> Bool { sanction.until.map { $0 <= now } ?? false }
        let users = self.entries.filter(isExpired).map(\.user)
        self.entries.removeAll(where: isExpired)
        return users
    }

    /// One page of the list; its `nextOffset` is 0 on the last page.
    func page(offset: Int, count: Int) -> SanctionPage {
        let items = self.entries.dropFirst(offset).prefix(count)
        let nextOffset = offset + items.count
        return SanctionPage(items: Array(items), nextOffset: nextOffset < self.entries.count ? nextOffset : 0)
    }

    /// The index of the sanction of `user`, or the index at which to insert it.
    private func index(of user: UserID) -> Int {
        self.entries.partitioningIndex { $0.user >= user }
    }
}
