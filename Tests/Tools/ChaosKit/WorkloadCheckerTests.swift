// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the checker finds broken promises about gifts, likes, metadata, mutes, kicks and bans, and about battles
/// in feeds with gaps.
///
/// A finding begins with the broken invariant (`I8`) or rule (`R3.42`) of `docs/RULES.md`.
struct WorkloadCheckerTests {
    private typealias Fixture = HistoryFixture

    /// The findings in a history with gifts, likes and metadata, after a change that breaks a promise.
    ///
    /// After the fixture's items 1 to 3 come a gift of 5 roses (15 coins), 3 likes, 7 likes and a change of the topic
    /// from milk to tea; item 8 is the live's end.
    private static func findings(_ breakPromise: (inout RoundHistory) -> Void) -> [String] {
        Fixture.findings { history in
            let stepsAfterBattle = [
                Fixture.item(4, .gift(sender: Fixture.bob, gift: Fixture.rose, count: 5, receivers: [UserID("host")])),
                Fixture.item(5, .likes(total: 3, sender: Fixture.bob, count: 3)),
                Fixture.item(6, .likes(total: 10, sender: Fixture.bob, count: 7)),
                Fixture.item(7, .metadataChanged(set: ["topic": "tea"], removed: [], revision: 2)),
                Fixture.end(8, gifts: 5, likes: 10),
            ]
            for index in history.feeds.indices {
                history.feeds[index].removeItem(4)
                history.feeds[index].steps += stepsAfterBattle
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

    /// Bob's call that sends likes.
    private static func likes(_ count: Int64, _ outcome: CallRecord.Outcome = .acknowledged()) -> CallRecord {
        CallRecord(client: "bob", live: Fixture.live, .likes(count), outcome)
    }

    /// The host's call that sets the key `topic` of the live's metadata.
    private static func metadataWrite(_ value: String, _ outcome: CallRecord.Outcome) -> CallRecord {
        CallRecord(client: "host", live: Fixture.live, .metadata(key: "topic", value: value), outcome)
    }

    @Test func `a history with gifts, likes and metadata that keeps all promises has no finding`() {
        #expect(Self.findings { _ in } == [])
    }

    // MARK: Gifts and likes

    @Test func `a gift that a feed lacks is found`() {
        let findings = Self.findings { $0.eveFeed.replaceItem(4, by: Fixture.text(4, "instead")) }
        #expect(
            findings.contains(
                "I8: \"5 × rose of bob\" in concert was acknowledged, and eve never got it (it got 3 and 5, not 4)"))
    }

    @Test func `a gift that was applied twice is found`() {
        let findings = Self.findings { history in
            let gift = history.eveFeed.steps[history.eveFeed.index(ofItem: 4)]
            history.replaceItem(5, by: gift)
        }
        #expect(findings.contains { $0.hasPrefix("I15: eve got \"5 × rose of bob\" in concert 2 times") })
    }

    @Test func `a rejected message that enters the feed is found`() {
        // The fixture's second call sends "two", which is item 2.
        let findings = Self.findings { $0.calls[1].outcome = .rejected }
        #expect(findings.contains("I15: \"two\" in concert was rejected, and came to alice"))
    }

    @Test func `likes that are counted twice and a total of likes that decreases are found`() {
        let tooMany = Self.findings { history in
            // The second call's 7 likes are counted twice: 3 + 7 + 7 = 17.
            history.replaceItem(6, by: Fixture.item(6, .likes(total: 17, sender: Fixture.bob, count: 7)))
        }
        #expect(tooMany.contains("I15: eve in concert: 17 likes, and 10 were sent"))
        let decreased = Self.findings { history in
            history.replaceItem(6, by: Fixture.item(6, .likes(total: 2, sender: Fixture.bob, count: 7)))
        }
        #expect(decreased.contains("I15: alice in concert: the likes went from 3 back to 2"))
    }

    @Test(arguments: [Int64(9), 11, 20]) func `a wrong total of likes in the live's end is found`(_ likes: Int64) {
        let findings = Self.findings { $0.replaceItem(8, by: Fixture.end(8, gifts: 5, likes: likes)) }
        #expect(findings.contains("I15: concert ended, as eve was told, with \(likes) likes instead of 10"))
    }

    @Test func `unanswered likes may be in the total or not`() {
        // Ten likes were acknowledged, and four have no answer. So 10 and 10 + 4 = 14 are right totals.
        for likes in [Int64(10), 14] {
            let findings = Self.findings { history in
                history.calls.append(Self.likes(4, .unanswered))
                history.replaceItem(8, by: Fixture.end(8, gifts: 5, likes: likes))
            }
            #expect(findings == [])
        }
    }

    @Test func `wrong totals of messages, gifts and coins in the live's end are found`() {
        let findings = Self.findings {
            $0.replaceItem(8, by: Fixture.end(8, messages: 3, gifts: 10, likes: 10))
        }
        #expect(findings.contains(Fixture.totalFinding(client: "alice", reported: "3 messages", received: "2")))
        #expect(findings.contains(Fixture.totalFinding(client: "alice", reported: "10 gifts", received: "5")))
        // A rose costs 3 coins: 10 * 3 are 30 coins, and 5 * 3 are 15.
        #expect(findings.contains(Fixture.totalFinding(client: "alice", reported: "30 coins", received: "15")))
    }

    // MARK: Metadata

    @Test func `a read of metadata that does not return the last write is found`() {
        let findings = Self.findings { history in
            for index in history.metadataReads.indices { history.metadataReads[index].values = ["topic": "milk"] }
        }
        #expect(findings.contains("R3.42: eve read \"milk\" as topic of concert, which is not the last write"))
        #expect(findings.contains("R3.42: the last topic that eve got of concert is not what alice read"))
    }

    @Test func `metadata that is lost for one client, and so differs between clients, is found`() {
        let findings = Self.findings { $0.metadataReads[1].values = [:] }
        #expect(findings.contains("R3.42: eve and alice read different metadata of concert at the end"))
        #expect(findings.contains("R3.42: eve read nothing as topic of concert, which is not the last write"))
    }

    @Test func `an unanswered write may be applied last although it was sent first`() {
        let findings = Self.findings { history in
            history.calls.insert(Self.metadataWrite("late", .unanswered), at: 0)
            history.replaceItem(
                7, by: Fixture.item(7, .metadataChanged(set: ["topic": "late"], removed: [], revision: 2)))
            for index in history.metadataReads.indices { history.metadataReads[index].values = ["topic": "late"] }
        }
        #expect(findings == [])
    }

    @Test(arguments: [Int64(1), 2]) func `a revision of the metadata that does not grow is found`(_ revision: Int64) {
        let findings = Self.findings { history in
            history.replaceItem(5, by: Fixture.item(5, .metadataChanged(set: [:], removed: ["x"], revision: 2)))
            history.replaceItem(
                7, by: Fixture.item(7, .metadataChanged(set: ["topic": "tea"], removed: [], revision: revision)))
        }
        #expect(findings.contains("R3.65: eve in concert got item 7 with the revision \(revision) after 2"))
    }

    // MARK: Mutes, kicks and bans

    @Test func `a text that a muted user could send is found`() {
        let findings = Self.findings {
            $0.calls.append(Fixture.message("psst", .acknowledged(number: nil), isMuted: true))
        }
        #expect(findings == ["R5.7: bob, who was muted, sent \"psst\" in concert"])
        #expect(Self.findings { $0.calls.append(Fixture.message("psst", .rejected, isMuted: true)) } == [])
    }

    @Test func `an item that a client gets after its kick or ban, and before its return, is found`() {
        /// The feed of a client that received these steps and left.
        func visitor(_ steps: [FeedHistory.Step]) -> FeedHistory {
            var feed = FeedHistory(client: "visitor", live: Fixture.live, steps: steps)
            feed.leave()
            return feed
        }
        let afterRemoval = Self.findings {
            $0.feeds.append(visitor([.gap, Fixture.text(1, "one"), .removed, Fixture.text(2, "two")]))
        }
        #expect(afterRemoval == ["I6: visitor was removed from concert, and got item 2 afterwards"])
        // The second gap is the return.
        let afterReturn = Self.findings {
            $0.feeds.append(visitor([.gap, Fixture.text(1, "one"), .removed, .gap, Fixture.text(2, "two")]))
        }
        #expect(afterReturn == [])
    }

    @Test func `an item that a client reads after its leave is not recorded`() {
        // The client joins, which is a gap, gets item 1 and leaves, which is another gap.
        var feed = FeedHistory(client: "visitor", live: Fixture.live, steps: [.gap])
        feed.append([Fixture.text(1, "one")])
        feed.leave()
        // The client reads this item only now, although the item had arrived before the leave.
        feed.append([Fixture.endedBattle(3, score: 7)])
        #expect(feed.hasLeft)
        // The gap of the leave hides all numbers after 1. If the item were recorded, it would end this gap.
        #expect((1...4).filter { feed.hasGap(at: $0) } == [2, 3, 4])
        #expect(Self.findings { $0.feeds.append(feed) } == [])
    }

    @Test func `an answer that no rule allows is found`() {
        let finding = Finding(promise: "R4.11", text: "visitor was banned, and live.join succeeded")
        #expect(Self.findings { $0.wrongAnswers = [finding] } == [finding.description])
    }

    // MARK: Battles

    /// The findings about the battle (I14) when Eve's feed has these steps between item 2 and the live's end, item 9.
    private static func battleFindings(
        _ steps: [FeedHistory.Step], _ change: (inout RoundHistory) -> Void = { _ in }
    ) -> [String] {
        Fixture.findings { history in
            history.eveFeed.steps =
                [Fixture.text(1, "one"), Fixture.text(2, "two")] + steps + [Fixture.end(9, messages: 2)]
            // Without Alice's feed, only Eve's is checked.
            history.feeds.remove(at: 0)
            change(&history)
        }.filter { $0.hasPrefix("I14") }
    }

    /// The battle's correct result (7 for the live), as `battle.get` returned it after the battle's end.
    private static let correctRead = BattleRead(battle: Fixture.battle, hasEnded: true, scores: [Fixture.live: 7])

    @Test func `a gap during a battle excuses that the battle's end is missing if the result is read afterwards`() {
        let steps = [Fixture.runningBattle(3), .gap, Fixture.stageWithoutBattle(8)]
        #expect(Self.battleFindings(steps) { $0.battleReads = [Self.correctRead] } == [])
        #expect(Self.battleFindings(steps) == ["I14: battle b-1: eve missed its end, and nobody read it"])
    }

    @Test func `a gap before or after a battle does not excuse that the battle's end is missing`() {
        let expected = ["I14: battle b-1, eve in concert: 0 ends, and ran as of item 4"]
        let gapBefore: [FeedHistory.Step] = [.gap, Fixture.runningBattle(4), Fixture.stageWithoutBattle(8)]
        #expect(Self.battleFindings(gapBefore) { $0.battleReads = [Self.correctRead] } == expected)
        let gapAfter: [FeedHistory.Step] = [Fixture.runningBattle(4), Fixture.stageWithoutBattle(7), .gap]
        #expect(Self.battleFindings(gapAfter) { $0.battleReads = [Self.correctRead] } == expected)
    }

    @Test func `only a gap directly before a battle's first stage excuses that the battle's start is missing`() {
        #expect(
            Self.battleFindings([
                .gap, Fixture.runningBattle(4, begins: 0), Fixture.endedBattle(8, score: 7, begins: 0),
            ]) == [])
        #expect(
            Self.battleFindings([
                .gap, Fixture.stageWithoutBattle(3), Fixture.runningBattle(4, begins: 0),
                Fixture.endedBattle(8, score: 7, begins: 0),
            ])
                == ["I14: battle b-1, eve in concert: 0 begins"])
    }

    @Test func `a read that returns a wrong score, or a battle that still runs, is found`() {
        let steps = [Fixture.runningBattle(3), .gap, Fixture.stageWithoutBattle(8)]
        var wrongRead = Self.correctRead
        wrongRead.scores = [Fixture.live: 8]
        #expect(
            Self.battleFindings(steps) { $0.battleReads = [wrongRead] }
                == ["I14: battle b-1, as read after its end: concert ends with 8 instead of 7"])
        var readOfRunningBattle = Self.correctRead
        readOfRunningBattle.hasEnded = false
        let findings = Self.battleFindings([Fixture.runningBattle(3), Fixture.endedBattle(8, score: 7, begins: 0)]) {
            $0.battleReads = [readOfRunningBattle]
        }
        #expect(findings == ["I14: battle b-1, as read after its end: it still runs"])
    }
}
