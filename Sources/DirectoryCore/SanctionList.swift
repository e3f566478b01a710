// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// The bans or the mutes of a live, each user at most once, in the order of the users.
package struct SanctionList: Hashable, Sendable, Codable {
    /// What there is.
    package private(set) var entries: [Sanction] = []

    /// Nobody is banned or muted.
    package init() {}

    /// When the next one ends by itself.
    package var nextEnd: Timestamp? { self.entries.lazy.compactMap(\.until).min() }

    /// What `user` has, if anything.
    func entry(of user: UserID) -> Sanction? {
        let index = self.index(of: user)
        return index < self.entries.count && self.entries[index].user == user ? self.entries[index] : nil
    }

    /// Puts a sanction in the place of what its user had.
    mutating func set(_ sanction: Sanction) {
        let index = self.index(of: sanction.user)
        if index < self.entries.count, self.entries[index].user == sanction.user {
            self.entries[index] = sanction
        } else {
            self.entries.insert(sanction, at: index)
        }
    }

    /// Lifts what `user` has.
    ///
    /// - Returns: whether there was anything.
    mutating func lift(_ user: UserID) -> Bool {
        guard self.entry(of: user) != nil else { return false }
        self.entries.remove(at: self.index(of: user))
        return true
    }

    /// Takes out those that are over.
    ///
    /// - Returns: whose they were.
    mutating func prune(at now: Timestamp) -> [UserID] {
        let over = self.entries.filter { $0.until.map { $0 <= now } ?? false }.map(\.user)
        self.entries.removeAll { $0.until.map { $0 <= now } ?? false }
        return over
    }

    /// Part of the list.
    func page(offset: Int, count: Int) -> SanctionPage {
        let items = self.entries.dropFirst(offset).prefix(count)
        let next = offset + items.count
        return SanctionPage(items: Array(items), nextOffset: next < self.entries.count ? next : 0)
    }

    /// Where `user` stands, or would stand.
    private func index(of user: UserID) -> Int {
        self.entries.partitioningIndex { $0.user >= user }
    }
}
