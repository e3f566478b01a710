// SPDX-License-Identifier: Apache-2.0
import InspectKit
import MachineKit
import PlazaModel
import PlazaWire
import Testing

@testable import ChaosKit

/// Tests of the comparison of what clients received with Kafka's log of the feed, and of how the log is read.
struct FeedLogTests {
    private typealias Fixture = HistoryFixture

    /// The findings in the fixture's history when Kafka's log has the same four items, after a change of the log.
    private static func findings(_ change: (inout [FeedHistory.Step]) -> Void) -> [String] {
        Fixture.findings { history in
            var log = FeedHistory(client: "Kafka", live: Fixture.live, steps: history.feeds[0].steps)
            change(&log.steps)
            history.logs = [log]
        }
    }

    @Test func `a log with exactly the items that the clients received is right`() {
        #expect(Self.findings { _ in } == [])
        #expect(
            Self.findings { $0.append(Fixture.text(5, "later")) } == ["I1: Kafka got items of concert after its end"])
    }

    @Test func `what a gap hides from all clients is found in Kafka's log`() {
        // A gap hides item 2 from all clients. In turn, Kafka's log lacks this item, has another text under its number,
        // or has its text twice.
        let loss = Fixture.lossFinding(of: "two", client: "Kafka", neighbors: "1 and 3")
        func findings(_ change: (inout [FeedHistory.Step]) -> Void) -> [String] {
            Fixture.findings { history in
                var log = FeedHistory(client: "Kafka", live: Fixture.live, steps: history.feeds[0].steps)
                change(&log.steps)
                history.logs = [log]
                history.replaceItem(2, by: .gap)
            }
        }
        #expect(findings { _ in } == [])
        #expect(findings { $0.remove(at: 1) }.contains(loss))
        #expect(findings { $0[1] = Fixture.text(2, "other") } == [loss])
        let twice = findings { $0[0] = Fixture.text(1, "two") }
        #expect(twice.contains("I15: Kafka got \"two\" in concert 2 times: [1, 2]"))
        // The score of the battle is wrong in Kafka's log.
        #expect(
            findings { $0[2] = Fixture.endedBattle(3, score: 8) }.contains(
                "I14: battle b-1, Kafka in concert: concert ends with 8 instead of 7"))
        // A live that no client was in is not compared.
        #expect(
            Fixture.findings {
                $0.logs = [
                    FeedHistory(client: "Kafka", live: Fixture.live, steps: $0.feeds[0].steps),
                    FeedHistory(client: "Kafka", live: "other", steps: [Fixture.text(1, "one")]),
                ]
            } == [])
    }

    @Test func `an item that Kafka lacks, has twice, or has with another content is found`() {
        #expect(
            Self.findings { $0.remove(at: 1) } == [
                "I7: Kafka in concert lacks items 2 to 2, without a gap announced",
                "I8: alice in concert got item 2, which Kafka does not have",
                "I8: eve in concert got item 2, which Kafka does not have",
                Fixture.lossFinding(of: "two", client: "Kafka", neighbors: "1 and 3"),
                Fixture.totalFinding(client: "Kafka", reported: "2 messages", received: "1"),
            ])
        #expect(
            Self.findings { $0.insert($0[1], at: 2) } == [
                "I7: Kafka in concert got item 2 again or late, after 2",
                "I15: Kafka got \"two\" in concert 2 times: [2, 2]",
                Fixture.totalFinding(client: "Kafka", reported: "2 messages", received: "3"),
            ])
        #expect(
            Self.findings { $0[1] = Fixture.text(2, "other") } == [
                "I7: item 2 of concert differs between Kafka and alice",
                "I7: item 2 of concert differs between Kafka and eve",
                Fixture.lossFinding(of: "two", client: "Kafka", neighbors: "1 and 3"),
            ])
        #expect(Self.findings { $0.remove(at: 0) }.contains("I7: the feed of concert begins with item 2 in Kafka"))
    }

    @Test func `a live that Kafka does not know is found, unless Kafka was not read`() {
        let findings = Fixture.findings { $0.logs = [FeedHistory(client: "Kafka", live: "other")] }
        #expect(findings.first == "I8: alice got items of concert, of which Kafka has none")
        #expect(Fixture.findings { $0.logs = [] } == [])
    }

    @Test func `more messages within a second than the budget are found; control items and gifts do not count`() {
        /// The findings in a log whose texts have these times, in milliseconds.
        func findings(_ times: [Int64], then contents: [FeedContent] = []) -> [String] {
            var log = FeedHistory(client: "Kafka", live: Fixture.live)
            let texts = times.indices.map {
                FeedContent.text(sender: Fixture.bob, text: "text \($0)", extensionInfo: nil)
            }
            for (index, content) in (texts + contents).enumerated() {
                let time = index < times.count ? times[index] : times.last ?? 0
                log.append([
                    .item(epoch: 1, number: Int64(index) + 1, content: content, at: Timestamp(milliseconds: time))
                ])
            }
            return HistoryChecker.findings(of: .budgets, in: Self.history(log)).map(\.description)
        }
        let full = Array(repeating: Int64(5_000), count: 40)
        let finding = "I9: the feed of concert has more than 40 messages within a second up to item 41"
        #expect(findings(full) == [])
        #expect(findings(full + [5_999]) == [finding])
        #expect(findings(full + [6_000]) == [], "after a second, the first messages are no longer in the window")
        #expect(findings((0..<200).map { $0 * 25 }) == [], "40 a second for five seconds")
        #expect(findings((0..<200).map { $0 * 24 }) == [finding], "41 in the second from 0 to 960 ms")
        let gift = FeedContent.gift(sender: Fixture.bob, gift: Fixture.rose, count: 1, receivers: [])
        #expect(findings(full, then: [gift, .tips(isDegraded: true)]) == [])
    }

    /// A history with a log and a feed budget of 40 messages a second, and nothing else.
    private static func history(_ log: FeedHistory) -> RoundHistory {
        var history = RoundHistory()
        history.logs = [log]
        history.feedBudget = 40
        return history
    }

    @Test func `records of the topic become a history of each live, in the order of the log`() throws {
        /// The record of an item that is a text of Bob.
        func entry(_ offset: Int64, _ live: LiveID, _ number: Int64) -> TopicEntry {
            let item = FeedItem(
                key: LiveKey("demo", live), position: FeedPosition(epoch: 7, number: number),
                at: Timestamp(milliseconds: 5),
                content: .text(sender: Fixture.bob, text: "text \(number)", extensionInfo: nil))
            let record = TopicRecord(.feed(item))
            return TopicEntry(
                .roomFeed, offset: offset, time: Timestamp(milliseconds: offset), key: record.key, value: record.value,
                headers: Dictionary(uniqueKeysWithValues: record.headers.map { ($0.name, $0.value) }))
        }
        let histories = try FeedLogReader.histories([entry(12, "b", 1), entry(11, "a", 2), entry(10, "a", 1)])
        #expect(histories.map(\.live) == ["a", "b"])
        for case .item(_, _, _, let at) in histories[0].steps {
            #expect(at == Timestamp(milliseconds: 5), "the machine's time, not the record's")
        }
        #expect(histories[0].steps.compactMap(\.position).map(\.number) == [1, 2])
        var damaged = entry(13, "a", 3)
        damaged.value = Array("{".utf8)
        #expect(throws: FeedLogReader.Incomplete.self) { try FeedLogReader.histories([damaged]) }
    }
}
