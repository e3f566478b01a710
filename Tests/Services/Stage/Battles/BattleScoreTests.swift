// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// The scores of battles: who changes them, and when viewers get them.
///
/// A battle lasts 60 s unless the test says otherwise. Scores are published at most every 500 ms.
struct BattleScoreTests {
    /// Rules: R10.16.
    @Test func `I14 only the app's server changes scores, and gets a result code for each live`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let id = harness.startBattle("arena", against: "bistro")
        let owner = harness.callers.user("host-arena")
        #expect(
            harness.handle(
                .updateScores(
                    battle: id, operation: .overwrite, scores: [ScoreUpdate(live: "arena", score: 9)], caller: owner)
            ).code == .noPermission)
        // cafe takes no part in the battle, `nobody` is not a live, and bistro's score would be below 0.
        let effects = harness.updateScores(id, [("arena", 5), ("cafe", 1), ("nobody", 1), ("bistro", -1)])
        #expect(effects.scoreCodes == [.success, .roomNotInBattle, .roomNotInBattle, .badParameter])
        #expect(effects.notifiedLives == ["arena", "bistro", "cafe"])
        #expect(effects.reportedBattle("bistro")?.sides.map(\.score) == [5, 0])
        // The pauses let the next scores be published at once. arena has 5 + 7 = 12 before it is set to 3.
        _ = harness.advance(milliseconds: 1000)
        _ = harness.updateScores(id, [("arena", 7), ("bistro", 2)])
        _ = harness.advance(milliseconds: 1000)
        #expect(
            harness.updateScores(id, [("arena", 3)], .overwrite).reportedBattle("arena")?.sides.map(\.score) == [3, 2])
        #expect(harness.updateScores(id, [("bistro", .max)]).scoreCodes == [.badParameter], "the maximum is 2^53")
        #expect(harness.updateScores(.unknown, [("arena", 3)]).code == .noSuchBattle)
        _ = harness.advance(milliseconds: 60_000)
        #expect(harness.updateScores(id, [("arena", 3)]).scoreCodes == [.battleOver])
    }

    /// Rules: R10.19.
    @Test func `I14 a score update that is sent several times counts once`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro")
        let command = ConnectionCommand.updateScores(
            battle: id, operation: .accumulate, scores: [ScoreUpdate(live: "arena", score: 5)],
            caller: harness.callers.server())
        for _ in 0..<5 { #expect(harness.handle(command).scoreCodes == [.success]) }
        let ended = harness.advance(milliseconds: 60_000)
        #expect(ended.reportedBattle("arena")?.sides.map(\.score) == [5, 0], "expected the update to count once")
    }

    /// Rules: R10.17.
    @Test func `I14 scores are published at most every 500 ms, and the result has all updates`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro", seconds: 10)
        #expect(
            harness.updateScores(id, [("arena", 1)]).notifiedLives == ["arena", "bistro"],
            "the first score is published at once")
        #expect(harness.updateScores(id, [("arena", 1)]).notifiedLives == [], "the publication waits for 500 ms")
        #expect(harness.advance(milliseconds: 499) == [])
        #expect(harness.updateScores(id, [("bistro", 1)]).notifiedLives == [])
        let effects = harness.advance(milliseconds: 1)
        #expect(effects.reportedBattle("bistro")?.sides.map(\.score) == [2, 1])
        #expect(effects.reportedEvents("bistro") == [.battleScored(battle: id)])
        #expect(harness.advance(milliseconds: 500) == [], "unchanged scores are not published again")
        #expect(harness.updateScores(id, [("arena", 0)]).notifiedLives == [], "adding 0 changes nothing")
        // 499 + 1 + 500 + 8,990 = 9,990 ms have passed; the battle of 10 s ends 10 ms later.
        _ = harness.advance(milliseconds: 8_990)
        #expect(harness.updateScores(id, [("bistro", 1)]).notifiedLives == ["arena", "bistro"])
        #expect(harness.updateScores(id, [("bistro", 40)]).notifiedLives == [])
        let ended = harness.advance(milliseconds: 10)
        // arena: 1 + 1. bistro: 1 + 1 + 40, of which the 40 were not published before the end.
        #expect(ended.reportedBattle("arena")?.sides.map(\.score) == [2, 42])
        #expect(ended.reportedEvents("arena") == [.battleEnded(battle: id, reason: .timeOver)])
    }
}
