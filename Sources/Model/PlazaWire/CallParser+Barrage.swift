// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct TextParams: Decodable {
    var live: String
    var text: String
    var extensionInfo: [String: String]?
}

private struct CustomParams: Decodable {
    var live: String
    var businessID: String
    var data: String
}

private struct GiftSendParams: Decodable {
    var live: String
    var gift: String
    var count: Int?
    var receivers: [String]?
    /// The user for whom an app's server sends the gift.
    var from: String?
    var fromName: String?
    var fromAvatarURL: String?
}

private struct LikeParams: Decodable {
    var live: String
    var count: Int?
}

private struct SpeakingParams: Decodable {
    var live: String
    var level: Int
}

private struct SummaryParams: Decodable {
    var live: String
}

/// Parses the calls that the fan-out, the machine that writes the feeds, answers.
///
/// These are `barrage.*`, `gift.send`, `like.send`, `seat.speaking` and `live.summary`.
extension CallParser {
    /// The methods that this extension parses.
    static let barrageMethods: Set<String> = [
        "barrage.sendText", "barrage.sendCustom", "gift.send", "like.send", "seat.speaking", "live.summary",
    ]

    func parseMessage(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        switch name {
        case "sendText":
            let params = try frame.params(TextParams.self)
            return try self.forwardToFanOut(
                .sendText(text: params.text, extensionInfo: params.extensionInfo, caller: self.caller), params.live)
        case "sendCustom":
            let params = try frame.params(CustomParams.self)
            guard !TextRule.hasControlCharacter(params.businessID) else {
                throw ReplyError(.badParameter, "businessID has no control characters")
            }
            return try self.forwardToFanOut(
                .sendCustom(businessID: params.businessID, data: params.data, caller: self.caller), params.live)
        default: throw Self.unknownMethodError(frame.method)
        }
    }

    func parseGift(_ frame: CallFrame) throws(ReplyError) -> ParsedCall {
        let params = try frame.params(GiftSendParams.self)
        guard let gift = GiftID(checking: params.gift) else {
            throw ReplyError(
                .badParameter, "gift is not a gift's id: 1 to 32 letters, digits, hyphens or underscores")
        }
        var receivers: [UserID] = []
        for text in params.receivers ?? [] { receivers.append(try self.userID(text, parameter: "receivers")) }
        var sender = self.caller
        if let from = params.from {
            guard sender.role == .server else {
                throw ReplyError(.noPermission, "only an app's server sends for somebody else")
            }
            sender.user = try self.userInfo(
                from, name: params.fromName, avatarURL: params.fromAvatarURL, parameter: "from")
        }
        return try self.forwardToFanOut(
            .sendGift(giftID: gift, count: params.count ?? 1, receivers: receivers, caller: sender), params.live)
    }

    func parseLikes(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        guard name == "send" else { throw Self.unknownMethodError(frame.method) }
        let params = try frame.params(LikeParams.self)
        return try self.forwardToFanOut(.sendLikes(count: params.count ?? 1, caller: self.caller), params.live)
    }

    func parseSpeakingLevel(_ frame: CallFrame) throws(ReplyError) -> ParsedCall {
        let params = try frame.params(SpeakingParams.self)
        return try self.forwardToFanOut(.speaking(level: params.level, caller: self.caller), params.live)
    }

    /// Parses `live.summary`; the caller need not be in the live.
    func parseSummary(_ frame: CallFrame) throws(ReplyError) -> ParsedCall {
        let key = try self.liveKey(frame.params(SummaryParams.self).live)
        return .forward(.barrage(BarrageInput(key, .summary(caller: self.caller))), inLive: nil)
    }

    /// Forwards a call to the fan-out; the caller must be in the live.
    private func forwardToFanOut(_ command: BarrageCommand, _ live: String) throws(ReplyError) -> ParsedCall {
        let key = try self.liveKey(live)
        return .forward(.barrage(BarrageInput(key, command)), inLive: self.requiredLive(key.live))
    }
}
