// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

private struct CoHostParams: Decodable {
    var live: String
    var to: [String]?
    var inviter: String?
    var layoutTemplate: Int?
    var timeout: Int64?
    var cursor: String?
    /// The live to mute.
    var other: String?
    var muted: Bool?
    var extensionInfo: String?
}

private struct BattleParams: Decodable {
    /// Required by all methods except `battle.get`, which may name the battle instead.
    var live: String?
    var battle: String?
    var to: [String]?
    var duration: Int64?
    var needResponse: Bool?
    var timeout: Int64?
    var extensionInfo: String?
}

private struct ScoreParams: Decodable {
    var battle: String
    /// 1: adds to the score; 2: overwrites it.
    var operation: Int?
    var scores: [ScoreUpdate]
}

/// Parses `cohost.*` and `battle.*`: co-host connections and battles between lives.
extension CallParser {
    func coHost(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        let params = try frame.params(CoHostParams.self)
        let live = try self.key(params.live).live
        func inviter() throws(ReplyError) -> LiveID {
            guard let inviter = params.inviter else { throw ReplyError(.badParameter, "params.inviter is missing") }
            return try self.key(inviter, "inviter").live
        }
        let command: ConnectionCommand
        switch name {
        case "request":
            command = .request(
                from: live, to: try self.lives(params.to ?? [], most: Limits.coHostTargets),
                layoutTemplate: params.layoutTemplate ?? 0, timeoutSeconds: try self.timeout(params.timeout),
                extensionInfo: try self.extra(params.extensionInfo, "extensionInfo"), caller: self.caller)
        case "cancel":
            command = .cancelRequest(
                from: live, to: try self.lives(params.to ?? [], most: Limits.coHostTargets), caller: self.caller)
        case "accept": command = .accept(live: live, inviter: try inviter(), caller: self.caller)
        case "reject": command = .reject(live: live, inviter: try inviter(), caller: self.caller)
        case "exit": command = .exit(live: live, caller: self.caller)
        case "muteRemote":
            guard let other = params.other else { throw ReplyError(.badParameter, "params.other is missing") }
            command = .muteRemote(
                live: live, other: try self.key(other, "other").live, isMuted: params.muted ?? true,
                caller: self.caller)
        case "candidates": return .candidates(live, cursor: params.cursor ?? "", caller: self.caller)
        default: throw Self.unknown(frame.method)
        }
        return .forward(.connection(ConnectionInput(app: self.app, command)), inLive: self.requiredLive(live))
    }

    func battle(_ frame: ClientFrame, _ name: Substring) throws(ReplyError) -> ParsedCall {
        if name == "score" { return try self.score(frame) }
        let params = try frame.params(BattleParams.self)
        if name == "get" { return try self.battleInfo(params) }
        guard let named = params.live else { throw ReplyError(.badParameter, "params.live is missing") }
        let live = try self.key(named).live
        func battle() throws(ReplyError) -> BattleID {
            guard let battle = params.battle, TextRule.isWord(battle, maxBytes: 64) else {
                throw ReplyError(.badParameter, "params.battle is missing or not a battle's id")
            }
            return BattleID(battle)
        }
        let command: ConnectionCommand
        switch name {
        case "create" where self.caller.role != .server:
            throw ReplyError(.noPermission, "only an app's server creates battles; hosts request them")
        case "request", "create":
            command = .requestBattle(
                from: live, to: try self.lives(params.to ?? [], most: Limits.coHostTargets),
                durationSeconds: params.duration ?? 0, needResponse: params.needResponse ?? false,
                timeoutSeconds: try self.timeout(params.timeout == 0 ? nil : params.timeout),
                extensionInfo: try self.extra(params.extensionInfo, "extensionInfo"), caller: self.caller)
        case "cancel":
            command = .cancelBattle(
                battle: try battle(), live: live, to: try self.lives(params.to ?? [], most: Limits.coHostTargets),
                caller: self.caller)
        case "accept": command = .acceptBattle(battle: try battle(), live: live, caller: self.caller)
        case "reject": command = .rejectBattle(battle: try battle(), live: live, caller: self.caller)
        case "exit": command = .exitBattle(battle: try battle(), live: live, caller: self.caller)
        default: throw Self.unknown(frame.method)
        }
        return .forward(.connection(ConnectionInput(app: self.app, command)), inLive: self.requiredLive(live))
    }

    private func battleInfo(_ params: BattleParams) throws(ReplyError) -> ParsedCall {
        guard let battle = params.battle else {
            guard let live = params.live else {
                throw ReplyError(.badParameter, "params.battle and params.live are missing; name one")
            }
            return self.connection(
                .battleInfo(battle: nil, live: try self.key(live).live, caller: self.caller))
        }
        guard TextRule.isWord(battle, maxBytes: 64) else {
            throw ReplyError(.badParameter, "params.battle is not a battle's id")
        }
        return self.connection(.battleInfo(battle: BattleID(battle), live: nil, caller: self.caller))
    }

    /// A call of an app's server, which need not be in a live.
    private func connection(_ command: ConnectionCommand) -> ParsedCall {
        .forward(.connection(ConnectionInput(app: self.app, command)), inLive: nil)
    }

    private func score(_ frame: ClientFrame) throws(ReplyError) -> ParsedCall {
        let params = try frame.params(ScoreParams.self)
        guard let operation = ScoreOperation(rawValue: params.operation ?? 1) else {
            throw ReplyError(.badParameter, "operation is \(params.operation ?? 1); 1 adds, 2 overwrites")
        }
        guard TextRule.isWord(params.battle, maxBytes: 64), (1...Limits.coHostLives).contains(params.scores.count)
        else {
            throw ReplyError(.badParameter, "battle names a battle, scores 1 to \(Limits.coHostLives) lives")
        }
        for score in params.scores { _ = try self.key(score.live.text, "scores.live") }
        let command = ConnectionCommand.updateScores(
            battle: BattleID(params.battle), operation: operation, scores: params.scores, caller: self.caller)
        return self.connection(command)
    }
}
