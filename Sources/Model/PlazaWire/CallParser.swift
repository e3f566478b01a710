// SPDX-License-Identifier: Apache-2.0
package import PlazaModel

/// A call with parsed parameters.
package enum ParsedCall: Hashable, Sendable {
    case login(LoginParams)
    case ping
    /// Changes the caller's name or avatar; nil leaves a field as it is.
    case rename(name: String?, avatarURL: String?)
    // Answered from the gateway's memory.
    /// `isAscending`: fewest entries first; the pages after the first keep the order of the first.
    case list(cursor: String, count: Int, category: Int?, isAscending: Bool = false)
    case get(LiveID)
    case count(LiveID)
    case stage(LiveID)
    case metadata(LiveID, keys: [String])
    /// Lists lives with which the caller's live could be connected.
    case candidates(LiveID, cursor: String, caller: Caller)
    case gifts(language: String?)
    case app
    // Decided by a machine: the effect is the message for its inbox, the `LiveID` is the live that the caller must be
    // in.
    case join(LiveID, Effect)
    case leave(LiveID, Effect)
    case forward(Effect, inLive: LiveID?)
}

/// Parses methods and their parameters.
///
/// The parser checks only the form. The machine that receives the message decides whether the call is allowed.
package struct CallParser: Sendable {
    package let app: AppID
    /// The caller with its session, request id and ticket.
    package let caller: Caller
    /// The live that the caller is in, for which its ticket is valid.
    package let currentLive: LiveID?

    /// A parser of one caller's calls.
    package init(app: AppID, caller: Caller, in live: LiveID? = nil) {
        self.app = app
        self.caller = caller
        self.currentLive = live
    }

    /// Reads one call.
    ///
    /// - Throws: `unknownMethod`, or `badParameter` / `badRoomID` that names the field.
    package func parse(_ frame: ClientFrame) throws(ReplyError) -> ParsedCall {
        let parts = frame.method.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2 else {
            switch frame.method {
            case "login": return .login(try frame.params())
            case "ping":
                try frame.noParams()
                return .ping
            default: throw Self.unknown(frame.method)
            }
        }
        guard Self.methods.contains(frame.method) else { throw Self.unknown(frame.method) }
        switch parts[0] {
        case "live" where parts[1] == "summary": return try self.summary(frame)
        case "live": return try self.live(frame, parts[1])
        case "metadata": return try self.metadata(frame, parts[1])
        case "admin": return try self.admin(frame, parts[1])
        case "audience": return try self.audience(frame, parts[1])
        case "barrage": return try self.barrage(frame, parts[1])
        case "stage": return try self.stage(frame, parts[1])
        case "seat" where parts[1] == "speaking": return try self.speaking(frame)
        case "seat": return try self.seat(frame, parts[1])
        case "cohost": return try self.coHost(frame, parts[1])
        case "battle": return try self.battle(frame, parts[1])
        case "gift" where parts[1] == "send": return try self.sendGift(frame)
        case "gift": return try self.gift(frame, parts[1])
        case "like": return try self.like(frame, parts[1])
        case "app": return try self.settings(frame, parts[1])
        case "self": return try self.oneself(frame, parts[1])
        default: throw Self.unknown(frame.method)
        }
    }

    /// Every method that a machine or a gateway's memory answers; looked up before parameters are read.
    package static let methods: Set<String> = Self.liveMethods.union(Self.appMethods).union(Self.sanctionMethods)
        .union(Self.barrageMethods)

    private static let liveMethods: Set<String> = [
        "live.list", "live.get", "live.create", "live.update", "live.end", "live.join", "live.leave", "metadata.get",
        "metadata.set", "metadata.delete", "admin.set", "admin.revoke", "audience.list", "audience.count",
        "audience.kick", "stage.get", "seat.apply", "seat.cancelApplication",
        "seat.acceptApplication", "seat.rejectApplication", "seat.invite", "seat.cancelInvitation",
        "seat.acceptInvitation", "seat.rejectInvitation", "seat.take", "seat.leave", "seat.kick", "seat.move",
        "seat.lock", "seat.device", "seat.lockDevice", "seat.place", "seat.requests", "cohost.request",
        "cohost.cancel", "cohost.accept", "cohost.reject", "cohost.exit",
        "cohost.candidates", "cohost.muteRemote", "battle.request", "battle.create", "battle.get", "battle.cancel",
        "battle.accept", "battle.reject", "battle.exit", "battle.score",
        "self.update",
    ]

    /// The caller of a call about `live`, without its ticket if the ticket is for another live.
    func caller(in live: LiveID) -> Caller {
        var caller = self.caller
        if self.currentLive != live { caller.ticket = nil }
        return caller
    }

    static func unknown(_ method: String) -> ReplyError {
        ReplyError(.unknownMethod, "there is no method \"\(String(method.prefix(64)))\"")
    }

    func key(_ text: String, _ field: String = "live") throws(ReplyError) -> LiveKey {
        guard let live = LiveID(checking: text) else {
            throw ReplyError(
                .badRoomID, "\(field) is not a live's id: 1 to 48 printable ASCII characters without blanks and slashes"
            )
        }
        return LiveKey(self.app, live)
    }

    func lives(_ texts: [String], most: Int) throws(ReplyError) -> [LiveID] {
        guard (1...most).contains(texts.count) else {
            throw ReplyError(.badParameter, "to names \(texts.count) lives; 1 to \(most) are possible")
        }
        var lives: [LiveID] = []
        for text in texts { lives.append(try self.key(text, "to").live) }
        return lives
    }

    func user(_ text: String, _ field: String = "user") throws(ReplyError) -> UserID {
        guard let user = UserID(checking: text) else {
            throw ReplyError(
                .badParameter, "\(field) is not a user's id: 1 to 32 letters, digits, hyphens or underscores")
        }
        return user
    }

    /// A user with the profile that an app's server gives; `field` is the name of the id's parameter.
    func person(
        _ id: String, _ name: String?, _ avatarURL: String?, _ field: String
    ) throws(ReplyError) -> UserInfo {
        let id = try self.user(id, field)
        if let validationError = UserInfo.validationError(name: name, avatarURL: avatarURL, of: field) {
            throw validationError
        }
        return UserInfo(userID: id, userName: name ?? "", avatarURL: avatarURL ?? "")
    }

    func timeout(_ seconds: Int64?) throws(ReplyError) -> Int64 {
        let seconds = seconds ?? Limits.defaultRequestTimeoutSeconds
        guard Limits.requestTimeoutSeconds.contains(seconds) else {
            throw ReplyError(
                .badParameter,
                "timeout is \(seconds); \(Limits.requestTimeoutSeconds.lowerBound) to "
                    + "\(Limits.requestTimeoutSeconds.upperBound) seconds are possible")
        }
        return seconds
    }

    func extra(_ text: String?, _ field: String) throws(ReplyError) -> String {
        let text = text ?? ""
        guard TextRule.isBounded(text, maxBytes: Limits.extraInfoBytes) else {
            throw .tooLong(field, maxBytes: Limits.extraInfoBytes)
        }
        return text
    }
}
