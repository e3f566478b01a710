// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import MachineKit
import MachineTestSupport
import PlazaModel

/// Stores the leases of all lives in memory, and executes the lease requests of presence as Redis would.
///
/// No request fails, no lease expires, no live is full, and a join removes no other session.
struct LeaseFake {
    /// A user in a live, with the ticket of each session.
    private struct Member: Equatable {
        var user: UserInfo
        var sessions: [SessionID: Ticket]
    }

    private var lives: [LiveKey: [UserID: Member]] = [:]

    /// The users in a live, for the comparison of two states.
    func users(in live: LiveKey) -> [UserID] { (self.lives[live] ?? [:]).keys.sorted() }

    /// Executes the lease request of an input; an input without a request has the result `nothing`.
    mutating func execute(_ planned: PlannedInput) -> LeaseResult {
        guard let request = planned.request else { return .nothing }
        switch request {
        case .join(let live, let owner, let member, limit: _, earlierTicket: _, removesOtherSessions: _):
            let isFirst = self.lives[live]?[member.user.userID] == nil
            var stored = self.lives[live]?[member.user.userID] ?? Member(user: member.user, sessions: [:])
            stored.sessions[member.session] = member.ticket
            self.lives[live, default: [:]][member.user.userID] = stored
            return .changed([.joined(isFirst: isFirst, count: self.count(live, owner))])
        case .leave(let live, let owner, let user, let session, ticket: _):
            guard var member = self.lives[live]?[user], member.sessions.removeValue(forKey: session) != nil else {
                return .nothing
            }
            self.lives[live]?[user] = member.sessions.isEmpty ? nil : member
            return .changed([
                .left(user: member.user, isLast: member.sessions.isEmpty, count: self.count(live, owner))
            ])
        case .kick(let live, let user, includesAbsent: _):
            guard let member = self.lives[live]?.removeValue(forKey: user) else { return .nothing }
            // The request does not name the owner, who is therefore counted too. The matrix compares no counts.
            return .changed([.kicked(user: member.user, count: self.count(live, ""))])
        case .rename(let live, let user, session: _, ticket: _):
            guard self.lives[live]?[user.userID] != nil else { return .nothing }
            self.lives[live]?[user.userID]?.user = user
            return .changed([.renamed])
        case .clear(let live):
            self.lives[live] = nil
            return .nothing
        case .page(let live, after: _, count: _):
            let members = self.users(in: live).map { user in
                AudienceMember(user: UserInfo(userID: user), joinedAt: planned.moment.now)
            }
            return .page(members: members, next: nil, count: members.count)
        case .isMember(let live, let user):
            return .membership(isMember: self.lives[live]?[user] != nil)
        case .profile(let live, let user):
            return .profile(self.lives[live]?[user]?.user)
        case .heartbeats, .assert, .tick: return .nothing
        }
    }

    /// The number of users in a live, without the owner.
    private func count(_ live: LiveKey, _ owner: UserID) -> Int {
        (self.lives[live] ?? [:]).keys.count { $0 != owner }
    }
}
