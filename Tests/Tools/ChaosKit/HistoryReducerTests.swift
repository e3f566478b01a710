// SPDX-License-Identifier: Apache-2.0
import ChaosKit
import MachineKit
import PlazaModel
import Testing

/// Tests that the reducer finds the shortest history that shows a broken promise.
struct HistoryReducerTests {
    private typealias Fixture = HistoryFixture

    /// The lines of the shortest history that shows the first finding about an invariant, such as `I7`.
    ///
    /// The lines are taken from a long history that `breakPromise` changes: both clients get 200 texts, the items -199
    /// to 0, before the fixture's items 1 to 4 (two texts, a battle's stage, the live's end).
    private static func lines(_ invariant: String, _ breakPromise: (inout RoundHistory) -> Void) throws -> [String] {
        var history = Fixture.history()
        for index in history.feeds.indices {
            history.feeds[index].steps.insert(contentsOf: (-199...0).map { Fixture.text($0, "text \($0)") }, at: 0)
        }
        // The 200 texts and the two of the fixture.
        history.replaceItem(4, by: Fixture.end(4, messages: 202))
        history.calls += (-199...0).map { (number: Int64) in
            Fixture.message("text \(number)", .acknowledged(number: number))
        }
        #expect(HistoryChecker.findings(in: history) == [], "the history keeps all promises before the change")
        breakPromise(&history)
        let evidence = try #require(
            HistoryReducer.evidence(of: history).first { $0.finding.hasPrefix("\(invariant):") })
        // The checker reports the same finding about the whole history.
        #expect(HistoryChecker.findings(in: history).map(\.description).contains(evidence.finding))
        #expect(evidence.isShortest)
        return evidence.lines
    }

    @Test func `for a missing item, the items around it are shown`() throws {
        #expect(
            try Self.lines("I7") { $0.eveFeed.removeItem(2) } == [
                "01:00:00.001 eve in concert item 1 of epoch 1: gets the text \"one\"",
                "01:00:00.003 eve in concert item 3 of epoch 1: gets stage 3, battle b-1 begins, "
                    + "battle b-1 ends (timeOver), battle b-1 is over: concert 7",
            ])
    }

    @Test func `for a lost message, the acknowledgement and the items around the missing one are shown`() throws {
        let lines = try Self.lines("I8") { history in
            history.eveFeed.removeItem(2)
            // The fixture's second call sends "two"; the time is 01:00.
            history.calls[1].at = Timestamp(milliseconds: 3_600_000)
        }
        #expect(lines.count == 3)
        #expect(lines.first == "01:00:00.000 bob in concert sends \"two\": acknowledged as item 2")
    }

    @Test func `for a repeated message, both copies and the call are shown`() throws {
        let lines = try Self.lines("I15") { history in
            history.replaceItem(4, by: Fixture.text(4, "two"))
            for index in history.feeds.indices { history.feeds[index].steps.append(Fixture.end(5, messages: 203)) }
        }
        #expect(
            lines == [
                "--:--:--.--- bob in concert sends \"two\": acknowledged as item 2",
                "01:00:00.002 alice in concert item 2 of epoch 1: gets the text \"two\"",
                "01:00:00.004 alice in concert item 4 of epoch 1: gets the text \"two\"",
            ])
    }

    @Test func `for a message that Kafka alone has twice, both copies in its log and the call are shown`() throws {
        let lines = try Self.lines("I15") { history in
            var log = FeedHistory(client: "Kafka", live: Fixture.live, steps: history.feeds[0].steps)
            log.replaceItem(3, by: Fixture.text(3, "two"))
            history.logs = [log]
            // A gap hides from both clients what Kafka has instead of item 3.
            history.battles = [:]
            history.replaceItem(3, by: .gap)
        }
        #expect(
            lines == [
                "--:--:--.--- bob in concert sends \"two\": acknowledged as item 2",
                "01:00:00.002 Kafka in concert item 2 of epoch 1: gets the text \"two\"",
                "01:00:00.003 Kafka in concert item 3 of epoch 1: gets the text \"two\"",
            ])
    }

    @Test func `for swapped items both items are shown, and for different contents both clients' copies`() throws {
        let swap = try Self.lines("I7") { $0.eveFeed.swapItems(-99, -98) }
        #expect(swap.count == 2 && swap.allSatisfy { $0.contains("eve") })
        let difference = try Self.lines("I7") { $0.eveFeed.replaceItem(-99, by: Fixture.text(-99, "changed")) }
        #expect(difference.count == 2)
        #expect(difference.contains { $0.contains("alice") } && difference.contains { $0.contains("eve") })
    }

    @Test func `for a wrong score, the acknowledged scores and the result are shown`() throws {
        let lines = try Self.lines("I14") { history in
            // The acknowledged calls add 7 + 2, and the battle's result in the feeds is 7.
            history.calls += [Fixture.score(2, .acknowledged()), Fixture.score(3, .rejected)]
        }
        #expect(lines.count == 3)
        #expect(lines.contains("--:--:--.--- the app's server in concert adds 2 in battle b-1: acknowledged"))
        #expect(lines.last?.hasSuffix("battle b-1 is over: concert 7") == true)
    }

    @Test func `for a battle or a live that ends twice, both ends are shown`() throws {
        let battle = try Self.lines("I14") { history in
            history.replaceItem(-99, by: Fixture.endedBattle(-99, score: 7, begins: 0))
        }
        #expect(battle.count == 2 && battle.allSatisfy { $0.contains("battle b-1 ends") })
        let live = try Self.lines("I1") { $0.eveFeed.steps.append(Fixture.end(5)) }
        #expect(live.count == 2 && live.allSatisfy { $0.contains("eve in concert") && $0.contains("gets the end") })
    }

    @Test func `for a request that ended twice, both ends are shown with their times`() throws {
        let lines = try Self.lines("I13") { history in
            history.requests = [
                .init(
                    name: "eve's application", ends: ["accepted", "timed out"],
                    times: [Timestamp(milliseconds: 1000), Timestamp(milliseconds: 2500)])
            ]
        }
        #expect(lines == ["00:00:01.000 eve's application accepted", "00:00:02.500 eve's application timed out"])
    }

    @Test func `for a false leave, the item that reports the leave is shown`() throws {
        let lines = try Self.lines("I5") { history in
            history.replaceItem(-149, by: Fixture.item(-149, .audienceLeft(user: Fixture.bob)))
        }
        // Item -149 was received 149 ms before 01:00.
        #expect(lines == ["00:59:59.851 alice in concert item -149 of epoch 1: gets that bob left"])
    }

    @Test func `of many events only the first and the last ten are printed, and all are kept`() throws {
        var history = Fixture.history()
        // The acknowledged calls add 7 + 40, and the battle's result is 7.
        history.calls += (1...40).map { _ in Fixture.score(1, .acknowledged()) }
        let evidence = try #require(HistoryReducer.evidence(of: history).first)
        // The events are the 41 calls and the result. The lines are ten events, a line about the rest, and ten events.
        #expect(evidence.events.count == 42)
        #expect(evidence.lines.count == 21)
        #expect(evidence.lines[10] == "… 22 events more")
    }
}
