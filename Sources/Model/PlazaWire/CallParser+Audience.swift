// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct AudienceListParams: Decodable {
    var live: String
    var cursor: String?
    var count: Int?
}

/// Parses `audience.*` and `admin.*`: the members of a live and their rights.
extension CallParser {
    func parseAudienceCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "list":
            let params = try frame.params(AudienceListParams.self)
            let count = params.count ?? Limits.audiencePage
            guard (1...Limits.audiencePage).contains(count) else {
                throw ReplyError(.badParameter, "count is \(count); 1 to \(Limits.audiencePage) are possible")
            }
            let key = try self.liveKey(params.live)
            let command = AudienceCommand.list(cursor: params.cursor ?? "", count: count, caller: self.caller)
            return .forward(.audience(AudienceInput(key, command)), inLive: self.requiredLive(key.live))
        case "count": return .count(try self.liveKey(frame.params(LiveParams.self).live).live)
        case "kick":
            let (live, user) = try self.liveAndUser(frame)
            return self.forwardToDirectory(.kick(live: live, user: user, caller: self.caller(withTicketFor: live)))
        default: throw Self.unknownMethodError(frame.method)
        }
    }

    func parseAdminCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        let (live, user) = try self.liveAndUser(frame)
        let caller = self.caller(withTicketFor: live)
        switch name {
        case "set": return self.forwardToDirectory(.setAdmin(live: live, user: user, caller: caller))
        case "revoke": return self.forwardToDirectory(.revokeAdmin(live: live, user: user, caller: caller))
        default: throw Self.unknownMethodError(frame.method)
        }
    }

    private func liveAndUser(_ frame: CallFrame) throws(ReplyError) -> (live: LiveID, user: UserID) {
        let params = try frame.params(LiveParams.self)
        guard let user = params.user else { throw ReplyError(.badParameter, "params.user is missing") }
        return (try self.liveKey(params.live).live, try self.userID(user))
    }
}
