// SPDX-License-Identifier: Apache-2.0
import AudienceCore
import CoreKit
import PlazaModel

/// Who is in the rooms, as Redis would know it while nothing fails: enough to carry out what presence plans.
struct RoomLeases {
    private struct Member: Equatable {
        var user: UserInfo
        var sessions: [SessionID: Ticket]
    }

    private var rooms: [LiveKey: [UserID: Member]] = [:]
    private var lastEntry: Int64 = 0

    /// Everybody in a room, for comparing two states.
    func users(in live: LiveKey) -> [UserID] { (self.rooms[live] ?? [:]).keys.sorted() }

    /// Carries a step's command out.
    mutating func carryOut(_ step: AudienceStep) -> LeaseResult {
        guard let command = step.command else { return .nothing }
        switch command {
        case .join(let live, let owner, let member, _, _, _):
            let isFirst = self.rooms[live]?[member.user.userID] == nil
            var known = self.rooms[live]?[member.user.userID] ?? Member(user: member.user, sessions: [:])
            known.sessions[member.session] = member.ticket
            self.rooms[live, default: [:]][member.user.userID] = known
            return self.did(.joined(isFirst: isFirst, count: self.count(live, owner)), step)
        case .leave(let live, let owner, let user, let session, _):
            guard var known = self.rooms[live]?[user], known.sessions.removeValue(forKey: session) != nil else {
                return .nothing
            }
            self.rooms[live]?[user] = known.sessions.isEmpty ? nil : known
            return self.did(
                .left(user: known.user, isLast: known.sessions.isEmpty, count: self.count(live, owner)), step)
        case .kick(let live, let user, _):
            guard let known = self.rooms[live]?.removeValue(forKey: user) else { return .nothing }
            return self.did(.kicked(user: known.user, count: self.count(live, "")), step)
        case .rename(let live, let user, _, _):
            guard self.rooms[live]?[user.userID] != nil else { return .nothing }
            self.rooms[live]?[user.userID]?.user = user
            return self.did(.renamed, step)
        case .clear(let live):
            self.rooms[live] = nil
            return .nothing
        case .page(let live, _, _):
            let members = self.users(in: live).map { user in
                AudienceMember(user: UserInfo(userID: user), joinedAt: step.moment.now)
            }
            return .done(entries: [], answer: .page(members: members, next: nil, count: members.count))
        case .isMember(let live, let user):
            return .done(entries: [], answer: .isMember(self.rooms[live]?[user] != nil))
        case .profile(let live, let user):
            return .done(entries: [], answer: .profile(self.rooms[live]?[user]?.user))
        case .beats, .assert, .tick: return .nothing
        }
    }

    private func count(_ live: LiveKey, _ owner: UserID) -> Int {
        (self.rooms[live] ?? [:]).keys.count { $0 != owner }
    }

    private mutating func did(_ change: LeaseChange, _ step: AudienceStep) -> LeaseResult {
        self.lastEntry += 1
        return .done(
            entries: [LeaseEntry(id: self.lastEntry, offset: step.moment.offset, change)], answer: .none)
    }
}
