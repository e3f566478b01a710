// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import MachineKit
internal import PlazaModel
internal import RedisClient

extension LeaseRequest {
    /// Whether the request only reads.
    var isQuery: Bool {
        switch self {
        case .page, .isMember, .profile: true
        case .join, .leave, .heartbeats, .assert, .kick, .rename, .clear, .tick: false
        }
    }

    /// The call of the script that executes the request at `moment`.
    ///
    /// - Parameters:
    ///   - hashTag: the text with which all keys of the partition begin.
    ///   - generation: the owner's generation (fencing token); the script rejects the request if a later owner has
    ///     opened the partition.
    ///   - epoch: the epoch of the leases; the script rejects the request if Redis holds another epoch.
    ///   - lease: how long a lease lasts after the session's last heartbeat.
    ///   - moment: the moment of the input.
    /// - Returns: the script call with all its arguments.
    func call(
        hashTag: String, generation: Int64, epoch: String, lease: Milliseconds, at moment: Moment
    ) -> RedisScriptCall {
        var arguments = ["\(generation)", epoch]
        if !self.isQuery { arguments += ["\(moment.offset)", "\(moment.now.milliseconds)", "\(lease.count)"] }
        let script: LeaseScript
        switch self {
        case .join(let live, let owner, let member, let limit, let earlierTicket, let removesOtherSessions):
            script = .join
            arguments += [
                live.text, owner.text, member.user.userID.text, member.session.text, StoredProfile.text(member.user),
                "\(limit)", earlierTicket.map { "\($0.offset)" } ?? "",
                removesOtherSessions ? "1" : "0",
            ]
        // To remove a session, the script does not need the owner.
        case .leave(let live, _, let user, let session, let ticket):
            script = .leave
            arguments += [live.text, user.text, session.text, "\(ticket.offset)"]
        case .heartbeats(let live, let owner, let heartbeats):
            script = .beats
            arguments += [live.text, owner.text]
            // Each heartbeat has three arguments.
            arguments.reserveCapacity(arguments.count + 3 * heartbeats.count)
            for heartbeat in heartbeats {
                arguments.append("\(heartbeat.user.text)/\(heartbeat.session.text)")
                arguments.append("\(heartbeat.ticket.offset)")
                arguments.append("\(heartbeat.silentFor)")
            }
        case .assert(let live, let owner, let members):
            script = .assert
            arguments += [live.text, owner.text]
            for member in members {
                arguments += [
                    member.user.userID.text, member.session.text, "\(member.ticket.offset)", "\(member.silentFor)",
                    StoredProfile.text(member.user),
                ]
            }
        case .kick(let live, let user, let includesAbsent):
            script = .kick
            arguments += [live.text, user.text, includesAbsent ? "1" : "0"]
        case .rename(let live, let user, let session, let ticket):
            script = .rename
            arguments += [live.text, user.userID.text, session.text, "\(ticket.offset)", StoredProfile.text(user)]
        case .clear(let live):
            script = .clear
            arguments.append(live.text)
        case .tick(let limit):
            script = .tick
            arguments.append("\(limit)")
        case .page(let live, let after, let count):
            script = .page
            arguments += [live.text, "\(after)", "\(count)"]
        case .isMember(let live, let user):
            script = .member
            arguments += [live.text, user.text]
        case .profile(let live, let user):
            script = .profile
            arguments += [live.text, user.text]
        }
        return script.call(arguments, hashTag: hashTag)
    }

    /// Reads the reply of the script; nil when the reply is malformed.
    ///
    /// For a request that changes the leases, the result is `.nothing`, because the reply does not contain the changes.
    /// `LeaseStore` reads the changes from the outbox.
    func result(_ reply: RedisReply) -> LeaseResult? {
        switch self {
        case .join, .leave, .heartbeats, .assert, .kick, .rename, .clear, .tick:
            return reply.integer == nil ? nil : .nothing
        case .isMember: return reply.integer.map { .membership(isMember: $0 == 1) }
        case .profile(_, let user):
            if reply == .null { return .profile(nil) }
            return reply.text.flatMap(StoredProfile.entry).map { .profile(StoredProfile.user(user, $0.profile)) }
        case .page:
            // The number of users, the ticket after which the next page begins (empty on the last page), then users and
            // entries alternately.
            guard let list = reply.elements, list.count >= 2, list.count % 2 == 0, let count = list[0].integer,
                let nextTicket = list[1].text
            else { return nil }
            var members: [AudienceMember] = []
            for index in stride(from: 2, to: list.count, by: 2) {
                guard let user = list[index].text, let stored = list[index + 1].text.flatMap(StoredProfile.entry)
                else { return nil }
                members.append(
                    AudienceMember(user: StoredProfile.user(UserID(user), stored.profile), joinedAt: stored.joinedAt))
            }
            return .page(members: members, next: Int64(nextTicket), count: Int(count))
        }
    }
}

extension RedisReply {
    /// The number, even if it is sent as text; nil for other replies.
    var integer: Int64? {
        switch self {
        case .integer(let number): number
        case .status, .bytes: self.text.flatMap { Int64($0) }
        case .null, .array, .error: nil
        }
    }

    /// The elements of an array; nil for other replies.
    var elements: [RedisReply]? { if case .array(let elements) = self { elements } else { nil } }
}
