// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import LoadKit

/// Tests of the scores that the evening's app server sets in battles of people who try the pages.
///
/// `coins` is the total price of the gifts that each live has got so far.
@Suite struct GiftScoreTests {
    /// A battle of the lives a and b with these scores.
    private static func battle(_ id: String = "b-1", _ scores: [Int64] = [0, 0]) -> BattleView {
        let sides = zip(["a", "b"], scores).map { live, score in
            BattleSide(live: LiveID(live), host: UserInfo(userID: UserID("host-\(live)")), score: score)
        }
        return BattleView(
            id: BattleID(id), extensionInfo: "", durationSeconds: 60, startTime: Timestamp(milliseconds: 0),
            endTime: Timestamp(milliseconds: 60_000), sides: sides, ended: nil)
    }

    @Test func `only gifts after the battle was first seen score`() {
        var scores = GiftScores()
        #expect(scores.updates(of: Self.battle(), coins: ["a": 100, "b": 7]) == [])
        #expect(scores.updates(of: Self.battle(), coins: ["a": 130, "b": 7]) == [ScoreUpdate(live: "a", score: 30)])
        // In the meantime the server has set the score of a to 30.
        #expect(
            scores.updates(of: Self.battle("b-1", [30, 0]), coins: ["a": 130, "b": 12])
                == [ScoreUpdate(live: "b", score: 5)])
    }

    @Test func `a live that could not be read keeps its score, and another battle begins from 0`() {
        var scores = GiftScores()
        // Live b could not be read, so its coins are missing.
        _ = scores.updates(of: Self.battle(), coins: ["a": 100])
        #expect(scores.updates(of: Self.battle("b-1", [0, 40]), coins: ["a": 100]) == [])
        #expect(scores.updates(of: Self.battle("b-2"), coins: ["a": 100, "b": 9]) == [])
    }

    @Test func `a battle that is over is forgotten, and one that is seen again continues with its score`() {
        var scores = GiftScores()
        _ = scores.updates(of: Self.battle(), coins: ["a": 100, "b": 7])
        // The battle b-1 is forgotten.
        scores.forgetBattles(except: [BattleID("b-2")])
        // The score of 30 stands for the 135 coins so far; 4 more coins make 34.
        #expect(scores.updates(of: Self.battle("b-1", [30, 0]), coins: ["a": 135, "b": 7]) == [])
        #expect(
            scores.updates(of: Self.battle("b-1", [30, 0]), coins: ["a": 139, "b": 7])
                == [ScoreUpdate(live: "a", score: 34)])
    }
}
