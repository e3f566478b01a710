// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// Computes the scores of battles: a live's score is the total price of the gifts that it has got since the battle was
/// first seen.
struct GiftScores: Sendable {
    /// For each side of a battle, the total price of its gifts that corresponds to a score of 0.
    private var coinsAtBegin: [BattleID: [LiveID: Int64]] = [:]

    /// Returns the scores to set, so that each side has the price of its gifts.
    ///
    /// - Parameters:
    ///   - battle: a battle that runs.
    ///   - coins: the total price of the gifts that each live has got so far; a live that is missing keeps its score.
    /// - Returns: an update for each side whose score is too low.
    mutating func updates(of battle: BattleView, coins: [LiveID: Int64]) -> [ScoreUpdate] {
        var updates: [ScoreUpdate] = []
        for side in battle.sides {
            guard let coins = coins[side.live] else { continue }
            // A battle may be new, or forgotten after a failed read. It continues with the score that it has.
            let begin = self.coinsAtBegin[battle.id, default: [:]][side.live] ?? coins - side.score
            self.coinsAtBegin[battle.id, default: [:]][side.live] = begin
            if coins - begin > side.score { updates.append(ScoreUpdate(live: side.live, score: coins - begin)) }
        }
        return updates
    }

    /// Forgets all battles but these.
    mutating func forgetBattles(except battles: Set<BattleID>) {
        self.coinsAtBegin = self.coinsAtBegin.filter { battles.contains($0.key) }
    }
}
