// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// The muted users of a live, and until when (R4.18 and R5.7 in docs/RULES.md).
///
/// A permanent mute ends at `Timestamp.distantFuture`. The number of mutes is limited. Beyond the limit, the mute that
/// expires first is removed, so that permanent mutes stay.
package struct Mutes: Hashable, Sendable, Codable {
    /// One user's mute.
    package struct Mute: Hashable, Sendable, Codable {
        package var user: UserID
        package var until: Timestamp
    }

    /// The maximum number of muted users of one live.
    package static let limit = 1_000

    /// The mutes, sorted by user, so that a binary search finds the mute of a message's sender.
    package private(set) var mutes: [Mute] = []

    /// Creates an empty list.
    package init() {}

    /// Mutes `user` until the given time; replaces an earlier mute.
    mutating func set(_ user: UserID, until: Timestamp) {
        let index = self.index(of: user)
        if index < self.mutes.count, self.mutes[index].user == user {
            self.mutes[index].until = until
            return
        }
        self.mutes.insert(Mute(user: user, until: until), at: index)
        if self.mutes.count > Self.limit,
            let firstToExpire = self.mutes.indices.min(by: { self.mutes[$0].until < self.mutes[$1].until })
        {
            self.mutes.remove(at: firstToExpire)
        }
    }

    /// Lifts the mute of `user`.
    mutating func remove(_ user: UserID) {
        let index = self.index(of: user)
        if index < self.mutes.count, self.mutes[index].user == user { self.mutes.remove(at: index) }
    }

    /// How long `user` is still muted; nil if the user is not muted.
    func remainingTime(of user: UserID, at now: Timestamp) -> Milliseconds? {
        guard !self.mutes.isEmpty else { return nil }
        let index = self.index(of: user)
        guard index < self.mutes.count, self.mutes[index].user == user, self.mutes[index].until > now else {
            return nil
        }
        return self.mutes[index].until - now
    }

    /// The index of the mute of `user`, or the index at which to insert it.
    private func index(of user: UserID) -> Int {
        self.mutes.partitioningIndex { $0.user >= user }
    }
}
