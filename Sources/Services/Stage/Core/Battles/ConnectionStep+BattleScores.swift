// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel

/// The scores of battles (docs/RULES.md: R10.5, R10.14, R10.16, I14).
extension ConnectionStep {
    /// The maximum score.
    ///
    /// Clients may read JSON numbers as doubles, which represent every whole number exactly only up to 2^53.
    static let maxScore: Int64 = 1 << 53

    /// Changes scores; only the app's server may do this.
    ///
    /// The result has one code for each live: 0, or the reason why its score was not accepted.
    mutating func updateScores(
        _ id: BattleID, _ operation: ScoreOperation, _ scores: [ScoreUpdate], _ caller: Caller
    ) throws(ReplyError) -> CallResult {
        guard caller.role == .server else { throw ReplyError(.noPermission, "only the app's server may set scores") }
        guard var battle = self.battle(id) else {
            throw ReplyError(.noSuchBattle, "the battle does not exist or has ended")
        }
        guard (1...Limits.coHostLives).contains(scores.count) else {
            throw ReplyError(
                .badParameter, "scores names \(scores.count) lives; 1 to \(Limits.coHostLives) are possible")
        }
        var isChanged = false
        let codes = scores.map { update in
            LiveCode(live: update.live, code: Self.apply(update, operation, to: &battle, &isChanged))
        }
        guard isChanged else { return .scores(codes: codes) }
        battle.isDirty = true
        self.setBattle(battle.id, battle)
        // The first scores are published at once. If the last publication is too recent, the scores are published when
        // the battle falls due (`Battle.due`).
        let nextPublishTime = battle.publishedAt.map { $0 + Battle.publishInterval }
        if nextPublishTime.map({ $0 <= self.moment.now }) ?? true { self.publishScores(&battle) }
        return .scores(codes: codes)
    }

    /// Applies one update and sets `isChanged` if it changes the score.
    ///
    /// - Returns: 0 if the update is accepted, otherwise the reply code that says why not.
    private static func apply(
        _ update: ScoreUpdate, _ operation: ScoreOperation, to battle: inout Battle, _ isChanged: inout Bool
    ) -> Int {
        if battle.isRequested { return ReplyCode.battleNotStarted.code }
        guard battle.isRunning else { return ReplyCode.battleOver.code }
        guard let index = battle.sideIndex(of: update.live), let oldScore = battle.view?.sides[index].score else {
            return ReplyCode.roomNotInBattle.code
        }
        let base = operation == .accumulate ? oldScore : 0
        let (score, hasOverflowed) = base.addingReportingOverflow(update.score)
        guard !hasOverflowed, (0...Self.maxScore).contains(score) else { return ReplyCode.badParameter.code }
        if score != oldScore {
            battle.view?.sides[index].score = score
            isChanged = true
        }
        return 0
    }

    /// Publishes the scores to the seat machines of all lives that are notified of the battle, at the end of the step.
    mutating func publishScores(_ battle: inout Battle) {
        battle.isDirty = false
        battle.publishedAt = self.moment.now
        self.setBattle(battle.id, battle)
        for live in self.lives(notifiedOf: battle) { self.markChanged(live, .battleScored(battle: battle.id)) }
    }
}
