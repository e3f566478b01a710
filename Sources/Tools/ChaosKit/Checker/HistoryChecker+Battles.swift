// SPDX-License-Identifier: Apache-2.0
internal import PlazaModel

/// The checks of battles (I14, I15).
extension HistoryChecker {
    /// What one client received about one battle.
    ///
    /// A gap is a place in a client's feed at which items may be missing.
    private struct Observation {
        var startCount = 0
        var endCount = 0
        /// The final scores, in the order in which the client received them.
        var results: [[LiveID: Int64]] = []
        /// Whether a gap may hide the start.
        var mayMissStart = false
        /// Whether a gap may hide the end.
        var mayMissEnd = false
        /// The number of the last item that shows the battle running.
        var lastRunningItem: Int64?

        /// Whether the client received several starts, or none although no gap may hide it.
        var hasWrongStartCount: Bool { self.startCount > 1 || self.startCount == 0 && !self.mayMissStart }
        /// Whether the client received several ends, or none although no gap may hide it.
        var hasWrongEndCount: Bool { self.endCount > 1 || self.endCount == 0 && !self.mayMissEnd }
    }

    /// Checks that each client got one start and one end of each battle of its live, and that the final scores are the
    /// sums of the calls and equal for all clients.
    static func checkBattles(_ history: RoundHistory) -> [Finding] {
        var findings: [Finding] = []
        for (battle, lives) in history.battles.sorted(by: { $0.key.text < $1.key.text }) {
            // The bounds of each side's score, from the calls that were sent.
            let bounds = Self.scoreBounds(of: battle, lives, history)
            var results = Set(history.battleReads.filter { $0.battle == battle && $0.hasEnded }.map(\.scores))
            // The clients that received no end because of a gap.
            var clientsWithHiddenEnd: [String] = []
            for feed in history.feedsAndLogs where lives.contains(feed.live) && !feed.hasLeft {
                let observation = Self.observation(of: battle, in: feed)
                let context = "battle \(battle.text), \(feed.client) in \(feed.live)"
                if observation.hasWrongStartCount {
                    findings.append(Finding(promise: "I14", text: "\(context): \(observation.startCount) begins"))
                }
                if observation.hasWrongEndCount {
                    let lastSeen = observation.lastRunningItem.map { ", and ran as of item \($0)" } ?? ""
                    findings.append(
                        Finding(
                            promise: "I14",
                            text: "\(context): \(observation.endCount) ends\(observation.endCount == 0 ? lastSeen : "")"
                        ))
                } else if observation.endCount == 0 {
                    clientsWithHiddenEnd.append(feed.client)
                }
                if Set(observation.results).count > 1 {
                    findings.append(Finding(promise: "I14", text: "\(context): the scores changed after the end"))
                }
                guard let result = observation.results.last else { continue }
                results.insert(result)
                findings += Self.scoreFindings(context, result, bounds)
            }
            if results.count > 1 {
                findings.append(
                    Finding(promise: "I14", text: "battle \(battle.text) has \(results.count) different results"))
            }
            // If gaps hide the end from clients, somebody must have got or read the result all the same.
            if results.isEmpty, let client = clientsWithHiddenEnd.first {
                findings.append(
                    Finding(
                        promise: "I14", text: "battle \(battle.text): \(client) missed its end, and nobody read it"))
            }
        }
        return findings
    }

    /// Checks the battles' results that the app's server read from the state after each battle.
    static func checkBattleReads(_ history: RoundHistory) -> [Finding] {
        history.battleReads.flatMap { read -> [Finding] in
            let context = "battle \(read.battle.text), as read after its end"
            guard read.hasEnded else { return [Finding(promise: "I14", text: "\(context): it still runs")] }
            let lives = history.battles[read.battle] ?? []
            return Self.scoreFindings(context, read.scores, Self.scoreBounds(of: read.battle, lives, history))
        }
    }

    /// The bounds of each side's score, which is the sum of the scores of its calls.
    ///
    /// A call without an answer may or may not have been applied.
    private static func scoreBounds(
        of battle: BattleID, _ lives: Set<LiveID>, _ history: RoundHistory
    ) -> [LiveID: SumBounds] {
        Dictionary(
            uniqueKeysWithValues: lives.map { live in
                let bounds = history.calls.bounds { call in
                    guard call.live == live, case .score(battle, let score) = call.call else { return nil }
                    return score
                }
                return (live, bounds)
            })
    }

    /// One finding for each side whose score in `result` is out of its bounds.
    private static func scoreFindings(
        _ context: String, _ result: [LiveID: Int64], _ boundsByLive: [LiveID: SumBounds]
    ) -> [Finding] {
        boundsByLive.sorted { $0.key.text < $1.key.text }.compactMap { live, bounds in
            let score = result[live] ?? 0
            guard !bounds.range.contains(score) else { return nil }
            return Finding(promise: "I14", text: "\(context): \(live) ends with \(score) instead of \(bounds.text)")
        }
    }

    /// Collects what one client received about a battle.
    ///
    /// A gap hides the battle events of the stages that the client missed. The client gets the current stage after the
    /// gap. So a gap can hide the start only if no stage without the battle comes between the gap and the first stage
    /// with the battle. A gap can hide the end only if it lies between the last stage in which the battle runs and the
    /// next stage.
    private static func observation(of battle: BattleID, in feed: FeedHistory) -> Observation {
        var observation = Observation()
        // Whether there was a gap since the last stage that tells whether the battle runs.
        var hasGap = false
        // Whether a stage so far shows the battle or one of its events.
        var hasSeenBattle = false
        // Whether a later stage no longer shows the battle running.
        var isOver = false
        for step in feed.steps {
            // A removal from the live is a gap too.
            guard case .item(_, let number, let content, _) = step else {
                hasGap = true
                continue
            }
            guard case .stage(let record, let events) = content else { continue }
            let startCount = events.filter { $0 == .battleStarted(battle: battle) }.count
            let endCount = events.filter { if case .battleEnded(battle, _) = $0 { true } else { false } }.count
            observation.startCount += startCount
            observation.endCount += endCount
            // The battle as this stage shows it.
            let view = record.battle.flatMap { $0.id == battle ? $0 : nil }
            if !hasSeenBattle, view != nil || startCount + endCount > 0 {
                observation.mayMissStart = hasGap
                hasSeenBattle = true
            }
            if let view, view.ended == nil {
                hasGap = false
                observation.lastRunningItem = number
            } else if hasSeenBattle, !isOver {
                observation.mayMissEnd = hasGap
                isOver = true
            } else if !hasSeenBattle {
                // The battle has not begun at this stage, so earlier gaps do not hide its start.
                hasGap = false
            }
            if let view, view.ended != nil {
                observation.results.append(
                    Dictionary(view.sides.map { ($0.live, $0.score) }, uniquingKeysWith: { first, _ in first }))
            }
        }
        if !hasSeenBattle {
            // A gap may hide the whole battle.
            let hasAnyGap = !feed.isComplete
            (observation.mayMissStart, observation.mayMissEnd) = (hasAnyGap, hasAnyGap)
        } else if !isOver {
            observation.mayMissEnd = hasGap
        }
        return observation
    }
}
