// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Scores of battles: the score of a live is the price of the gifts that it has got since the battle was first seen.
struct GiftScores: Sendable {
    /// For each side, the price of all its gifts at the time when its score was 0.
    private var coinsAtBegin: [BattleID: [LiveID: Int64]] = [:]

    /// Returns the scores to set, so that each side has the price of its gifts.
    ///
    /// - Parameters:
    ///   - battle: a battle that runs.
    ///   - coins: the price of all gifts that each live has got so far; a live that is missing keeps its score.
    /// - Returns: an update for each side whose score is too low.
    mutating func updates(of battle: BattleView, coins: [LiveID: Int64]) -> [ScoreUpdate] {
        var updates: [ScoreUpdate] = []
        for side in battle.sides {
            guard let coins = coins[side.live] else { continue }
            // A battle that was forgotten after a failed read continues with the score that it has.
            let begin = self.coinsAtBegin[battle.id, default: [:]][side.live] ?? coins - side.score
            self.coinsAtBegin[battle.id, default: [:]][side.live] = begin
            if coins - begin > side.score { updates.append(ScoreUpdate(live: side.live, score: coins - begin)) }
        }
        return updates
    }

    /// Forgets all other battles.
    mutating func forgetBattles(except battles: Set<BattleID>) {
        self.coinsAtBegin = self.coinsAtBegin.filter { battles.contains($0.key) }
    }
}
