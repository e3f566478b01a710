// SPDX-License-Identifier: Apache-2.0
package import MachineKit
package import PlazaModel

/// Finds who was in a live, from the records in presence's inbox.
///
/// Presence itself keeps its leases in Redis, which stores no history. The inbox has the records from which the leases
/// are made: joins, leaves, heartbeats and kicks. Each member has a record at least once in a lease's time. So a replay
/// that begins one lease before its window knows all members in the window. A ticket is the inbox offset of a join, so
/// a later join has a higher ticket.
package struct PresenceTracker: Sendable {
    private struct Member {
        var ticket: Ticket
        var leaseEnd: Timestamp
    }

    /// The interval at which expired leases are removed: a member may be shown for this long after its lease has
    /// expired.
    private static let sweepInterval: Milliseconds = .seconds(1)

    private let lease: Milliseconds
    /// The sessions of each user who is in the live.
    private var members: [UserID: [SessionID: Member]] = [:]
    /// The lowest valid ticket of each user who was kicked: the offset of the kick.
    private var lowestValidTickets: [UserID: Ticket] = [:]
    /// The highest ticket with which each session left; a heartbeat with this ticket or a lower one is ignored.
    private var leftTickets: [SessionID: Ticket] = [:]
    private var lastSweep: Timestamp?

    /// - Parameter lease: how long a client without heartbeats stays in a live (`--lease-seconds` of the services).
    package init(lease: Milliseconds) { self.lease = lease }

    /// The number of users who are in the live.
    package var count: Int { self.members.count }
    /// The users who are in the live, in the order of their ids; at most `max` of them.
    package func users(max: Int) -> [UserID] { Array(self.members.keys.sorted().prefix(max)) }

    /// Applies a record of the live.
    ///
    /// - Parameters:
    ///   - input: the decoded record.
    ///   - entry: the record, with its time and offset.
    ///   - isRejected: whether the answer to the call is an error.
    package mutating func apply(_ input: AudienceInput, _ entry: TopicEntry, isRejected: Bool) {
        switch input.command {
        case .join(let caller):
            guard !isRejected else { return }
            self.renew(caller.request.session, of: caller.userID, Ticket(entry.offset), until: entry.time + self.lease)
        case .leave(let caller):
            guard !isRejected, let ticket = caller.ticket else { return }
            self.remove(caller.request.session, of: caller.userID, ticket)
        case .signOff(let session, let user, let ticket): self.remove(session, of: user, ticket)
        case .heartbeats(let heartbeats):
            for heartbeat in heartbeats {
                self.renew(
                    heartbeat.session, of: heartbeat.user, heartbeat.ticket,
                    until: entry.time + self.lease - Milliseconds(heartbeat.silentFor))
            }
        case .assert(let members):
            for member in members {
                self.renew(
                    member.session, of: member.user.userID, member.ticket,
                    until: entry.time + self.lease - Milliseconds(member.silentFor))
            }
        case .kick(let user, _, _):
            guard !isRejected else { return }
            self.removeAll(of: user, at: entry.offset)
        case .banned(let user, _, _): self.removeAll(of: user, at: entry.offset)
        case .opened, .ended: self.members = [:]
        default: return
        }
    }

    /// Removes the members whose leases have expired, if the last removal was at least `sweepInterval` ago.
    package mutating func advance(to now: Timestamp) {
        if let lastSweep, now < lastSweep + Self.sweepInterval { return }
        self.lastSweep = now
        for (user, sessions) in self.members {
            let valid = sessions.filter { $0.value.leaseEnd >= now }
            if valid.count < sessions.count { self.members[user] = valid.isEmpty ? nil : valid }
        }
    }

    /// Adds a session or extends its lease, unless the user was kicked or the session left with this ticket or a later
    /// one.
    private mutating func renew(_ session: SessionID, of user: UserID, _ ticket: Ticket, until end: Timestamp) {
        if let lowest = self.lowestValidTickets[user], ticket < lowest { return }
        if let leftTicket = self.leftTickets[session], ticket <= leftTicket { return }
        if let member = self.members[user]?[session], ticket < member.ticket { return }
        self.members[user, default: [:]][session] = Member(ticket: ticket, leaseEnd: end)
    }

    private mutating func remove(_ session: SessionID, of user: UserID, _ ticket: Ticket) {
        self.leftTickets[session] = max(ticket, self.leftTickets[session] ?? ticket)
        guard let member = self.members[user]?[session], member.ticket <= ticket else { return }
        self.members[user]?[session] = nil
        if self.members[user]?.isEmpty == true { self.members[user] = nil }
    }

    /// Removes all sessions of a user whose kick has the offset `offset`.
    private mutating func removeAll(of user: UserID, at offset: Int64) {
        self.lowestValidTickets[user] = Ticket(offset)
        self.members[user] = nil
    }
}
