// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the checker finds broken promises about gifts, likes, metadata, mutes, kicks and bans, and about battles
/// in feeds with gaps.
///
/// `feeds[0]` is Alice's feed and `feeds[1]` Eve's; `steps[n]` is item n + 1.
struct WorkloadCheckerTests {
    private typealias Fixture = HistoryFixture

    /// The fixture's history with a gift of 5 roses (15 coins), likes and metadata; the live's end is item 8.
    private static func findings(_ breakPromise: (inout RoundHistory) -> Void) -> [String] {
        Fixture.findings { history in
            let steps = [
                Fixture.item(4, .gift(sender: Fixture.bob, gift: Fixture.rose, count: 5, receivers: [UserID("host")])),
                Fixture.item(5, .likes(total: 3, sender: Fixture.bob, count: 3)),
                Fixture.item(6, .likes(total: 10, sender: Fixture.bob, count: 7)),
                Fixture.item(7, .metadataChanged(set: ["topic": "tea"], removed: [], revision: 2)),
                Fixture.end(8, gifts: 5, likes: 10),
            ]
            for index in history.feeds.indices {
                history.feeds[index].steps.removeLast()
                history.feeds[index].steps += steps
            }
            history.calls += [
                Fixture.message("5 × rose of bob", .acknowledged(number: 4)), Self.likes(3), Self.likes(7),
                Self.metadataWrite("milk", .acknowledged()), Self.metadataWrite("tea", .acknowledged()),
            ]
            history.metadataReads = ["alice", "eve"].map {
                MetadataRead(client: $0, live: Fixture.live, values: ["topic": "tea"])
            }
            breakPromise(&history)
        }
    }

    private static func likes(_ count: Int64, _ outcome: CallRecord.Outcome = .acknowledged()) -> CallRecord {
        CallRecord(client: "bob", live: Fixture.live, .likes(count), outcome)
    }

    /// A call that sets the key `topic`.
    private static func metadataWrite(_ value: String, _ outcome: CallRecord.Outcome) -> CallRecord {
        CallRecord(client: "host", live: Fixture.live, .metadata(key: "topic", value: value), outcome)
    }

    /// Replaces a step in both feeds; step n is item n + 1.
    private static func replace(_ index: Int, _ step: FeedHistory.Step, in history: inout RoundHistory) {
        for feed in history.feeds.indices { history.feeds[feed].steps[index] = step }
    }

    @Test func `a history with gifts, likes and metadata that keeps all promises has no finding`() {
        #expect(Self.findings { _ in } == [])
    }

    // MARK: Gifts and likes

    @Test func `a gift that was lost is found`() {
        let findings = Self.findings { $0.feeds[1].steps[3] = Fixture.text(4, "instead") }
        #expect(
            findings.contains(
                "I8: \"5 × rose of bob\" in concert was acknowledged, and eve never got it (it got 3 and 5, not 4)"))
    }

    @Test func `a gift that was applied twice is found`() {
        let findings = Self.findings { history in
            for feed in history.feeds.indices { history.feeds[feed].steps[4] = history.feeds[feed].steps[3] }
        }
        #expect(findings.contains { $0.hasPrefix("I15: eve got \"5 × rose of bob\" in concert 2 times") })
    }

    @Test func `a refused message that enters the feed is found`() {
        let findings = Self.findings { $0.calls[1].outcome = .refused }
        #expect(findings.contains("I15: \"two\" in concert was refused, and came to alice"))
    }

    @Test func `likes that are counted twice, and likes that go back, are found`() {
        let tooMany = Self.findings { history in
            Self.replace(5, Fixture.item(6, .likes(total: 17, sender: Fixture.bob, count: 7)), in: &history)
        }
        #expect(tooMany.contains("I15: eve in concert: 17 likes, and 10 were sent"))
        let decreased = Self.findings { history in
            Self.replace(5, Fixture.item(6, .likes(total: 2, sender: Fixture.bob, count: 7)), in: &history)
        }
        #expect(decreased.contains("I15: alice in concert: the likes went from 3 back to 2"))
    }

    @Test(arguments: [Int64(9), 11, 20]) func `a wrong final number of likes is found`(_ likes: Int64) {
        let findings = Self.findings { Self.replace(7, Fixture.end(8, gifts: 5, likes: likes), in: &$0) }
        #expect(findings.contains("I15: concert ended, as eve was told, with \(likes) likes instead of 10"))
    }

    @Test func `likes without an answer may count or not`() {
        for likes in [Int64(10), 14] {
            let findings = Self.findings { history in
                history.calls.append(Self.likes(4, .unanswered))
                Self.replace(7, Fixture.end(8, gifts: 5, likes: likes), in: &history)
            }
            #expect(findings == [])
        }
    }

    @Test func `wrong final numbers of messages, gifts and coins are found`() {
        let findings = Self.findings { Self.replace(7, Fixture.end(8, messages: 3, gifts: 10, likes: 10), in: &$0) }
        #expect(findings.contains(Fixture.totalFinding("alice", "3 messages", "2")))
        #expect(findings.contains(Fixture.totalFinding("alice", "10 gifts", "5")))
        // A rose costs 3 coins: 10 * 3 are 30 coins, and 5 * 3 are 15.
        #expect(findings.contains(Fixture.totalFinding("alice", "30 coins", "15")))
    }

    // MARK: Metadata

    @Test func `metadata that is not the last write is found`() {
        let findings = Self.findings { history in
            for index in history.metadataReads.indices { history.metadataReads[index].values = ["topic": "milk"] }
        }
        #expect(findings.contains("R3.42: eve read \"milk\" as topic of concert, which is not the last write"))
        #expect(findings.contains("R3.42: the last topic that eve got of concert is not what alice read"))
    }

    @Test func `metadata that differs between clients, or is lost, is found`() {
        let findings = Self.findings { $0.metadataReads[1].values = [:] }
        #expect(findings.contains("R3.42: eve and alice read different metadata of concert at the end"))
        #expect(findings.contains("R3.42: eve read nothing as topic of concert, which is not the last write"))
    }

    @Test func `a write without an answer may be the last`() {
        let findings = Self.findings { history in
            history.calls.insert(Self.metadataWrite("late", .unanswered), at: 0)
            Self.replace(
                6, Fixture.item(7, .metadataChanged(set: ["topic": "late"], removed: [], revision: 2)), in: &history)
            for index in history.metadataReads.indices { history.metadataReads[index].values = ["topic": "late"] }
        }
        #expect(findings == [])
    }

    @Test(arguments: [Int64(1), 2]) func `a revision that does not grow is found`(_ revision: Int64) {
        let findings = Self.findings { history in
            Self.replace(
                4, Fixture.item(5, .metadataChanged(set: [:], removed: ["x"], revision: 2)), in: &history)
            Self.replace(
                6, Fixture.item(7, .metadataChanged(set: ["topic": "tea"], removed: [], revision: revision)),
                in: &history)
        }
        #expect(findings.contains("R3.65: eve in concert got item 7 with the revision \(revision) after 2"))
    }

    // MARK: Mutes, kicks and bans

    @Test func `a text of a muted user that was sent is found`() {
        let findings = Self.findings {
            $0.calls.append(Fixture.message("psst", .acknowledged(number: nil), isMuted: true))
        }
        #expect(findings == ["R5.7: bob, who was muted, sent \"psst\" in concert"])
        #expect(Self.findings { $0.calls.append(Fixture.message("psst", .refused, isMuted: true)) } == [])
    }

    @Test func `an item after a kick or ban is found, and one after the return is not`() {
        func visitor(_ steps: [FeedHistory.Step]) -> FeedHistory {
            var feed = FeedHistory(client: "visitor", live: Fixture.live, steps: steps)
            feed.leave()
            return feed
        }
        let afterRemoval = Self.findings {
            $0.feeds.append(visitor([.gap, Fixture.text(1, "one"), .removed, Fixture.text(2, "two")]))
        }
        #expect(afterRemoval == ["I6: visitor was removed from concert, and got item 2 afterwards"])
        let afterReturn = Self.findings {
            $0.feeds.append(visitor([.gap, Fixture.text(1, "one"), .removed, .gap, Fixture.text(2, "two")]))
        }
        #expect(afterReturn == [])
    }

    @Test func `an item that a client reads after its leave does not end the gap of the leave`() {
        var feed = FeedHistory(client: "visitor", live: Fixture.live, steps: [.gap])
        feed.append([Fixture.text(1, "one")])
        feed.leave()
        // The client had received the item before it left.
        feed.append([Fixture.stage(3, score: 7)])
        #expect(feed.hasLeft)
        #expect((1...4).filter { feed.hasGap(at: $0) } == [2, 3, 4])
        #expect(Self.findings { $0.feeds.append(feed) } == [])
    }

    @Test func `an answer that no rule allows is found`() {
        let finding = Finding(promise: "R4.11", text: "visitor was banned, and live.join succeeded")
        #expect(Self.findings { $0.wrongAnswers = [finding] } == [finding.description])
    }

    // MARK: Battles

    /// The findings about the battle when Eve's feed has these steps between the texts and the live's end.
    ///
    /// In the tests below, `runningBattle(3)` is item 3, whose stage shows the battle running. `stage(8)` is item 8,
    /// whose stage shows no battle.
    private static func battleFindings(
        _ steps: [FeedHistory.Step], _ change: (inout RoundHistory) -> Void = { _ in }
    ) -> [String] {
        Fixture.findings { history in
            history.feeds[1].steps =
                [Fixture.text(1, "one"), Fixture.text(2, "two")] + steps + [Fixture.end(9, messages: 2)]
            // Only Eve's feed is checked.
            history.feeds.remove(at: 0)
            change(&history)
        }.filter { $0.hasPrefix("I14") }
    }

    /// The battle's correct result, as it was read after the end.
    private static let correctRead = BattleRead(battle: Fixture.battle, hasEnded: true, scores: [Fixture.live: 7])

    @Test func `a gap during a battle excuses the missing end if the result is read afterwards`() {
        let steps = [Fixture.runningBattle(3), .gap, Fixture.stage(8)]
        #expect(Self.battleFindings(steps) { $0.battleReads = [Self.correctRead] } == [])
        #expect(Self.battleFindings(steps) == ["I14: battle b-1: eve missed its end, and nobody read it"])
    }

    @Test func `a gap elsewhere in the feed does not excuse a missing end`() {
        let expected = ["I14: battle b-1, eve in concert: 0 ends, and ran as of item 4"]
        let gapBefore: [FeedHistory.Step] = [.gap, Fixture.runningBattle(4), Fixture.stage(8)]
        #expect(Self.battleFindings(gapBefore) { $0.battleReads = [Self.correctRead] } == expected)
        let gapAfter: [FeedHistory.Step] = [Fixture.runningBattle(4), Fixture.stage(7), .gap]
        #expect(Self.battleFindings(gapAfter) { $0.battleReads = [Self.correctRead] } == expected)
    }

    @Test func `only a gap directly before a battle excuses the missing begin`() {
        #expect(
            Self.battleFindings([
                .gap, Fixture.runningBattle(4, begins: 0), Fixture.stage(8, score: 7, begins: 0),
            ]) == [])
        #expect(
            Self.battleFindings([
                .gap, Fixture.stage(3), Fixture.runningBattle(4, begins: 0), Fixture.stage(8, score: 7, begins: 0),
            ])
                == ["I14: battle b-1, eve in concert: 0 begins"])
    }

    @Test func `a result that was read and does not agree is found`() {
        let steps = [Fixture.runningBattle(3), .gap, Fixture.stage(8)]
        var wrongRead = Self.correctRead
        wrongRead.scores = [Fixture.live: 8]
        #expect(
            Self.battleFindings(steps) { $0.battleReads = [wrongRead] }
                == ["I14: battle b-1, as read after its end: concert ends with 8 instead of 7"])
        var readOfRunningBattle = Self.correctRead
        readOfRunningBattle.hasEnded = false
        let findings = Self.battleFindings([Fixture.runningBattle(3), Fixture.stage(8, score: 7, begins: 0)]) {
            $0.battleReads = [readOfRunningBattle]
        }
        #expect(findings == ["I14: battle b-1, as read after its end: it still runs"])
    }
}
