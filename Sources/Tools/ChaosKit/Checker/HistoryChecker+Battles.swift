// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of battles (I14, I15).
extension HistoryChecker {
    /// Checks that each battle has one begin and one end in each live, and that its final scores are exact and the same
    /// for all clients.
    static func checkBattles(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for (battle, sums) in history.battles.sorted(by: { $0.key.text < $1.key.text }) {
            var finalScores: Set<[LiveID: Int64]> = []
            for feed in history.feeds where sums[feed.live] != nil {
                findings += self.findings(in: feed, of: battle, sums, finalScores: &finalScores)
            }
            if finalScores.count > 1 {
                findings.append(
                    Finding(promise: "I14", text: "battle \(battle.text) has \(finalScores.count) different results"))
            }
        }
        return findings
    }

    /// Checks what one client received about a battle, and adds the final scores that it received to `finalScores`.
    private static func findings(
        in feed: FeedHistory, of battle: BattleID, _ sums: [LiveID: SumBounds],
        finalScores: inout Set<[LiveID: Int64]>
    ) -> [Finding] {
        var begins = 0
        var ends = 0
        var result: [LiveID: Int64]?
        var findings: [Finding] = []
        let context = "battle \(battle.text), \(feed.client) in \(feed.live)"
        for case .stage(let record, let events) in feed.contents {
            begins += events.filter { $0 == .battleStarted(battle: battle) }.count
            for case .battleEnded(battle, _) in events { ends += 1 }
            guard let view = record.battle, view.id == battle, view.ended != nil else { continue }
            let scores = Dictionary(view.sides.map { ($0.live, $0.score) }, uniquingKeysWith: { first, _ in first })
            if let result, result != scores {
                findings.append(Finding(promise: "I14", text: "\(context): the scores changed after the end"))
            }
            result = scores
        }
        // After a gap the client reads the stage again, and does not receive the events during the gap.
        let hasGap = feed.steps.contains(.gap)
        if begins != 1, !hasGap || begins > 1 {
            findings.append(Finding(promise: "I14", text: "\(context): \(begins) begins"))
        }
        if ends != 1, !hasGap || ends > 1 {
            findings.append(Finding(promise: "I14", text: "\(context): \(ends) ends"))
        }
        guard let result else { return findings }
        finalScores.insert(result)
        for (live, sum) in sums.sorted(by: { $0.key.text < $1.key.text }) {
            let score = result[live] ?? 0
            if !sum.range.contains(score) {
                let expected = sum.unanswered == 0 ? "\(sum.acknowledged)" : "\(sum.range)"
                findings.append(
                    Finding(promise: "I14", text: "\(context): \(live) ends with \(score) instead of \(expected)"))
            }
        }
        return findings
    }
}
