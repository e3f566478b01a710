// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The floors of the kicked users of a live (I6): a user's floor is its lowest ticket that is still valid.
///
/// A ticket is the inbox offset of a join, so a join after the kick has a valid ticket. The number of floors is
/// bounded; the oldest are dropped first.
package struct RevocationFence: Hashable, Sendable, Codable {
    /// The floor of one user, and why the user was kicked.
    package struct Floor: Hashable, Sendable, Codable {
        package var user: UserID
        /// The lowest ticket of the user that is still valid.
        package var ticket: Ticket
        /// Why the user was kicked; nil in rows of other machines than presence, and in rows of earlier versions.
        package var reason: KickReason?
    }
    /// Sorted by user, so that the check of a message is a binary search.
    package private(set) var floors: [Floor] = []

    package init() {}

    /// Raises the floor of `user` to `ticket`; never lowers it.
    package mutating func raiseFloor(of user: UserID, to ticket: Ticket, reason: KickReason? = nil) {
        let index = self.index(of: user)
        if index < self.floors.count, self.floors[index].user == user {
            // An equal ticket replaces the reason.
            if ticket >= self.floors[index].ticket {
                self.floors[index] = Floor(user: user, ticket: ticket, reason: reason)
            }
            return
        }
        self.floors.insert(Floor(user: user, ticket: ticket, reason: reason), at: index)
        // Tickets of a live only increase, so the lowest floor is the oldest.
        if self.floors.count > Limits.floorsPerLive,
            let oldestIndex = self.floors.indices.min(by: { self.floors[$0].ticket < self.floors[$1].ticket })
        {
            self.floors.remove(at: oldestIndex)
        }
    }

    /// Whether `user` may use `ticket`: it is not below the floor of `user`.
    package func isValid(_ ticket: Ticket, of user: UserID) -> Bool {
        guard !self.floors.isEmpty else { return true }
        let index = self.index(of: user)
        guard index < self.floors.count, self.floors[index].user == user else { return true }
        return ticket >= self.floors[index].ticket
    }

    /// Why `user` was kicked, if `ticket` is below the user's floor; nil if the ticket is valid or the reason is not
    /// known.
    package func kickReason(rejecting ticket: Ticket, of user: UserID) -> KickReason? {
        let index = self.index(of: user)
        guard index < self.floors.count, self.floors[index].user == user, ticket < self.floors[index].ticket else {
            return nil
        }
        return self.floors[index].reason
    }

    /// The index of the floor of `user`; if `user` has none, the index at which to insert it.
    private func index(of user: UserID) -> Int {
        self.floors.partitioningIndex { $0.user >= user }
    }

    /// The error for a caller that is not in the live or was kicked after its join; nil if the caller may act.
    package func rejection(of caller: Caller) -> ReplyError? {
        if caller.role == .server { return nil }
        guard let ticket = caller.ticket else {
            return ReplyError(.notInRoom, "join the live before acting in it")
        }
        // Most lives have no floors; this check avoids a copy of the user's id.
        if self.floors.isEmpty { return nil }
        return self.isValid(ticket, of: caller.userID)
            ? nil : ReplyError(.staleTicket, "you were removed from the live; join it again")
    }
}
