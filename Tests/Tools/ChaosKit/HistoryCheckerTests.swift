// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the checker finds each kind of broken promise, and nothing in a history without one.
struct HistoryCheckerTests {
    private static let live = LiveID("concert")
    private static let battle = BattleID("b-1")
    private static let bob = UserInfo(userID: UserID("bob"))

    @Test func `a history that keeps all promises has no finding`() {
        #expect(HistoryChecker.findings(in: Self.history()) == [])
    }

    @Test func `an item that was never received is found`() {
        let findings = Self.findings { $0.feeds[1].steps.remove(at: 1) }
        #expect(
            findings == ["I7: eve in concert lacks items 2 to 2, without a gap announced", Self.lost("two", "eve")])
    }

    @Test func `after an announced gap, items may be missing`() {
        #expect(Self.findings { $0.feeds[1].steps[1] = .gap } == [])
    }

    @Test func `an announced gap excuses only the items in it`() {
        let findings = Self.findings { history in
            history.feeds[1].steps.remove(at: 1)
            history.feeds[1].steps.insert(.gap, at: 2)
        }
        #expect(
            findings == ["I7: eve in concert lacks items 2 to 2, without a gap announced", Self.lost("two", "eve")])
    }

    @Test(arguments: [(0, [1]), (1, [2]), (2, [3, 4, 5]), (3, [4, 5])])
    func `a gap hides the numbers between its neighbours`(index: Int, hidden: [Int64]) {
        var feed = FeedHistory(
            client: "eve", live: Self.live, steps: [Self.text(1, "one"), Self.text(2, "two"), Self.text(3, "three")])
        if index < 3 { feed.steps[index] = .gap } else { feed.steps.append(.gap) }
        #expect((1...5).filter { feed.hasGap(at: $0) } == hidden)
    }

    @Test func `an item that was received twice is found`() {
        let findings = Self.findings { $0.feeds[1].steps.insert($0.feeds[1].steps[1], at: 2) }
        #expect(findings.contains("I7: eve in concert got item 2 again or late, after 2"))
        #expect(findings.contains { $0.hasPrefix("I15: eve got \"two\" in concert 2 times") })
    }

    @Test func `items that were swapped are found`() {
        let findings = Self.findings { $0.feeds[1].steps.swapAt(0, 1) }
        #expect(findings.contains("I7: eve in concert got item 1 again or late, after 2"))
    }

    @Test func `an item whose content differs between clients is found`() {
        let findings = Self.findings { $0.feeds[1].steps[0] = Self.text(1, "other") }
        #expect(findings.contains("I7: item 1 of concert differs between alice and eve"))
    }

    @Test func `a message that was applied twice under two numbers is found`() {
        let findings = Self.findings { history in
            for index in history.feeds.indices { history.feeds[index].steps.insert(Self.text(3, "two"), at: 2) }
            for index in history.feeds.indices { history.feeds[index].steps[3] = Self.stage(4, score: 7) }
            for index in history.feeds.indices { history.feeds[index].steps[4] = Self.end(5) }
        }
        #expect(findings.contains("I15: alice got \"two\" in concert 2 times: [2, 3]"))
    }

    @Test func `a message whose number differs from that of its reply is found`() {
        let findings = Self.findings { $0.texts[Self.live]?["one"] = 9 }
        #expect(findings.contains("I7: \"one\" in concert was acknowledged as item 9 and came as 1"))
    }

    @Test(arguments: [Int64(6), 8, 14]) func `a score that is off, or a score that counted twice, is found`(
        _ score: Int64
    ) {
        let findings = Self.findings { history in
            for index in history.feeds.indices { history.feeds[index].steps[2] = Self.stage(3, score: score) }
        }
        #expect(findings.contains("I14: battle b-1, alice in concert: concert ends with \(score) instead of 7"))
    }

    @Test func `an unanswered score may count or not`() {
        for score in [Int64(7), 9] {
            let findings = Self.findings { history in
                history.battles[Self.battle]?[Self.live]?.unanswered = 2
                for index in history.feeds.indices { history.feeds[index].steps[2] = Self.stage(3, score: score) }
            }
            #expect(findings == [])
        }
    }

    @Test func `two results of one battle are found`() {
        let findings = Self.findings { history in
            history.battles[Self.battle]?[Self.live]?.unanswered = 2
            history.feeds[1].steps[2] = Self.stage(3, score: 9)
        }
        #expect(findings.contains("I14: battle b-1 has 2 different results"))
    }

    @Test(arguments: [0, 2]) func `a battle that ends twice or never is found`(_ ends: Int) {
        let findings = Self.findings { history in
            for index in history.feeds.indices { history.feeds[index].steps[2] = Self.stage(3, score: 7, ends: ends) }
        }
        #expect(findings.contains("I14: battle b-1, alice in concert: \(ends) ends"))
    }

    @Test func `a live that ends twice, or not for somebody, is found`() {
        #expect(
            Self.findings { $0.feeds[1].steps.removeLast() }.contains(
                "I1: eve was told 0 times that concert ended, not 1"))
        #expect(
            Self.findings { $0.feeds[1].steps.append(Self.end(5)) }.contains(
                "I1: eve was told 2 times that concert ended, not 1"))
        #expect(
            Self.findings { $0.feeds[1].steps.append(Self.text(5, "late")) }.contains(
                "I1: eve got items of concert after its end"))
    }

    @Test(arguments: [[], ["accepted", "timed out"]]) func `a request without an end, or with two, is found`(
        _ ends: [String]
    ) {
        let findings = Self.findings { $0.requests = [.init(name: "eve's application", ends: ends)] }
        #expect(findings.count == 1 && findings[0].hasPrefix("I13: eve's application has \(ends.count) ends"))
    }

    @Test func `a false leave is found, and a true one is not`() {
        let leave: (inout RoundHistory) -> Void = { history in
            for index in history.feeds.indices {
                history.feeds[index].steps[0] = .item(epoch: 1, number: 1, content: .audienceLeft(user: Self.bob))
            }
            history.texts = [:]
        }
        #expect(Self.findings(leave).contains("I5: alice was told that bob left concert, who never did"))
        #expect(
            Self.findings { history in
                leave(&history)
                history.neverLeft = []
            } == [])
    }

    @Test(arguments: [nil, 3]) func `a count that stays wrong is found`(_ lastCount: Int?) {
        let findings = Self.findings { $0.counts[0].lastCount = lastCount }
        let text = lastCount.map(String.init) ?? "unknown"
        #expect(findings == ["I5: concert has 2 viewers, and its count stayed \(text)"])
    }

    @Test func `a call that stays unanswered is found`() {
        #expect(Self.findings { $0.stalls = ["alice's seat.apply had no answer for 30 s"] }.count == 1)
    }

    // MARK: The history

    /// The findings in a history after a change that breaks a promise.
    private static func findings(_ breakPromise: (inout RoundHistory) -> Void) -> [String] {
        var history = Self.history()
        breakPromise(&history)
        return HistoryChecker.findings(in: history).map(\.description)
    }

    /// Two clients of one live: two texts, a battle that ends with 7, and the live's end.
    private static func history() -> RoundHistory {
        var history = RoundHistory()
        let steps = [Self.text(1, "one"), Self.text(2, "two"), Self.stage(3, score: 7), Self.end(4)]
        history.feeds = ["alice", "eve"].map { FeedHistory(client: $0, live: Self.live, steps: steps) }
        history.neverLeft = [Self.bob.userID]
        history.endedLives = [Self.live]
        history.battles = [Self.battle: [Self.live: SumBounds(acknowledged: 7)]]
        // The feed number that the reply to each message named; "three" had no reply.
        history.texts = [Self.live: ["one": 1, "two": 2, "three": nil]]
        history.requests = [.init(name: "eve's application", ends: ["accepted"])]
        history.counts = [.init(live: Self.live, members: 2, lastCount: 2)]
        return history
    }

    private static func lost(_ text: String, _ client: String) -> String {
        "I8: \"\(text)\" in concert was acknowledged, and \(client) never got it"
    }

    private static func text(_ number: Int64, _ text: String) -> FeedHistory.Step {
        .item(epoch: 1, number: number, content: .text(sender: self.bob, text: text, extensionInfo: nil))
    }

    private static func end(_ number: Int64) -> FeedHistory.Step {
        .item(
            epoch: 1, number: number, content: .liveEnded(reason: .endedByHost, statistics: LiveStatistics()))
    }

    private static func stage(_ number: Int64, score: Int64, ends: Int = 1) -> FeedHistory.Step {
        let view = BattleView(
            id: self.battle, extensionInfo: "", durationSeconds: 9, startTime: Timestamp(milliseconds: 0),
            endTime: Timestamp(milliseconds: 9000), sides: [BattleSide(live: self.live, host: self.bob, score: score)],
            ended: .timeOver)
        let record = StageRecord(app: AppID("demo"), live: self.live, epoch: 1, revision: 1, seats: [], battle: view)
        let events =
            [StageEvent.battleStarted(battle: self.battle)]
            + Array(repeating: StageEvent.battleEnded(battle: self.battle, reason: .timeOver), count: ends)
        return .item(epoch: 1, number: number, content: .stage(record: record, events: events))
    }
}
