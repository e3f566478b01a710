// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A call with parsed parameters.
package enum ParsedCall: Hashable, Sendable {
    case login(LoginParams)
    case ping
    /// Changes the caller's name or avatar; nil leaves the field as it is.
    case updateProfile(name: String?, avatarURL: String?)
    // Reads, which the gateway answers from memory.
    /// A page of the app's lives, the most visited first, or the least visited first if `isAscending`. Later pages have
    /// the order of the first page.
    case list(cursor: String, count: Int, category: Int?, isAscending: Bool = false)
    /// The info, the audience count and the stage of a live.
    case get(LiveID)
    /// The audience count of a live.
    case count(LiveID)
    /// The stage of a live.
    case stage(LiveID)
    /// The values of some keys of a live's metadata; of all keys if `keys` is empty.
    case metadata(LiveID, keys: [String])
    /// Lists lives with which the caller's live could be connected.
    case candidates(LiveID, cursor: String, caller: Caller)
    /// The app's gift catalogue.
    case gifts(language: String?)
    /// The settings of the caller's app.
    case app
    // Calls that a machine decides; the effect writes the record to the machine's inbox.
    case join(LiveID, Effect)
    case leave(LiveID, Effect)
    /// Creates a live and joins it; the effect contains the create.
    case createAndJoin(LiveID, Effect)
    /// Any other call. The caller must be in the live `inLive`; nil if the caller need not be in any live.
    case forward(Effect, inLive: LiveID?)
}

/// Parameters that name a live, and perhaps a user or keys in it.
struct LiveParams: Decodable {
    var live: String
    var user: String?
    var keys: [String]?
}

/// Parses methods and their parameters.
///
/// The parser checks only the form of a call. The machine that receives the record decides whether the call is allowed.
/// A method such as `seat.apply` consists of a group and a name. In other files, an extension parses the methods of a
/// group.
package struct CallParser: Sendable {
    package let app: AppID
    /// The caller with its session, request id and ticket.
    package let caller: Caller
    /// The live that the caller is in, for which its ticket is valid.
    package let currentLive: LiveID?

    package init(app: AppID, caller: Caller, in live: LiveID? = nil) {
        self.app = app
        self.caller = caller
        self.currentLive = live
    }

    /// Parses one call.
    ///
    /// - Throws: `unknownMethod` (R16.9), `noPermission`, or an error with the name of the wrong parameter.
    package func parse(_ frame: CallFrame) throws(ReplyError) -> ParsedCall {
        let parts = frame.method.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            // Only these two methods have no group.
            switch frame.method {
            case "login": return .login(try frame.params())
            case "ping":
                try frame.checkIgnoredParams()
                return .ping
            default: throw Self.unknownMethodError(frame.method)
            }
        }
        guard Self.methods.contains(frame.method) else { throw Self.unknownMethodError(frame.method) }
        let (group, name) = (parts[0], parts[1])
        // `live.summary` and `seat.speaking` are calls for the fan-out, so they are not parsed with their group.
        switch group {
        case "live" where name == "summary": return try self.parseSummary(frame)
        case "live": return try self.parseLiveCall(frame, name)
        case "metadata": return try self.parseMetadataCall(frame, name)
        case "admin": return try self.parseAdminCall(frame, name)
        case "audience": return try self.parseAudienceCall(frame, name)
        case "barrage": return try self.parseMessage(frame, name)
        case "stage": return try self.parseStageCall(frame, name)
        case "seat" where name == "speaking": return try self.parseSpeakingLevel(frame)
        case "seat": return try self.parseSeatCall(frame, name)
        case "cohost": return try self.parseCoHostCall(frame, name)
        case "battle": return try self.parseBattleCall(frame, name)
        case "gift" where name == "send": return try self.parseGift(frame)
        case "gift": return try self.parseCatalogueCall(frame, name)
        case "like": return try self.parseLikes(frame, name)
        case "app": return try self.parseAppCall(frame, name)
        case "self": return try self.parseProfileCall(frame, name)
        default: throw Self.unknownMethodError(frame.method)
        }
    }

    /// All methods except `login` and `ping`.
    ///
    /// `parse` looks a method up in this set before it decodes the parameters.
    package static let methods: Set<String> = Self.commonMethods.union(Self.appMethods).union(Self.sanctionMethods)
        .union(Self.barrageMethods)

    /// The methods that no extension lists.
    private static let commonMethods: Set<String> = [
        "live.list", "live.get", "live.create", "live.update", "live.end", "live.join", "live.leave",
        "metadata.get", "metadata.set", "metadata.delete",
        "admin.set", "admin.revoke",
        "audience.list", "audience.count", "audience.kick",
        "stage.get",
        "seat.apply", "seat.cancelApplication", "seat.acceptApplication", "seat.rejectApplication",
        "seat.invite", "seat.cancelInvitation", "seat.acceptInvitation", "seat.rejectInvitation",
        "seat.take", "seat.leave", "seat.kick", "seat.move", "seat.lock", "seat.device", "seat.lockDevice",
        "seat.place", "seat.requests",
        "cohost.request", "cohost.cancel", "cohost.accept", "cohost.reject", "cohost.exit",
        "cohost.candidates", "cohost.muteRemote", "cohost.requests",
        "battle.request", "battle.requests", "battle.create", "battle.get", "battle.cancel",
        "battle.accept", "battle.reject", "battle.exit", "battle.score",
        "self.update",
    ]

    /// The caller; without its ticket if the ticket is not for `live`.
    func caller(withTicketFor live: LiveID) -> Caller {
        var caller = self.caller
        if self.currentLive != live { caller.ticket = nil }
        return caller
    }

    static func unknownMethodError(_ method: String) -> ReplyError {
        ReplyError(.unknownMethod, "there is no method \"\(String(method.prefix(64)))\"")
    }

    /// The key of the live with this id.
    ///
    /// - Parameters:
    ///   - text: the id.
    ///   - field: the name of the call's parameter, for the error.
    /// - Returns: the key.
    /// - Throws: `badRoomID` if the text is not a live's id.
    func liveKey(_ text: String, parameter field: String = "live") throws(ReplyError) -> LiveKey {
        guard let live = LiveID(checking: text) else {
            throw ReplyError(
                .badRoomID, "\(field) is not a live's id: 1 to 48 printable ASCII characters without blanks and slashes"
            )
        }
        return LiveKey(self.app, live)
    }

    /// The lives that the parameter `to` names: the lives that are invited to a connection or a battle.
    ///
    /// - Throws: `badParameter` for no lives or too many, `badRoomID` for a text that is not a live's id.
    func invitedLives(_ texts: [String]) throws(ReplyError) -> [LiveID] {
        guard (1...Limits.coHostTargets).contains(texts.count) else {
            throw ReplyError(.badParameter, "to names \(texts.count) lives; 1 to \(Limits.coHostTargets) are possible")
        }
        var lives: [LiveID] = []
        for text in texts { lives.append(try self.liveKey(text, parameter: "to").live) }
        return lives
    }

    /// The user with this id.
    ///
    /// - Parameters:
    ///   - text: the id.
    ///   - field: the name of the call's parameter, for the error.
    /// - Returns: the user's id.
    /// - Throws: `badParameter` if the text is not a user's id.
    func userID(_ text: String, parameter field: String = "user") throws(ReplyError) -> UserID {
        guard let user = UserID(checking: text) else {
            throw ReplyError(
                .badParameter, "\(field) is not a user's id: 1 to 32 letters, digits, hyphens or underscores")
        }
        return user
    }

    /// A user with the profile in a call's parameters; `field` is the name of the parameter with the user's id.
    func userInfo(
        _ id: String, name: String?, avatarURL: String?, parameter field: String
    ) throws(ReplyError) -> UserInfo {
        let id = try self.userID(id, parameter: field)
        if let validationError = UserInfo.validationError(name: name, avatarURL: avatarURL, parameterPrefix: field) {
            throw validationError
        }
        return UserInfo(userID: id, userName: name ?? "", avatarURL: avatarURL ?? "")
    }

    /// The live that the caller must be in; nil for an app's server, which may act in every live.
    func requiredLive(_ live: LiveID) -> LiveID? { self.caller.role == .server ? nil : live }

    /// Forwards a call to the directory.
    func forwardToDirectory(_ command: DirectoryCommand) -> ParsedCall {
        .forward(.directory(DirectoryInput(app: self.app, command)), inLive: nil)
    }

    /// The timeout in seconds of an application, an invitation, or a co-host or battle request; the default for nil.
    ///
    /// - Throws: `badParameter` if the timeout is out of range.
    func requestTimeout(_ seconds: Int64?) throws(ReplyError) -> Int64 {
        let seconds = seconds ?? Limits.defaultRequestTimeoutSeconds
        guard Limits.requestTimeoutSeconds.contains(seconds) else {
            throw ReplyError(
                .badParameter,
                "timeout is \(seconds); \(Limits.requestTimeoutSeconds.lowerBound) to "
                    + "\(Limits.requestTimeoutSeconds.upperBound) seconds are possible")
        }
        return seconds
    }

    /// Returns `text`, which may have any form but at most `Limits.extraInfoBytes` bytes; an empty text for nil.
    ///
    /// - Throws: `badParameter` if the text is too long.
    func boundedText(_ text: String?, parameter field: String) throws(ReplyError) -> String {
        let text = text ?? ""
        guard TextRule.isBounded(text, maxBytes: Limits.extraInfoBytes) else {
            throw .tooLong(field, maxBytes: Limits.extraInfoBytes)
        }
        return text
    }
}
