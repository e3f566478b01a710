// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel
internal import ProtocolClient

/// Scores the battles of visitors, who try the web pages that the gateway serves.
///
/// Only an app's server may set scores; here it sets them to the price of the gifts.
extension EveningRunner {
    /// The most lives that are looked at in one round.
    private static let maxVisitedLives = 20
    /// The pause between two rounds.
    private static let visitPause = Duration.seconds(2)

    /// Scores the gifts in all battles except the battle of the first two lives, which the script scores.
    func scoreBattlesOfVisitors() async {
        var scores = GiftScores()
        while !Task.isCancelled {
            let battles = await self.readBattlesOfVisitors()
            scores.keep(Set(battles.map(\.id)))
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

    /// Reads which battles run in the listed lives other than the evening's first two.
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

    /// Reads the price of all gifts that each live has got; leaves lives out that cannot be read.
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
