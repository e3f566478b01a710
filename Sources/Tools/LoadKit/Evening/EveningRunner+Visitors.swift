// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// Sets the scores of the battles that visitors start.
///
/// Visitors are people who try the gateway's web pages during an evening.
/// Only an app's server may set scores. The server of the evening's app sets the score of a live to the price of the
/// gifts that the live has got during the battle.
extension EveningRunner {
    /// The maximum number of lives whose battles are read in one round.
    private static let maxVisitedLives = 20
    /// The pause between two rounds.
    private static let visitPause = Duration.seconds(2)

    /// Sets scores in rounds until the task is cancelled.
    ///
    /// The battle of the evening's first two lives is left out, because the script sets its scores.
    func scoreBattlesOfVisitors() async {
        var scores = GiftScores()
        while !Task.isCancelled {
            let battles = await self.readBattlesOfVisitors()
            scores.forgetBattles(except: Set(battles.map(\.id)))
            for battle in battles {
                let updates = scores.updates(of: battle, coins: await self.readGiftCoins(of: battle.sides.map(\.live)))
                if updates.isEmpty { continue }
                // Operation 2 replaces a score.
                let params = CallParams(battle: battle.id, operation: 2, scores: updates)
                await self.appServer.call(EveningCall("battle.score", params))
            }
            try? await Task.sleep(for: Self.visitPause)
        }
    }

    /// Reads the running battles of the listed lives, without the evening's first two lives.
    private func readBattlesOfVisitors() async -> [BattleView] {
        let list = await self.appServer.result(of: EveningCall("live.list", CallParams(count: Self.maxVisitedLives)))
        guard case .success(.lives(let entries, _)) = list else { return [] }
        let ownLives = self.cast.prefix(2).map { LiveID($0.id) }
        var battles: [BattleView] = []
        for live in entries.map(\.info.liveID) where !ownLives.contains(live) {
            let result = await self.appServer.result(of: EveningCall("stage.get", CallParams(live: live)))
            guard case .success(.stage(let record?)) = result, let battle = record.battle, battle.ended == nil,
                !battles.contains(where: { $0.id == battle.id })
            else { continue }
            battles.append(battle)
        }
        return battles
    }

    /// Reads the total price of the gifts that each live has got; a live that cannot be read is missing in the result.
    private func readGiftCoins(of lives: [LiveID]) async -> [LiveID: Int64] {
        var coins: [LiveID: Int64] = [:]
        for live in lives {
            let result = await self.appServer.result(of: EveningCall("live.summary", CallParams(live: live)))
            guard case .success(.statistics(let statistics, _)) = result else { continue }
            coins[live] = statistics.totalGiftCoins
        }
        return coins
    }
}
