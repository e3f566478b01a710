// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel

/// A small history that keeps all promises; tests change it to break one.
///
/// A history is what the clients of a chaos run's round sent and received.
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
    /// Items 1 and 2 are texts of Bob, item 3 is a stage with a battle that ends with the score 7, and item 4 is the
    /// live's end. The live had two viewers, and its last count was 2.
    static func history() -> RoundHistory {
        var history = RoundHistory()
        let steps = [Self.text(1, "one"), Self.text(2, "two"), Self.endedBattle(3, score: 7), Self.end(4)]
        history.feeds = ["alice", "eve"].map { FeedHistory(client: $0, live: Self.live, steps: steps) }
        history.neverLeft = [Self.bob.userID]
        history.endedLives = [Self.live]
        history.battles = [Self.battle: [Self.live]]
        // "one" and "two" were acknowledged with the numbers of their items in the feed. "three" had no reply.
        history.calls = [
            Self.message("one", .acknowledged(number: 1)), Self.message("two", .acknowledged(number: 2)),
            Self.message("three", .unanswered), Self.score(7, .acknowledged()),
        ]
        history.requests = [.init(name: "eve's application", ends: ["accepted"])]
        history.counts = [.init(live: Self.live, members: 2, lastCount: 2)]
        return history
    }

    /// Bob's call that sends a message with this text, or a gift with a text such as `5 × rose of bob`.
    static func message(_ text: String, _ outcome: CallRecord.Outcome, isMuted: Bool = false) -> CallRecord {
        CallRecord(client: "bob", live: Self.live, .message(text, isMuted: isMuted), outcome)
    }

    /// The call that adds `score` to the score of the battle.
    static func score(_ score: Int64, _ outcome: CallRecord.Outcome) -> CallRecord {
        CallRecord(client: "the app's server", live: Self.live, .score(Self.battle, score), outcome)
    }

    /// The finding that the text of item 2 was acknowledged, and that the client's feed lacks this item.
    ///
    /// `neighbors` names the items around the gap that the client got, such as `1 and 3`.
    static func lossFinding(of text: String, client: String, neighbors: String) -> String {
        "I8: \"\(text)\" in concert was acknowledged, and \(client) never got it (it got \(neighbors), not 2)"
    }

    /// The finding that a total in the live's end differs from the total of the client's feed.
    static func totalFinding(client: String, reported: String, received: String) -> String {
        "I15: concert ended, as \(client) was told, with \(reported), and its feed has \(received)"
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

    /// A stage in which the battle has ended; it reports the battle's start `begins` times and its end `ends` times.
    static func endedBattle(_ number: Int64, score: Int64, begins: Int = 1, ends: Int = 1) -> FeedHistory.Step {
        let end = StageEvent.battleEnded(battle: self.battle, reason: .timeOver)
        return self.stage(
            number, self.battleView(score: score, ended: .timeOver),
            Self.beginEvents(begins) + Array(repeating: end, count: ends))
    }

    /// A stage in which the battle still runs; it reports the battle's start `begins` times.
    static func runningBattle(_ number: Int64, begins: Int = 1) -> FeedHistory.Step {
        self.stage(number, self.battleView(score: 0, ended: nil), Self.beginEvents(begins))
    }

    /// A stage without a battle.
    static func stageWithoutBattle(_ number: Int64) -> FeedHistory.Step { self.stage(number, nil, []) }

    private static func stage(_ number: Int64, _ battle: BattleView?, _ events: [StageEvent]) -> FeedHistory.Step {
        let record = StageRecord(
            app: AppID("demo"), live: self.live, epoch: 1, revision: number, seats: [], battle: battle)
        return self.item(number, .stage(record: record, events: events))
    }

    private static func beginEvents(_ count: Int) -> [StageEvent] {
        Array(repeating: .battleStarted(battle: self.battle), count: count)
    }

    private static func battleView(score: Int64, ended: BattleEndReason?) -> BattleView {
        BattleView(
            id: self.battle, extensionInfo: "", durationSeconds: 9, startTime: Timestamp(milliseconds: 0),
            endTime: Timestamp(milliseconds: 9000), sides: [BattleSide(live: self.live, host: self.bob, score: score)],
            ended: ended)
    }
}

extension RoundHistory {
    /// The feed that Eve received; the fixture's first feed is Alice's.
    var eveFeed: FeedHistory {
        get { self.feeds[1] }
        set { self.feeds[1] = newValue }
    }

    /// Replaces the item with this number by another step, in all feeds.
    mutating func replaceItem(_ number: Int64, by step: FeedHistory.Step) {
        for index in self.feeds.indices { self.feeds[index].replaceItem(number, by: step) }
    }
}

extension FeedHistory {
    /// The position in `steps` of the first item with this number.
    func index(ofItem number: Int64) -> Int {
        self.steps.firstIndex { if case .item(_, number, _, _) = $0 { true } else { false } } ?? self.steps.endIndex
    }

    mutating func replaceItem(_ number: Int64, by step: Step) { self.steps[self.index(ofItem: number)] = step }

    mutating func removeItem(_ number: Int64) { self.steps.remove(at: self.index(ofItem: number)) }

    mutating func swapItems(_ first: Int64, _ second: Int64) {
        self.steps.swapAt(self.index(ofItem: first), self.index(ofItem: second))
    }
}
