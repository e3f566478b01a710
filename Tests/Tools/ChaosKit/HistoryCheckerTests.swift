// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the checker finds each kind of broken promise, and nothing in a history without one.
///
/// `feeds[0]` is Alice's feed and `feeds[1]` Eve's; `steps[n]` is item n + 1 (see `HistoryFixture`).
struct HistoryCheckerTests {
    private typealias Fixture = HistoryFixture

    @Test func `a history that keeps all promises has no finding`() {
        #expect(HistoryChecker.findings(in: Fixture.history()) == [])
    }

    @Test func `an item that was never received is found`() {
        let findings = Fixture.findings { $0.feeds[1].steps.remove(at: 1) }
        #expect(
            findings == [
                "I7: eve in concert lacks items 2 to 2, without a gap announced",
                Fixture.lossFinding("two", "eve", "1 and 3"),
                Fixture.totalFinding("eve", "2 messages", "1"),
            ])
    }

    @Test func `after an announced gap, items may be missing`() {
        #expect(Fixture.findings { $0.feeds[1].steps[1] = .gap } == [])
    }

    @Test func `an announced gap excuses only the items in it`() {
        let findings = Fixture.findings { history in
            history.feeds[1].steps.remove(at: 1)
            history.feeds[1].steps.insert(.gap, at: 2)
        }
        #expect(
            findings == [
                "I7: eve in concert lacks items 2 to 2, without a gap announced",
                Fixture.lossFinding("two", "eve", "1 and 3"),
            ])
    }

    // The gap is in place of the item at the index, or behind the last item.
    @Test(arguments: [(0, [1]), (1, [2]), (2, [3, 4, 5]), (3, [4, 5])])
    func `a gap hides the numbers between its neighbours`(index: Int, hidden: [Int64]) {
        var feed = FeedHistory(
            client: "eve", live: Fixture.live,
            steps: [Fixture.text(1, "one"), Fixture.text(2, "two"), Fixture.text(3, "three")])
        if index < 3 { feed.steps[index] = .gap } else { feed.steps.append(.gap) }
        #expect((1...5).filter { feed.hasGap(at: $0) } == hidden)
    }

    @Test func `an item that was received twice is found`() {
        let findings = Fixture.findings { $0.feeds[1].steps.insert($0.feeds[1].steps[1], at: 2) }
        #expect(findings.contains("I7: eve in concert got item 2 again or late, after 2"))
        #expect(findings.contains { $0.hasPrefix("I15: eve got \"two\" in concert 2 times") })
    }

    @Test func `items that were swapped are found`() {
        let findings = Fixture.findings { $0.feeds[1].steps.swapAt(0, 1) }
        #expect(findings.contains("I7: eve in concert got item 1 again or late, after 2"))
    }

    @Test func `an item whose content differs between clients is found`() {
        let findings = Fixture.findings { $0.feeds[1].steps[0] = Fixture.text(1, "other") }
        #expect(findings.contains("I7: item 1 of concert differs between alice and eve"))
    }

    @Test func `a message that was applied twice under two numbers is found`() {
        let findings = Fixture.findings { history in
            for index in history.feeds.indices { history.feeds[index].steps.insert(Fixture.text(3, "two"), at: 2) }
            for index in history.feeds.indices { history.feeds[index].steps[3] = Fixture.stage(4, score: 7) }
            for index in history.feeds.indices { history.feeds[index].steps[4] = Fixture.end(5) }
        }
        #expect(findings.contains("I15: alice got \"two\" in concert 2 times: [2, 3]"))
    }

    @Test func `a message whose number differs from that of its reply is found`() {
        let findings = Fixture.findings { $0.calls[0].outcome = .acknowledged(number: 9) }
        #expect(findings.contains("I7: \"one\" in concert was acknowledged as item 9 and came as 1"))
    }

    @Test(arguments: [Int64(6), 8, 14]) func `a score that is wrong, or that counted twice, is found`(
        _ score: Int64
    ) {
        let findings = Fixture.findings { history in
            for index in history.feeds.indices { history.feeds[index].steps[2] = Fixture.stage(3, score: score) }
        }
        #expect(findings.contains("I14: battle b-1, alice in concert: concert ends with \(score) instead of 7"))
    }

    @Test func `an unanswered score may count or not`() {
        for score in [Int64(7), 9] {
            let findings = Fixture.findings { history in
                // The unanswered call adds 2 to the score of 7, or fails.
                history.calls.append(Fixture.score(2, .unanswered))
                for index in history.feeds.indices { history.feeds[index].steps[2] = Fixture.stage(3, score: score) }
            }
            #expect(findings == [])
        }
    }

    @Test func `two results of one battle are found`() {
        let findings = Fixture.findings { history in
            history.calls.append(Fixture.score(2, .unanswered))
            history.feeds[1].steps[2] = Fixture.stage(3, score: 9)
        }
        #expect(findings.contains("I14: battle b-1 has 2 different results"))
    }

    @Test(arguments: [0, 2]) func `a battle that ends twice or never is found`(_ ends: Int) {
        let findings = Fixture.findings { history in
            for index in history.feeds.indices {
                history.feeds[index].steps[2] = Fixture.stage(3, score: 7, ends: ends)
            }
        }
        #expect(findings.contains("I14: battle b-1, alice in concert: \(ends) ends"))
    }

    @Test func `a live that ends twice, or not for somebody, is found`() {
        #expect(
            Fixture.findings { $0.feeds[1].steps.removeLast() }.contains(
                "I1: eve was told 0 times that concert ended, not 1"))
        #expect(
            Fixture.findings { $0.feeds[1].steps.append(Fixture.end(5)) }.contains(
                "I1: eve was told 2 times that concert ended, not 1"))
        #expect(
            Fixture.findings { $0.feeds[1].steps.append(Fixture.text(5, "late")) }.contains(
                "I1: eve got items of concert after its end"))
    }

    @Test(arguments: [[], ["accepted", "timed out"]]) func `a request without an end, or with two, is found`(
        _ ends: [String]
    ) {
        let findings = Fixture.findings { $0.requests = [.init(name: "eve's application", ends: ends)] }
        #expect(findings.count == 1 && findings[0].hasPrefix("I13: eve's application has \(ends.count) ends"))
    }

    @Test func `a false leave is found, and a true one is not`() {
        // Replaces the first text by the item that bob left.
        let addLeave: (inout RoundHistory) -> Void = { history in
            for index in history.feeds.indices {
                history.feeds[index].steps[0] = .item(epoch: 1, number: 1, content: .audienceLeft(user: Fixture.bob))
            }
            history.calls.removeAll { if case .message = $0.call { true } else { false } }
            for index in history.feeds.indices { history.feeds[index].steps[3] = Fixture.end(4, messages: 1) }
        }
        #expect(Fixture.findings(addLeave).contains("I5: alice was told that bob left concert, who never did"))
        #expect(
            Fixture.findings { history in
                addLeave(&history)
                history.neverLeft = []
            } == [])
    }

    @Test(arguments: [nil, 3]) func `a count that stays wrong is found`(_ lastCount: Int?) {
        let findings = Fixture.findings { $0.counts[0].lastCount = lastCount }
        let text = lastCount.map(String.init) ?? "unknown"
        #expect(findings == ["I5: concert has 2 viewers, and its count stayed \(text)"])
    }

    @Test func `a call that stays unanswered is found`() {
        #expect(Fixture.findings { $0.stalls = ["alice's seat.apply had no answer for 30 s"] }.count == 1)
    }
}
