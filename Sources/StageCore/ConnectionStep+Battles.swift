// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel

/// The fight itself: start, scores, leaving, end (reference 10, I14).
extension ConnectionStep {
    /// The highest score: whole numbers up to here are exact in every JSON reader.
    static let maxScore: Int64 = 1 << 53

    mutating func start(_ battle: inout Battle) {
        let sides = [battle.inviter] + battle.invitees.map(\.live)
        let endTime = self.moment.now + .seconds(battle.durationSeconds)
        battle.view = BattleView(
            id: battle.id, extensionInfo: battle.extensionInfo, durationSeconds: battle.durationSeconds,
            needResponse: battle.needResponse, startTime: self.moment.now, endTime: endTime,
            sides: sides.map { BattleSide(live: $0, host: self.member($0).host) })
        battle.invitees = []
        self.set(battle.id, battle)
        self.tellStarted(battle)
        for live in sides { self.update(live) { $0.battleRequest = nil } }
        let others = self.connection(battle.connection)?.members.map(\.live) ?? []
        for live in sides + others.filter({ !sides.contains($0) }) {
            // What the live showed, mostly the last battle's result, gives way to this one, but not a fight of its own.
            if sides.contains(live) || !self.isFighting(live) {
                self.hideBattle(of: live)
                self.update(live) { $0.battle = battle.id }
            }
            self.touch(live, .battleStarted(battle: battle.id))
            for side in sides { self.touch(live, .battleUserJoined(battle: battle.id, live: side)) }
        }
    }

    /// A live that comes into a connection shows the fight there that began last.
    mutating func showFight(of connection: ConnectionView, in live: LiveID) {
        var latest: (id: BattleID, startTime: Timestamp)?
        for member in connection.members {
            guard let battle = self.battle(self.live(member.live)?.value.battle), battle.isFighting,
                let view = battle.view, latest.map({ $0.startTime < view.startTime }) ?? true
            else { continue }
            latest = (battle.id, view.startTime)
        }
        if let latest { self.update(live) { $0.battle = latest.id } }
    }

    mutating func battleDue(_ id: BattleID) {
        guard var battle = self.battle(id) else { return }
        guard let view = battle.view else { return self.expireBattleRequests(&battle) }
        if view.endTime <= self.moment.now {
            self.finish(&battle, .timeOver)
        } else {
            self.publishScores(&battle)
        }
    }

    /// Ends the battle, once; its scores are the result from now on.
    private mutating func finish(_ battle: inout Battle, _ reason: BattleEndReason) {
        guard var view = battle.view, view.ended == nil else { return }
        view.ended = reason
        view.endTime = min(view.endTime, self.moment.now)
        battle.view = view
        battle.isDirty = false
        self.set(battle.id, battle)
        self.endedHere.append(view)
        self.tellEnded(battle)
        for live in self.lives(hearing: battle) { self.touch(live, .battleEnded(battle: battle.id, reason: reason)) }
    }

    private mutating func publishScores(_ battle: inout Battle) {
        battle.isDirty = false
        battle.publishedAt = self.moment.now
        self.set(battle.id, battle)
        for live in self.lives(hearing: battle) { self.touch(live, .battleScored(battle: battle.id)) }
    }

    mutating func exitBattle(_ id: BattleID, _ live: LiveID, _ caller: Caller) throws(ReplyError) -> CallResult {
        _ = try self.owned(live, by: caller)
        guard let battle = self.battle(id) else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        if battle.isAsking { throw ReplyError(.battleNotStarted, "the battle has not begun") }
        if !battle.isFighting { throw ReplyError(.battleOver, "the battle is over") }
        guard battle.side(of: live) != nil else {
            throw ReplyError(.roomNotInBattle, "the live is not in the battle")
        }
        self.leaveFight(live, id)
        return .done
    }

    /// Takes the live out of whatever battle it is in or agreeing on.
    mutating func leaveBattles(_ id: LiveID) {
        if var asking = self.battle(self.live(id)?.value.battleRequest) { self.leaveAgreement(id, &asking) }
        if self.isFighting(id), let battle = self.live(id)?.value.battle { self.leaveFight(id, battle) }
    }

    /// The others go on; when all have left, the battle ends.
    private mutating func leaveFight(_ live: LiveID, _ id: BattleID) {
        guard var battle = self.battle(id), let side = battle.side(of: live) else { return }
        battle.view?.sides[side].hasLeft = true
        self.set(battle.id, battle)
        for viewer in self.lives(hearing: battle) {
            self.touch(viewer, .battleUserExited(battle: battle.id, live: live))
        }
        if battle.view?.sides.allSatisfy(\.hasLeft) == true { self.finish(&battle, .allMemberExit) }
    }

    /// Changes scores, by the app's server alone; each live has its own result: 0, or why nothing changed.
    mutating func updateScores(
        _ id: BattleID, _ operation: ScoreOperation, _ scores: [ScoreUpdate], _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        guard caller.role == .server else { throw ReplyError(.noPermission, "only the app's server sets scores") }
        guard var battle = self.battle(id) else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        guard (1...Limits.coHostLives).contains(scores.count) else {
            throw ReplyError(.badParameter, "an update names 1 to \(Limits.coHostLives) lives")
        }
        var isChanged = false
        let codes = scores.map { update in
            LiveCode(live: update.live, code: Self.apply(update, operation, to: &battle, &isChanged))
        }
        guard isChanged else { return .scores(codes: codes) }
        battle.isDirty = true
        self.set(battle.id, battle)
        if battle.publishedAt.map({ $0 + Battle.publishInterval <= self.moment.now }) ?? true {
            self.publishScores(&battle)
        }
        return .scores(codes: codes)
    }

    private static func apply(
        _ update: ScoreUpdate, _ operation: ScoreOperation, to battle: inout Battle, _ isChanged: inout Bool
    ) -> Int {
        if battle.isAsking { return ReplyCode.battleNotStarted.code }
        guard battle.isFighting else { return ReplyCode.battleOver.code }
        guard let side = battle.side(of: update.live), let last = battle.view?.sides[side].score else {
            return ReplyCode.roomNotInBattle.code
        }
        let base = operation == .accumulate ? last : 0
        let (score, overflow) = base.addingReportingOverflow(update.score)
        guard !overflow, (0...Self.maxScore).contains(score) else { return ReplyCode.badParameter.code }
        if score != last {
            battle.view?.sides[side].score = score
            isChanged = true
        }
        return 0
    }

    /// A battle by its id, or the one that `live` takes part in or agrees on, the last one's result too.
    mutating func battleInfo(_ id: BattleID?, of live: LiveID?, _ caller: Caller) throws(ReplyError) -> CallResult {
        guard caller.role == .server else { throw ReplyError(.noPermission, "only the app's server asks for battles") }
        if let id {
            guard let battle = self.battle(id) else {
                throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
            }
            return .battleInfo(details: battle.details)
        }
        guard let live, let row = self.live(live) else {
            throw ReplyError(.noSuchRoom, "the live does not exist or has ended")
        }
        guard let battle = self.battle(row.value.battleRequest ?? row.value.battle),
            battle.view?.sides.contains(where: { $0.live == live }) ?? true
        else {
            throw ReplyError(.noBattleInRoom, "the live has no battle")
        }
        return .battleInfo(details: battle.details)
    }
}
