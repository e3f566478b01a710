// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The users whom a sanction (a ban or a mute) concerns, and its duration.
private struct SanctionParams: Decodable {
    var live: String
    var users: [String]
    /// The duration in seconds; -1 means permanently, and 0 lifts a mute.
    var duration: Int64?
    var reason: String?
}

private struct SanctionListParams: Decodable {
    var live: String
    var offset: Int?
    var count: Int?
}

/// Parses the calls for sanctions (bans and mutes): `live.ban`, `live.unban`, `live.bans`, `live.mute` and
/// `live.mutes`.
extension CallParser {
    /// The methods that this extension parses.
    static let sanctionMethods: Set<String> = ["live.ban", "live.unban", "live.bans", "live.mute", "live.mutes"]

    func parseSanctionCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "bans", "mutes":
            // The directory checks the ranges of `offset` and `count`.
            let params = try frame.params(SanctionListParams.self)
            let live = try self.liveKey(params.live).live
            let count = params.count ?? SanctionLimits.entriesPerPage
            let offset = params.offset ?? 0
            return self.forwardToDirectory(
                name == "bans"
                    ? .bans(live: live, offset: offset, count: count, caller: self.caller(withTicketFor: live))
                    : .mutes(live: live, offset: offset, count: count, caller: self.caller(withTicketFor: live)))
        default: break
        }
        let params = try frame.params(SanctionParams.self)
        let live = try self.liveKey(params.live).live
        var users: [UserID] = []
        for text in params.users { users.append(try self.userID(text, parameter: "users")) }
        guard (1...SanctionLimits.usersPerCall).contains(users.count) else {
            throw SanctionLimits.userCountError(users.count)
        }
        if let reason = params.reason, !TextRule.isPlain(reason, maxBytes: SanctionLimits.reasonBytes) {
            throw .notPlain("reason", maxBytes: SanctionLimits.reasonBytes)
        }
        let caller = self.caller(withTicketFor: live)
        if name == "unban" { return self.forwardToDirectory(.unban(live: live, users: users, caller: caller)) }
        guard let duration = params.duration else { throw ReplyError(.badParameter, "params.duration is missing") }
        switch name {
        case "ban":
            return self.forwardToDirectory(
                .ban(
                    live: live, users: users, durationSeconds: duration, reason: params.reason ?? "", caller: caller))
        case "mute":
            return self.forwardToDirectory(.mute(live: live, users: users, durationSeconds: duration, caller: caller))
        default: throw Self.unknownMethodError(frame.method)
        }
    }
}

extension ParsedCall {
    /// The number of users whom the call bans, unbans or mutes; nil if it is another call.
    package var sanctionedUserCount: Int? {
        guard case .forward(.directory(let input, _), _) = self else { return nil }
        return switch input.command {
        case .ban(_, let users, _, _, _), .unban(_, let users, _), .mute(_, let users, _, _): users.count
        default: nil
        }
    }
}
