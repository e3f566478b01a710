// SPDX-License-Identifier: Apache-2.0
internal import CoreKit

/// The lowest ticket that each kicked user of a live may use (I6); bounded, the oldest floors go first.
package struct Floors: Hashable, Sendable, Codable {
    package struct Floor: Hashable, Sendable, Codable {
        package var user: UserID
        package var ticket: Ticket
    }
    /// In the order of the users, so that a message's check is a binary search.
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
        // Tickets of a live only grow: the lowest floor is the oldest.
        if self.floors.count > Limits.floorsPerLive,
            let oldest = self.floors.indices.min(by: { self.floors[$0].ticket < self.floors[$1].ticket })
        {
            self.floors.remove(at: oldest)
        }
    }

    /// Whether a command of `user` with `ticket` comes from after its last kick.
    package func admit(_ user: UserID, _ ticket: Ticket) -> Bool {
        guard !self.floors.isEmpty else { return true }
        let index = self.index(of: user)
        guard index < self.floors.count, self.floors[index].user == user else { return true }
        return ticket >= self.floors[index].ticket
    }

    /// Where `user` stands, or would stand.
    private func index(of user: UserID) -> Int {
        self.floors.partitioningIndex { $0.user >= user }
    }

    /// Why `caller` may not act in the room, or nil when it may: it must have joined, and not be kicked since.
    package func refusal(of caller: Caller) -> ReplyError? {
        if caller.role == .server { return nil }
        guard let ticket = caller.ticket else {
            return ReplyError(.notInRoom, "join the live before acting in it")
        }
        // Most lives have no floors: no need to ask who it is.
        if self.floors.isEmpty { return nil }
        return self.admit(caller.userID, ticket)
            ? nil : ReplyError(.staleTicket, "you were put out of the live; join it again")
    }
}
