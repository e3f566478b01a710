// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import MachineKit
internal import PlazaModel

/// The leases of all lives, in memory: which sessions are in which live, and until when.
///
/// This type follows the rules of the scripts that presence runs in Redis.
struct Leases: Sendable {
    private var lives: [LiveKey: LiveLeases] = [:]
    private var clock: LeaseClock

    init(lease: Milliseconds) { self.clock = LeaseClock(leaseDuration: lease) }

    /// Whether no user has a lease.
    var isEmpty: Bool { self.lives.values.allSatisfy { $0.members.isEmpty } }

    /// Removes all leases.
    mutating func removeAll() { self.lives = [:] }

    /// Executes the lease request that belongs to an input.
    ///
    /// `request`: the request; nil if the input needs no lease.
    /// `moment`: the time and offset of the input.
    mutating func execute(_ request: LeaseRequest?, at moment: Moment) -> LeaseResult {
        self.clock.advance(to: moment)
        let clock = self.clock
        switch request {
        case nil: return .nothing
        case .join(let live, let owner, let memberSession, let limit, let earlierTicket, let removesOtherSessions):
            let join = LiveLeases.Join(
                memberSession: memberSession, owner: owner, limit: limit, earlierTicket: earlierTicket,
                removesOtherSessions: removesOtherSessions)
            return .changed(self.lives[live, default: LiveLeases()].join(join, at: clock))
        case .leave(let live, owner: _, let user, let session, let ticket):
            return .changed(self.lives[live, default: LiveLeases()].leave(user, session, ticket, at: clock))
        case .heartbeats(let live, let owner, let heartbeats):
            return .changed(
                heartbeats.flatMap { self.lives[live, default: LiveLeases()].renew($0, owner: owner, at: clock) })
        case .assert(let live, let owner, let members):
            return .changed(self.lives[live, default: LiveLeases()].assert(members, owner: owner, at: clock))
        case .kick(let live, let user, let includesAbsent):
            // A ticket is the inbox offset of a join, so the offset of the kick is higher than all tickets so far.
            return .changed(
                self.lives[live, default: LiveLeases()].kick(
                    user, upTo: Ticket(moment.offset), includesAbsent: includesAbsent, at: clock))
        case .rename(let live, let user, let session, let ticket):
            return .changed(self.lives[live]?.rename(user, session, ticket, at: clock) ?? [])
        case .clear(let live):
            self.lives[live] = nil
            return .nothing
        case .tick(let limit): return .changed(self.expire(limit: limit))
        case .page(let live, let after, let count):
            return (self.lives[live] ?? LiveLeases()).page(after: after, count: count)
        case .isMember(let live, let user):
            return .membership(isMember: self.lives[live]?.members[user] != nil)
        case .profile(let live, let user): return .profile(self.lives[live]?.members[user]?.user)
        }
    }

    /// Removes leases that have ended, in a fixed order of the lives, until at least `limit` are removed.
    private mutating func expire(limit: Int) -> [LeaseChange] {
        var remaining = limit
        var changes: [LeaseChange] = []
        for key in self.lives.keys.sorted() where remaining > 0 {
            changes += self.lives[key]?.expire(in: key, remaining: &remaining, at: self.clock) ?? []
        }
        return changes
    }
}
