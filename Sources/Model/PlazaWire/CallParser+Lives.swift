// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct ListParams: Decodable {
    var cursor: String?
    var count: Int?
    var category: Int?
    var order: String?
}

private struct CreateParams: Decodable {
    var live: String
    /// The owner of the new live, when an app's server creates it for a user.
    var owner: String?
    var ownerName: String?
    var ownerAvatarURL: String?
    /// Whether the caller also joins the live.
    var join: Bool?
}

/// Parses `live.*` except `live.summary`: lists, reads, creation, changes, the end, joins and leaves. The remaining
/// methods are for bans and mutes, which are called sanctions; `parseSanctionCall` parses them.
extension CallParser {
    /// The number of lives on a page of a list, if the call does not state `count`.
    private static let defaultListCount = 20

    func parseLiveCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "list":
            let params = try frame.params(ListParams.self)
            let count = params.count ?? Self.defaultListCount
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
        case "get": return .get(try self.liveKey(frame.params(LiveParams.self).live).live)
        case "create":
            let params = try frame.params(CreateParams.self)
            let changes = try frame.params(LiveChanges.self)
            let live = try self.liveKey(params.live).live
            if let currentLive, currentLive != live {
                throw ReplyError(.inAnotherRoom, "leave \(currentLive) before you create another live")
            }
            var owner = self.caller.user
            if let ownerID = params.owner, self.caller.role == .server || ownerID != owner.userID.text {
                // If a user names somebody else as owner, the directory rejects the call.
                owner = try self.userInfo(
                    ownerID, name: params.ownerName, avatarURL: params.ownerAvatarURL, parameter: "owner")
            } else if self.caller.role == .server {
                throw ReplyError(.badParameter, "owner is missing: an app's server creates a live for a user")
            }
            let command = DirectoryCommand.create(live: live, changes: changes, owner: owner, caller: self.caller)
            if params.join == true {
                return .createAndJoin(live, .directory(DirectoryInput(app: self.app, command)))
            }
            return self.forwardToDirectory(command)
        case "update":
            let live = try self.liveKey(frame.params(LiveParams.self).live).live
            let changes = try frame.params(LiveChanges.self)
            return self.forwardToDirectory(
                .updateInfo(live: live, changes: changes, caller: self.caller(withTicketFor: live)))
        case "end":
            let live = try self.liveKey(frame.params(LiveParams.self).live).live
            return self.forwardToDirectory(.end(live: live, caller: self.caller(withTicketFor: live)))
        case "join":
            let key = try self.liveKey(frame.params(LiveParams.self).live)
            return .join(key.live, .audience(AudienceInput(key, .join(caller: self.caller))))
        case "leave":
            let key = try self.liveKey(frame.params(LiveParams.self).live)
            return .leave(key.live, .audience(AudienceInput(key, .leave(caller: self.caller))))
        default: return try self.parseSanctionCall(frame, name)
        }
    }
}
