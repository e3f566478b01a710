// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import ChaosKit

/// Tests that a round has a finding for each promise that the round did not test, and that each call after the recovery
/// must have an answer.
struct RoundCoverageTests {
    private typealias Fixture = HistoryFixture

    /// A history with every required kind of event, and without a backend.
    private static func history() -> RoundHistory {
        var history = Fixture.history()
        let gift = FeedContent.giftMessageID(sender: Fixture.bob.userID, gift: Fixture.rose.giftID, count: 1)
        history.calls += [
            Fixture.message(gift, .acknowledged(number: 3)), Self.droppedText,
            CallRecord(client: "bob", live: Fixture.live, .likes(1), .acknowledged()),
            CallRecord(client: "bob", live: Fixture.live, .metadata(key: "topic", value: "a"), .acknowledged()),
        ]
        history.listWalks = [ListWalk(name: "walk 1", pages: [[Fixture.live]])]
        history.feeds[0].steps.append(.removed)
        history.metadataReads = [MetadataRead(client: "eve", live: Fixture.live, values: [:])]
        return history
    }

    private static var droppedText: CallRecord {
        var call = Fixture.message("too many", .rejected)
        call.code = .droppedByBudget
        return call
    }

    private static func findings(_ change: (inout RoundHistory) -> Void) -> [String] {
        var history = Self.history()
        change(&history)
        return RoundCoverage.findings(in: history).map(\.description)
    }

    private static func finding(_ name: String, _ promise: String) -> String {
        "coverage: the round had none of this: \(name) (\(promise))"
    }

    @Test func `a round with every required kind of event is covered`() { #expect(Self.findings { _ in } == []) }

    @Test func `each kind of event that is missing is named`() {
        #expect(Self.findings { $0 = RoundHistory() }.count == 12)
        #expect(Self.findings { $0.battles = [:] } == [Self.finding("a battle", "I14")])
        #expect(Self.findings { $0.listWalks = [] } == [Self.finding("a walk through the list", "I3")])
        // The last step of the first feed is the removal.
        #expect(Self.findings { $0.feeds[0].steps.removeLast() } == [Self.finding("a removal", "I6")])
        // An unanswered gift says nothing.
        let gifts = Self.findings { history in
            for index in history.calls.indices where history.calls[index].isGift {
                history.calls[index].outcome = .unanswered
            }
        }
        #expect(gifts == [Self.finding("an acknowledged gift", "I15")])
        // A text that was rejected because its sender is muted says nothing about the budget.
        let findings = Self.findings { history in
            for index in history.calls.indices where history.calls[index].outcome == .rejected {
                history.calls[index].code = .userMuted
            }
        }
        #expect(findings == [Self.finding("a text that the budget drops", "I9")])
        let backend = Self.findings { $0.backend = BackendHistory(requests: [], log: []) }
        #expect(
            backend == [
                Self.finding("an event at the backend", "R14.5"), Self.finding("a question to the backend", "R14.7"),
            ])
    }

    @Test func `after a stall, an untested promise is no finding, because the stall is one`() {
        let findings = Self.findings { history in
            history = RoundHistory()
            history.stalls = ["host-a's live.create had no valid answer"]
        }
        #expect(findings == [])
    }

    @Test func `a call that was sent after the recovery and has no answer is found`() {
        func findings(sentAt: Int64, _ outcome: CallRecord.Outcome, _ code: ReplyCode? = nil) -> [String] {
            Fixture.findings { history in
                history.answersDueFrom = Timestamp(milliseconds: 5_000)
                var call = Fixture.message("late", outcome)
                call.at = Timestamp(milliseconds: sentAt)
                call.code = code
                history.calls.append(call)
            }
        }
        #expect(findings(sentAt: 4_999, .unanswered) == [])
        #expect(findings(sentAt: 5_000, .rejected) == [])
        #expect(
            findings(sentAt: 5_000, .unanswered)
                == ["recovery: bob sends \"late\" in concert after the recovery, and gets no answer"])
        #expect(
            findings(sentAt: 5_000, .unanswered, .overloaded)
                == ["recovery: bob sends \"late\" in concert after the recovery, and gets only overloaded"])
    }
}
