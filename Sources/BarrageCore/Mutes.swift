// SPDX-License-Identifier: Apache-2.0
package import CoreKit
package import PlazaModel

/// Who may not write in a live, and until when (reference 4, disableSendMessage).
///
/// Bounded: the mute that ends first gives way, so those for good stay.
package struct Mutes: Hashable, Sendable, Codable {
    /// One user's mute.
    package struct Mute: Hashable, Sendable, Codable {
        package var user: UserID
        package var until: Timestamp
    }

    /// The most users that are kept muted in one live.
    package static let limit = 1_000

    /// In the order of the users, so that a message's check is a binary search.
    package private(set) var mutes: [Mute] = []

    /// Nobody is muted.
    package init() {}

    /// Mutes `user` until then, whatever was before.
    mutating func set(_ user: UserID, until: Timestamp) {
        let index = self.index(of: user)
        if index < self.mutes.count, self.mutes[index].user == user {
            self.mutes[index].until = until
            return
        }
        self.mutes.insert(Mute(user: user, until: until), at: index)
        if self.mutes.count > Self.limit,
            let first = self.mutes.indices.min(by: { self.mutes[$0].until < self.mutes[$1].until })
        {
            self.mutes.remove(at: first)
        }
    }

    /// Lets `user` write again.
    mutating func remove(_ user: UserID) {
        let index = self.index(of: user)
        if index < self.mutes.count, self.mutes[index].user == user { self.mutes.remove(at: index) }
    }

    /// How long `user` stays muted from `now` on; nil: it is not muted.
    func remaining(of user: UserID, at now: Timestamp) -> Milliseconds? {
        guard !self.mutes.isEmpty else { return nil }
        let index = self.index(of: user)
        guard index < self.mutes.count, self.mutes[index].user == user, self.mutes[index].until > now else {
            return nil
        }
        return self.mutes[index].until - now
    }

    /// Where `user` stands, or would stand.
    private func index(of user: UserID) -> Int {
        self.mutes.partitioningIndex { $0.user >= user }
    }
}
