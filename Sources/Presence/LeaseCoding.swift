// SPDX-License-Identifier: Apache-2.0
internal import AudienceCore
internal import CoreKit
internal import PlazaModel

extension LeaseCommand {
    /// Whether it only reads, and so may be asked again.
    var isQuestion: Bool {
        switch self {
        case .page, .isMember, .profile: true
        case .join, .leave, .beats, .assert, .kick, .rename, .clear, .tick: false
        }
    }

    /// The script that carries the command out at `moment`.
    func call(generation: Int64, epoch: String, lease: Milliseconds, at moment: Moment) -> ScriptCall {
        var arguments = ["\(generation)", epoch]
        if !self.isQuestion { arguments += ["\(moment.offset)", "\(moment.now.milliseconds)", "\(lease.count)"] }
        let script: LeaseScript
        switch self {
        case .join(let live, let owner, let member, let limit, let since, let isOnly):
            script = .join
            arguments += [
                live.text, owner.text, member.user.userID.text, member.session.text, Profile.text(member.user),
                "\(limit)", since.map { "\($0.offset)" } ?? "", isOnly ? "1" : "0",
            ]
        case .leave(let live, _, let user, let session, let ticket):
            script = .leave
            arguments += [live.text, user.text, session.text, "\(ticket.offset)"]
        case .beats(let live, let owner, let beats):
            script = .beats
            arguments += [live.text, owner.text]
            arguments.reserveCapacity(arguments.count + 3 * beats.count)
            for beat in beats {
                arguments.append("\(beat.user.text)/\(beat.session.text)")
                arguments.append("\(beat.ticket.offset)")
                arguments.append("\(beat.silentFor)")
            }
        case .assert(let live, let owner, let members):
            script = .assert
            arguments += [live.text, owner.text]
            for member in members {
                arguments += [
                    member.user.userID.text, member.session.text, "\(member.ticket.offset)", "\(member.silentFor)",
                    Profile.text(member.user),
                ]
            }
        case .kick(let live, let user, let isUnsure):
            script = .kick
            arguments += [live.text, user.text, isUnsure ? "1" : "0"]
        case .rename(let live, let user, let session, let ticket):
            script = .rename
            arguments += [live.text, user.userID.text, session.text, "\(ticket.offset)", Profile.text(user)]
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
        return ScriptCall(script, arguments)
    }

    /// What the script's reply says; nil when it is not of the script's shape.
    func answer(_ reply: LeaseReply) -> LeaseAnswer? {
        switch self {
        case .join, .leave, .beats, .assert, .kick, .rename, .clear, .tick:
            return reply.integer == nil ? nil : LeaseAnswer.none
        case .isMember: return reply.integer.map { .isMember($0 == 1) }
        case .profile(_, let user):
            if reply == .null { return .profile(nil) }
            return reply.text.flatMap(Profile.stored).map { .profile(Profile.user(user, $0.profile)) }
        case .page:
            guard let list = reply.list, list.count >= 2, list.count % 2 == 0, let count = list[0].integer,
                let next = list[1].text
            else { return nil }
            var members: [AudienceMember] = []
            for index in stride(from: 2, to: list.count, by: 2) {
                guard let user = list[index].text, let stored = list[index + 1].text.flatMap(Profile.stored)
                else { return nil }
                members.append(
                    AudienceMember(user: Profile.user(UserID(user), stored.profile), joinedAt: stored.joinedAt))
            }
            return .page(members: members, next: Int64(next), count: Int(count))
        }
    }
}

extension LeaseEntry {
    /// Reads an entry of the outbox as XRANGE gives it: its id, and names and values.
    init?(_ reply: LeaseReply) {
        guard let pair = reply.list, pair.count == 2, let place = pair[0].text,
            let id = Int64(place.prefix { $0 != "-" }),
            let list = pair[1].list, list.count % 2 == 0
        else { return nil }
        var fields: [String: String] = [:]
        for index in stride(from: 0, to: list.count, by: 2) {
            guard let name = list[index].text, let value = list[index + 1].text else { return nil }
            fields[name] = value
        }
        guard let offset = fields["o"].flatMap({ Int64($0) }), let kind = fields["k"] else { return nil }
        let count = fields["c"].flatMap { Int($0) } ?? 0
        let user = fields["u"].map { Profile.user(UserID($0), fields["p"] ?? "0 ") }
        let change: LeaseChange
        switch (kind, user) {
        case ("joined", _):
            change = .joined(
                isFirst: fields["f"] == "1", count: count, replaces: fields["r"] == "1", isRenamed: fields["n"] == "1")
        case ("full", _): change = .full
        case ("void", _): change = .void
        case ("left", .some(let user)): change = .left(user: user, isLast: fields["l"] == "1", count: count)
        case ("kicked", .some(let user)): change = .kicked(user: user, count: count)
        case ("back", .some(let user)): change = .back(user: user, count: count)
        case ("renamed", _): change = .renamed
        case ("asserted", _): change = .asserted(count: count)
        case ("expired", .some(let user)):
            guard let live = fields["v"].flatMap({ LiveKey(text: $0) }) else { return nil }
            change = .expired(live: live, user: user, count: count)
        default: return nil
        }
        self.init(id: id, offset: offset, change)
    }
}

/// How a user is shown, as text that scripts carry without looking into it: the name's length in bytes, a blank, the name
/// and the avatar's address.
enum Profile {
    static func text(_ user: UserInfo) -> String { "\(user.userName.utf8.count) \(user.userName)\(user.avatarURL)" }

    /// What the leases keep: when the user joined, a blank, and its profile.
    static func stored(_ text: String) -> (joinedAt: Timestamp, profile: Substring)? {
        guard let blank = text.firstIndex(of: " "), let joinedAt = Int64(text[..<blank]) else { return nil }
        return (Timestamp(milliseconds: joinedAt), text[text.index(after: blank)...])
    }

    static func user(_ id: UserID, _ text: some StringProtocol) -> UserInfo {
        let bytes = Array(text.utf8)
        guard let blank = bytes.firstIndex(of: UInt8(ascii: " ")),
            let length = Int(String(decoding: bytes[..<blank], as: UTF8.self)), length >= 0,
            length <= bytes.count - blank - 1
        else { return UserInfo(userID: id) }
        let name = bytes[(blank + 1)..<(blank + 1 + length)]
        return UserInfo(
            userID: id, userName: String(decoding: name, as: UTF8.self),
            avatarURL: String(decoding: bytes[(blank + 1 + length)...], as: UTF8.self))
    }
}
