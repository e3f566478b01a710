// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct BattleParams: Decodable {
    /// Required by all methods except `battle.get`, which may name the battle instead.
    var live: String?
    var battle: String?
    /// The invited lives.
    var to: [String]?
    /// In seconds.
    var duration: Int64?
    var needResponse: Bool?
    /// In seconds.
    var timeout: Int64?
    var extensionInfo: String?
}

private struct ScoreParams: Decodable {
    var battle: String
    /// 1 adds to the score, 2 overwrites the score; nil means 1.
    var operation: Int?
    var scores: [ScoreUpdate]
}

/// Parses `battle.*`: battles between connected lives.
extension CallParser {
    private static let maxBattleIDBytes = 64

    func parseBattleCall(_ frame: CallFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        if name == "score" { return try self.parseScores(frame) }
        let params = try frame.params(BattleParams.self)
        if name == "get" { return try self.parseBattleGet(params) }
        guard let liveText = params.live else { throw ReplyError(.badParameter, "params.live is missing") }
        let live = try self.liveKey(liveText).live
        func requiredBattle() throws(ReplyError) -> BattleID {
            guard let battle = params.battle, TextRule.isIdentifier(battle, maxBytes: Self.maxBattleIDBytes) else {
                throw ReplyError(.badParameter, "params.battle is missing or not a battle's id")
            }
            return BattleID(battle)
        }
        let command: ConnectionCommand
        switch name {
        case "create" where self.caller.role != .server:
            throw ReplyError(.noPermission, "only an app's server creates battles; hosts request them")
        case "request", "create":
            // A duration or a timeout of 0 means the default.
            command = .requestBattle(
                from: live, to: try self.invitedLives(params.to ?? []),
                durationSeconds: params.duration ?? 0, needResponse: params.needResponse ?? false,
                timeoutSeconds: try self.requestTimeout(params.timeout == 0 ? nil : params.timeout),
                extensionInfo: try self.boundedText(params.extensionInfo, parameter: "extensionInfo"),
                caller: self.caller)
        case "cancel":
            command = .cancelBattle(
                battle: try requiredBattle(), live: live, to: try self.invitedLives(params.to ?? []),
                caller: self.caller)
        case "accept": command = .acceptBattle(battle: try requiredBattle(), live: live, caller: self.caller)
        case "reject": command = .rejectBattle(battle: try requiredBattle(), live: live, caller: self.caller)
        case "exit": command = .exitBattle(battle: try requiredBattle(), live: live, caller: self.caller)
        case "requests": command = .openBattleRequests(live: live, caller: self.caller)
        default: throw Self.unknownMethodError(frame.method)
        }
        return .forward(.connection(ConnectionInput(app: self.app, command)), inLive: self.requiredLive(live))
    }

    private func parseBattleGet(_ params: BattleParams) throws(ReplyError) -> ParsedCall {
        guard let battle = params.battle else {
            guard let live = params.live else {
                throw ReplyError(.badParameter, "params.battle and params.live are missing; name one")
            }
            return self.forwardFromServer(
                .battleInfo(battle: nil, live: try self.liveKey(live).live, caller: self.caller))
        }
        guard TextRule.isIdentifier(battle, maxBytes: Self.maxBattleIDBytes) else {
            throw ReplyError(.badParameter, "params.battle is not a battle's id")
        }
        return self.forwardFromServer(.battleInfo(battle: BattleID(battle), live: nil, caller: self.caller))
    }

    /// Forwards a call that only an app's server may send; the server need not be in a live.
    ///
    /// The connection machine, which decides the battles, rejects other callers.
    private func forwardFromServer(_ command: ConnectionCommand) -> ParsedCall {
        .forward(.connection(ConnectionInput(app: self.app, command)), inLive: nil)
    }

    private func parseScores(_ frame: CallFrame) throws(ReplyError) -> ParsedCall {
        let params = try frame.params(ScoreParams.self)
        guard let operation = ScoreOperation(rawValue: params.operation ?? 1) else {
            throw ReplyError(.badParameter, "operation is \(params.operation ?? 1); 1 adds, 2 overwrites")
        }
        guard TextRule.isIdentifier(params.battle, maxBytes: Self.maxBattleIDBytes),
            (1...Limits.coHostLives).contains(params.scores.count)
        else {
            throw ReplyError(.badParameter, "battle names a battle, scores 1 to \(Limits.coHostLives) lives")
        }
        for score in params.scores { _ = try self.liveKey(score.live.text, parameter: "scores.live") }
        let command = ConnectionCommand.updateScores(
            battle: BattleID(params.battle), operation: operation, scores: params.scores, caller: self.caller)
        return self.forwardFromServer(command)
    }
}
