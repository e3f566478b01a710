// SPDX-License-Identifier: Apache-2.0
internal import MachineKit

/// The lowest valid ticket of each kicked user of a live (I6).
///
/// The lowest valid ticket of a user is its floor. The number of floors is bounded; the oldest are dropped first.
package struct RevocationFence: Hashable, Sendable, Codable {
    package struct Floor: Hashable, Sendable, Codable {
        package var user: UserID
        package var ticket: Ticket
    }
    /// Sorted by user, so that the check of a message is a binary search.
    package private(set) var floors: [Floor] = []

    package init() {}

    /// Raises the floor of `user`; never lowers it.
    package mutating func raise(_ user: UserID, to ticket: Ticket) {
        let index = self.index(of: user)
        if index < self.floors.count, self.floors[index].user == user {
            self.floors[index].ticket = max(self.floors[index].ticket, ticket)
            return
        }
        self.floors.insert(Floor(user: user, ticket: ticket), at: index)
        // Tickets of a live only increase, so the lowest floor is the oldest.
        if self.floors.count > Limits.floorsPerLive,
            let oldest = self.floors.indices.min(by: { self.floors[$0].ticket < self.floors[$1].ticket })
        {
            self.floors.remove(at: oldest)
        }
    }

    /// Whether `ticket` of `user` is newer than its last kick.
    package func admit(_ user: UserID, _ ticket: Ticket) -> Bool {
        guard !self.floors.isEmpty else { return true }
        let index = self.index(of: user)
        guard index < self.floors.count, self.floors[index].user == user else { return true }
        return ticket >= self.floors[index].ticket
    }

    /// The index of `user`, or where to insert it.
    private func index(of user: UserID) -> Int {
        self.floors.partitioningIndex { $0.user >= user }
    }

    /// The error for a caller that has not joined the live or was kicked since; nil: the caller may act.
    package func rejection(of caller: Caller) -> ReplyError? {
        if caller.role == .server { return nil }
        guard let ticket = caller.ticket else {
            return ReplyError(.notInRoom, "join the live before acting in it")
        }
        // Most lives have no floors, so the look-up of the user can be skipped.
        if self.floors.isEmpty { return nil }
        return self.admit(caller.userID, ticket)
            ? nil : ReplyError(.staleTicket, "you were removed from the live; join it again")
    }
}
