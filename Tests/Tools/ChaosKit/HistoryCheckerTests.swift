// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the checker finds each kind of broken promise, and nothing in a history without one.
///
/// A finding begins with the broken invariant (`I7`) of `docs/RULES.md`. The fixture's items are two texts, a battle's
/// stage and the live's end.
struct HistoryCheckerTests {
    private typealias Fixture = HistoryFixture

    @Test func `a history that keeps all promises has no finding`() {
        #expect(HistoryChecker.findings(in: Fixture.history()) == [])
    }

    @Test func `an item that a feed lacks is found`() {
        let findings = Fixture.findings { $0.eveFeed.removeItem(2) }
        #expect(
            findings == [
                "I7: eve in concert lacks items 2 to 2, without a gap announced",
                Fixture.lossFinding(of: "two", client: "eve", neighbors: "1 and 3"),
                Fixture.totalFinding(client: "eve", reported: "2 messages", received: "1"),
            ])
    }

    @Test func `a feed may lack the items of an announced gap`() {
        #expect(Fixture.findings { $0.eveFeed.replaceItem(2, by: .gap) } == [])
    }

    @Test func `a gap that is announced after item 3 does not excuse that item 2 is missing`() {
        let findings = Fixture.findings { history in
            history.eveFeed.removeItem(2)
            history.eveFeed.steps.insert(.gap, at: history.eveFeed.index(ofItem: 3) + 1)
        }
        #expect(
            findings == [
                "I7: eve in concert lacks items 2 to 2, without a gap announced",
                Fixture.lossFinding(of: "two", client: "eve", neighbors: "1 and 3"),
            ])
    }

    // The gap replaces item 1, 2 or 3, or follows item 3. A gap at the end hides all later numbers.
    @Test(arguments: [(0, [1]), (1, [2]), (2, [3, 4, 5]), (3, [4, 5])])
    func `a gap hides the numbers between its neighbours`(gapIndex: Int, hiddenNumbers: [Int64]) {
        var feed = FeedHistory(
            client: "eve", live: Fixture.live,
            steps: [Fixture.text(1, "one"), Fixture.text(2, "two"), Fixture.text(3, "three")])
        if gapIndex < feed.steps.count { feed.steps[gapIndex] = .gap } else { feed.steps.append(.gap) }
        #expect((1...5).filter { feed.hasGap(at: $0) } == hiddenNumbers)
    }

    @Test func `an item that was received twice is found`() {
        let findings = Fixture.findings { $0.eveFeed.steps.insert(Fixture.text(2, "two"), at: 2) }
        #expect(findings.contains("I7: eve in concert got item 2 again or late, after 2"))
        #expect(findings.contains { $0.hasPrefix("I15: eve got \"two\" in concert 2 times") })
    }

    @Test func `items in the wrong order are found`() {
        let findings = Fixture.findings { $0.eveFeed.swapItems(1, 2) }
        #expect(findings.contains("I7: eve in concert got item 1 again or late, after 2"))
    }

    @Test func `an item whose content differs between clients is found`() {
        let findings = Fixture.findings { $0.eveFeed.replaceItem(1, by: Fixture.text(1, "other")) }
        #expect(findings.contains("I7: item 1 of concert differs between alice and eve"))
    }

    @Test func `a message that was applied twice under two numbers is found`() {
        let findings = Fixture.findings { history in
            for index in history.feeds.indices {
                history.feeds[index].steps = [
                    Fixture.text(1, "one"), Fixture.text(2, "two"), Fixture.text(3, "two"),
                    Fixture.endedBattle(4, score: 7), Fixture.end(5),
                ]
            }
        }
        #expect(findings.contains("I15: alice got \"two\" in concert 2 times: [2, 3]"))
    }

    @Test func `a message whose number in the feed differs from the number in its reply is found`() {
        // The fixture's first call sends "one".
        let findings = Fixture.findings { $0.calls[0].outcome = .acknowledged(number: 9) }
        #expect(findings.contains("I7: \"one\" in concert was acknowledged as item 9 and came as 1"))
    }

    // One call added 7 to the score: 14 would mean that the call was applied twice.
    @Test(arguments: [Int64(6), 8, 14]) func `a score that differs from the sum of the calls is found`(
        _ score: Int64
    ) {
        let findings = Fixture.findings { $0.replaceItem(3, by: Fixture.endedBattle(3, score: score)) }
        #expect(findings.contains("I14: battle b-1, alice in concert: concert ends with \(score) instead of 7"))
    }

    @Test func `an unanswered call that adds to a score may be applied or not`() {
        for score in [Int64(7), 9] {
            let findings = Fixture.findings { history in
                // The unanswered call adds 2 to the score of 7, or fails.
                history.calls.append(Fixture.score(2, .unanswered))
                history.replaceItem(3, by: Fixture.endedBattle(3, score: score))
            }
            #expect(findings == [])
        }
    }

    @Test func `two different results of one battle are found`() {
        let findings = Fixture.findings { history in
            // Because of the unanswered call, 7 and 9 are both possible, but not together.
            history.calls.append(Fixture.score(2, .unanswered))
            history.eveFeed.replaceItem(3, by: Fixture.endedBattle(3, score: 9))
        }
        #expect(findings.contains("I14: battle b-1 has 2 different results"))
    }

    @Test(arguments: [0, 2]) func `a battle that ends twice or never is found`(_ ends: Int) {
        let findings = Fixture.findings {
            $0.replaceItem(3, by: Fixture.endedBattle(3, score: 7, ends: ends))
        }
        #expect(findings.contains("I14: battle b-1, alice in concert: \(ends) ends"))
    }

    @Test func `a feed that lacks the live's end, has two ends or continues after the end is found`() {
        #expect(
            Fixture.findings { $0.eveFeed.removeItem(4) }.contains(
                "I1: eve was told 0 times that concert ended, not 1"))
        #expect(
            Fixture.findings { $0.eveFeed.steps.append(Fixture.end(5)) }.contains(
                "I1: eve was told 2 times that concert ended, not 1"))
        #expect(
            Fixture.findings { $0.eveFeed.steps.append(Fixture.text(5, "late")) }.contains(
                "I1: eve got items of concert after its end"))
    }

    @Test(arguments: [[], ["accepted", "timed out"]]) func `a request without an end, or with two ends, is found`(
        _ ends: [String]
    ) {
        let findings = Fixture.findings { $0.requests = [.init(name: "eve's application", ends: ends)] }
        #expect(findings.count == 1 && findings[0].hasPrefix("I13: eve's application has \(ends.count) ends"))
    }

    @Test func `a feed item that says that a user left is found only if the user never left`() {
        // Item 1 becomes the item that says that Bob left; one text, item 2, remains.
        let addLeave: (inout RoundHistory) -> Void = { history in
            history.replaceItem(1, by: Fixture.item(1, .audienceLeft(user: Fixture.bob)))
            history.calls.removeAll { if case .message = $0.call { true } else { false } }
            history.replaceItem(4, by: Fixture.end(4, messages: 1))
        }
        #expect(Fixture.findings(addLeave).contains("I5: alice was told that bob left concert, who never did"))
        #expect(
            Fixture.findings { history in
                addLeave(&history)
                history.neverLeft = []
            } == [])
    }

    @Test(arguments: [nil, 3]) func `a count of viewers that stays wrong or unknown is found`(_ lastCount: Int?) {
        let findings = Fixture.findings { $0.counts[0].lastCount = lastCount }
        let text = lastCount.map(String.init) ?? "unknown"
        #expect(findings == ["I5: concert has 2 viewers, and its count stayed \(text)"])
    }

    @Test func `a step of a client that did not succeed in time is a finding`() {
        #expect(Fixture.findings { $0.stalls = ["alice's seat.apply had no answer for 30 s"] }.count == 1)
    }
}
