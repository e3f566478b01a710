// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Parameters that name a live, and perhaps a user or keys in it.
private struct LiveParams: Decodable {
    var live: String
    var user: String?
    var keys: [String]?
}

private struct ListParams: Decodable {
    var cursor: String?
    var count: Int?
    var category: Int?
    var order: String?
}

private struct MetadataParams: Decodable {
    var live: String
    var metadata: [String: String]
}

private struct CreateParams: Decodable {
    var live: String
    /// The owner of the new live, when an app's server creates it for a user.
    var owner: String?
    var ownerName: String?
    var ownerAvatarURL: String?
}

private struct ProfileParams: Decodable {
    var name: String?
    var avatarURL: String?
}

private struct AudienceListParams: Decodable {
    var live: String
    var cursor: String?
    var count: Int?
}

/// Parses `live.*`, `metadata.*`, `admin.*` and `audience.*`: lives and their members.
extension CallParser {
    func live(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "list":
            let params = try frame.params(ListParams.self)
            let count = params.count ?? 20
            guard (1...Limits.listPage).contains(count) else {
                throw ReplyError(.badParameter, "count is \(count); 1 to \(Limits.listPage) are possible")
            }
            let order = params.order ?? "descending"
            guard order == "descending" || order == "ascending" else {
                throw ReplyError(.badParameter, "order is descending or ascending")
            }
            return .list(
                cursor: params.cursor ?? "", count: count, category: params.category,
                isAscending: order == "ascending")
        case "get": return .get(try self.key(frame.params(LiveParams.self).live).live)
        case "create":
            let params = try frame.params(CreateParams.self)
            let changes = try frame.params(LiveChanges.self)
            let live = try self.key(params.live).live
            if let currentLive, currentLive != live {
                throw ReplyError(.inAnotherRoom, "leave \(currentLive) before you create another live")
            }
            var owner = self.caller.user
            if let name = params.owner, self.caller.role == .server || name != owner.userID.text {
                // If a user names somebody else as owner, the directory rejects the call.
                owner = try self.person(name, params.ownerName, params.ownerAvatarURL, "owner")
            } else if self.caller.role == .server {
                throw ReplyError(.badParameter, "owner is missing: an app's server creates a live for a user")
            }
            return self.directory(.create(live: live, changes: changes, owner: owner, caller: self.caller))
        case "update":
            let live = try self.key(frame.params(LiveParams.self).live).live
            let changes = try frame.params(LiveChanges.self)
            return self.directory(.updateInfo(live: live, changes: changes, caller: self.caller(in: live)))
        case "end":
            let live = try self.key(frame.params(LiveParams.self).live).live
            return self.directory(.end(live: live, caller: self.caller(in: live)))
        case "join":
            let key = try self.key(frame.params(LiveParams.self).live)
            return .join(key.live, .audience(AudienceInput(key, .join(caller: self.caller))))
        case "leave":
            let key = try self.key(frame.params(LiveParams.self).live)
            return .leave(key.live, .audience(AudienceInput(key, .leave(caller: self.caller))))
        default: return try self.sanction(frame, name)
        }
    }

    func metadata(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "get":
            let params = try frame.params(LiveParams.self)
            return .metadata(try self.key(params.live).live, keys: params.keys ?? [])
        case "set":
            let params = try frame.params(MetadataParams.self)
            let live = try self.key(params.live).live
            return self.directory(.setMetadata(live: live, values: params.metadata, caller: self.caller(in: live)))
        case "delete":
            let params = try frame.params(LiveParams.self)
            let live = try self.key(params.live).live
            guard let keys = params.keys else { throw ReplyError(.badParameter, "params.keys is missing") }
            guard !keys.isEmpty else { throw ReplyError(.badParameter, "keys names none; name at least one") }
            return self.directory(.deleteMetadata(live: live, keys: keys, caller: self.caller(in: live)))
        default: throw Self.unknown(frame.method)
        }
    }

    func admin(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        let (live, user) = try self.liveAndUser(frame)
        switch name {
        case "set": return self.directory(.setAdmin(live: live, user: user, caller: self.caller(in: live)))
        case "revoke": return self.directory(.revokeAdmin(live: live, user: user, caller: self.caller(in: live)))
        default: throw Self.unknown(frame.method)
        }
    }

    func audience(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "list":
            let params = try frame.params(AudienceListParams.self)
            let count = params.count ?? Limits.audiencePage
            guard (1...Limits.audiencePage).contains(count) else {
                throw ReplyError(.badParameter, "count is \(count); 1 to \(Limits.audiencePage) are possible")
            }
            let key = try self.key(params.live)
            let command = AudienceCommand.list(cursor: params.cursor ?? "", count: count, caller: self.caller)
            return .forward(.audience(AudienceInput(key, command)), inLive: self.requiredLive(key.live))
        case "count": return .count(try self.key(frame.params(LiveParams.self).live).live)
        case "kick":
            let (live, user) = try self.liveAndUser(frame)
            return self.directory(.kick(live: live, user: user, caller: self.caller(in: live)))
        default: throw Self.unknown(frame.method)
        }
    }

    func oneself(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        guard name == "update" else { throw Self.unknown(frame.method) }
        let params = try frame.params(ProfileParams.self)
        guard params.name != nil || params.avatarURL != nil else {
            throw ReplyError(.badParameter, "give a name or an avatarURL")
        }
        if let validationError = UserInfo.validationError(name: params.name, avatarURL: params.avatarURL) {
            throw validationError
        }
        return .rename(name: params.name, avatarURL: params.avatarURL)
    }

    /// The live that the caller must be in; nil for an app's server, which may act in every live.
    func requiredLive(_ live: LiveID) -> LiveID? { self.caller.role == .server ? nil : live }

    func directory(_ command: DirectoryCommand) -> ParsedCall {
        .forward(.directory(DirectoryInput(app: self.app, command)), inLive: nil)
    }

    private func liveAndUser(_ frame: ClientFrame) throws(ReplyError) -> (LiveID, UserID) {
        let params = try frame.params(LiveParams.self)
        guard let user = params.user else { throw ReplyError(.badParameter, "params.user is missing") }
        return (try self.key(params.live).live, try self.user(user))
    }
}
