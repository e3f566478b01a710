// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel

/// A small history (what clients sent and received in a round) that keeps all promises; tests change it to break one.
enum HistoryFixture {
    static let live = LiveID("concert")
    static let battle = BattleID("b-1")
    static let bob = UserInfo(userID: UserID("bob"))
    static let rose = Gift(giftID: GiftID("rose"), name: "Rose", coins: 3)

    /// The findings in a history after a change that breaks a promise.
    static func findings(_ breakPromise: (inout RoundHistory) -> Void) -> [String] {
        var history = Self.history()
        breakPromise(&history)
        return HistoryChecker.findings(in: history).map(\.description)
    }

    /// Two clients of one live, Alice and Eve, who both got the items 1 to 4 of epoch 1.
    ///
    /// The items are two texts, a stage with a battle that ends with the score 7, and the live's end.
    static func history() -> RoundHistory {
        var history = RoundHistory()
        let steps = [Self.text(1, "one"), Self.text(2, "two"), Self.stage(3, score: 7), Self.end(4)]
        history.feeds = ["alice", "eve"].map { FeedHistory(client: $0, live: Self.live, steps: steps) }
        history.neverLeft = [Self.bob.userID]
        history.endedLives = [Self.live]
        history.battles = [Self.battle: [Self.live]]
        // Each message was acknowledged with the number of its item in the feed; "three" had no reply.
        history.calls = [
            Self.message("one", .acknowledged(number: 1)), Self.message("two", .acknowledged(number: 2)),
            Self.message("three", .unanswered), Self.score(7, .acknowledged()),
        ]
        history.requests = [.init(name: "eve's application", ends: ["accepted"])]
        history.counts = [.init(live: Self.live, members: 2, lastCount: 2)]
        return history
    }

    static func message(_ id: String, _ outcome: CallRecord.Outcome, isMuted: Bool = false) -> CallRecord {
        CallRecord(client: "bob", live: Self.live, .message(id, isMuted: isMuted), outcome)
    }

    static func score(_ score: Int64, _ outcome: CallRecord.Outcome) -> CallRecord {
        CallRecord(client: "the app's server", live: Self.live, .score(Self.battle, score), outcome)
    }

    /// The finding that item 2 was acknowledged and is missing.
    static func lossFinding(_ text: String, _ client: String, _ neighbors: String) -> String {
        "I8: \"\(text)\" in concert was acknowledged, and \(client) never got it (it got \(neighbors), not 2)"
    }

    /// The finding that a total of the live's end is not that of the feed.
    static func totalFinding(_ client: String, _ total: String, _ count: String) -> String {
        "I15: concert ended, as \(client) was told, with \(total), and its feed has \(count)"
    }

    /// Item `number` of epoch 1, received `number` milliseconds after 01:00.
    static func item(_ number: Int64, _ content: FeedContent) -> FeedHistory.Step {
        .item(epoch: 1, number: number, content: content, at: Timestamp(milliseconds: 3_600_000 + number))
    }

    static func text(_ number: Int64, _ text: String) -> FeedHistory.Step {
        self.item(number, .text(sender: self.bob, text: text, extensionInfo: nil))
    }

    /// The end of the live with its totals.
    static func end(_ number: Int64, messages: Int64 = 2, gifts: Int64 = 0, likes: Int64 = 0) -> FeedHistory.Step {
        let statistics = LiveStatistics(
            totalGiftsSent: gifts, totalGiftCoins: gifts * self.rose.coins, totalLikesReceived: likes,
            totalMessageCount: messages)
        return self.item(number, .liveEnded(reason: .endedByHost, statistics: statistics))
    }

    /// A stage with the battle and its events: `begins` times its begin and `ends` times its end.
    ///
    /// If `ends` is -1, the battle still runs.
    static func stage(_ number: Int64, score: Int64, begins: Int = 1, ends: Int = 1) -> FeedHistory.Step {
        let view = BattleView(
            id: self.battle, extensionInfo: "", durationSeconds: 9, startTime: Timestamp(milliseconds: 0),
            endTime: Timestamp(milliseconds: 9000), sides: [BattleSide(live: self.live, host: self.bob, score: score)],
            ended: ends < 0 ? nil : .timeOver)
        let events =
            Array(repeating: StageEvent.battleStarted(battle: self.battle), count: begins)
            + Array(
                repeating: StageEvent.battleEnded(battle: self.battle, reason: .timeOver), count: max(0, ends))
        return self.stage(number, view, events)
    }

    /// A stage in which the battle still runs.
    static func runningBattle(_ number: Int64, begins: Int = 1) -> FeedHistory.Step {
        self.stage(number, score: 0, begins: begins, ends: -1)
    }

    /// A stage with the battle `view` and these events; nil for no battle.
    static func stage(_ number: Int64, _ view: BattleView? = nil, _ events: [StageEvent] = []) -> FeedHistory.Step {
        let record = StageRecord(
            app: AppID("demo"), live: self.live, epoch: 1, revision: number, seats: [], battle: view)
        return self.item(number, .stage(record: record, events: events))
    }
}
