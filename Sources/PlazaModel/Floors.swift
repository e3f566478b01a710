// SPDX-License-Identifier: Apache-2.0

/// The lowest ticket that each kicked user of a live may use (I6); bounded, the oldest floors go first.
package struct Floors: Hashable, Sendable, Codable {
    package struct Floor: Hashable, Sendable, Codable {
        package var user: UserID
        package var ticket: Ticket
    }
    /// In the order in which they were raised.
    package private(set) var floors: [Floor] = []

    package init() {}

    /// Raises the floor of `user`; never lowers it.
    package mutating func raise(_ user: UserID, to ticket: Ticket) {
        if let index = self.floors.firstIndex(where: { $0.user == user }) {
            guard self.floors[index].ticket < ticket else { return }
            self.floors.remove(at: index)
        }
        self.floors.append(Floor(user: user, ticket: ticket))
        if self.floors.count > Limits.floorsPerLive { self.floors.removeFirst() }
    }

    /// Whether a command of `user` with `ticket` comes from after its last kick.
    package func admit(_ user: UserID, _ ticket: Ticket) -> Bool {
        guard let floor = self.floors.first(where: { $0.user == user }) else { return true }
        return ticket >= floor.ticket
    }

    /// Why `caller` may not act in the room, or nil when it may: it must have joined, and not be kicked since.
    package func refusal(of caller: Caller) -> ReplyError? {
        if caller.role == .server { return nil }
        guard let ticket = caller.ticket else {
            return ReplyError(.notInRoom, "join the live before acting in it")
        }
        return self.admit(caller.userID, ticket)
            ? nil : ReplyError(.staleTicket, "you were put out of the live; join it again")
    }
}
