// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import StageCore
import Testing

/// Which battle each live of a connection shows: its own battle, otherwise a battle of other members (R10.13).
///
/// The row of a live names the battle that the live shows. A report to the live's seat machine also has the other
/// battles of the connection. A battle lasts 60 s unless the test says otherwise.
struct BattleDisplayTests {
    /// All battles in the last report to the seat machine of `live`: first the one that `live` shows, then the others.
    private func reportedBattles(_ effects: [Effect], to live: LiveID) -> [BattleView] {
        var battles = effects.reportedOtherBattles(live)
        if let shownBattle = effects.reportedBattle(live) { battles.insert(shownBattle, at: 0) }
        return battles
    }

    /// Rules: R10.13.
    @Test func `a connected live outside a battle shows that battle until the live starts its own`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let firstBattle = harness.startBattle("arena", against: "bistro")
        #expect(harness.live("cafe")?.battle == firstBattle)
        #expect(
            harness.updateScores(firstBattle, [("cafe", 1), ("arena", 5)]).scoreCodes == [.roomNotInBattle, .success],
            "cafe, which takes no part, has no score")
        #expect(
            harness.call("cafe") { .exitBattle(battle: firstBattle, live: "cafe", caller: $0) }.code == .roomNotInBattle
        )
        let exited = harness.call("arena") { .exitBattle(battle: firstBattle, live: "arena", caller: $0) }
        #expect(exited.notifiedLives == ["arena", "bistro", "cafe", "disco"])
        #expect(exited.reportedEvents("cafe") == [.battleUserExited(battle: firstBattle, live: "arena")])
        let secondBattle = harness.startBattle("cafe", against: "disco")
        #expect(secondBattle != .rejected, "cafe takes no part in the first battle, so it may start another one")
        #expect(harness.live("cafe")?.battle == secondBattle, "cafe shows its own battle")
        #expect(harness.live("bistro")?.battle == firstBattle, "bistro shows its own battle")
        // bistro is the last side of the first battle, which therefore ends.
        let ended = harness.call("bistro") { .exitBattle(battle: firstBattle, live: "bistro", caller: $0) }
        #expect(ended.notifiedLives == ["arena", "bistro", "cafe", "disco"])
        // bistro stayed in the first battle until the end, so bistro shows the result. arena left that battle earlier,
        // so arena shows the running battle, as cafe and disco do.
        for live: LiveID in ["arena", "cafe", "disco"] {
            #expect(harness.live(live)?.battle == secondBattle)
            #expect(ended.reportedEvents(live).contains(.battleEnded(battle: firstBattle, reason: .allMemberExit)))
            #expect(
                ended.reportedOtherBattles(live).map(\.ended) == [.allMemberExit],
                "the result of the first battle is reported to \(live) as another battle")
        }
        #expect(
            ended.reportedBattle("bistro")?.ended == .allMemberExit
                && ended.reportedOtherBattles("bistro").map(\.id) == [secondBattle])
        // The second battle ends by time. Its sides are notified first.
        let afterEnd = harness.advance(milliseconds: 60_000)
        #expect(afterEnd.notifiedLives == ["cafe", "disco", "arena", "bistro"])
        #expect(afterEnd.reportedEvents("arena") == [.battleEnded(battle: secondBattle, reason: .timeOver)])
        #expect(afterEnd.reportedBattle("arena")?.ended == .timeOver, "arena shows the result of the second battle")
    }

    /// Rules: R10.13.
    @Test
    func `while two battles run, every live of the connection gets all events of both battles`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo", "forum"])
        harness.connect("arena", "bistro", "cafe", "disco", "expo")
        let first = harness.startBattle("arena", against: "bistro")
        // Between the two starts is a pause, because a live without its own battle shows the battle that began last.
        _ = harness.advance(milliseconds: 1000)
        let second = harness.startBattle("cafe", against: "disco", seconds: 90)
        // The five connected lives; expo does not take part in a battle. forum is not connected yet.
        let connectedLives: [LiveID] = ["arena", "bistro", "cafe", "disco", "expo"]
        #expect(connectedLives.map { harness.live($0)?.battle } == [first, first, second, second, second])
        let scored = harness.updateScores(first, [("arena", 5)])
        #expect(scored.notifiedLives == connectedLives)
        for live in connectedLives {
            let views = self.reportedBattles(scored, to: live)
            #expect(Set(views.map(\.id)) == [first, second])
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0], "\(live)")
            #expect(scored.reportedEvents(live) == [.battleScored(battle: first)])
        }
        // forum joins the connection.
        _ = harness.request("expo", to: "forum")
        let joined = harness.accept("forum", inviter: "expo")
        #expect(
            joined.reportedBattle("forum")?.id == second && joined.reportedOtherBattles("forum").map(\.id) == [first])
        // The first battle, of 60 s, ends by time; the second one, of 90 s, continues.
        let afterEnd = harness.advance(milliseconds: 60_000)
        for live in connectedLives + ["forum"] {
            #expect(afterEnd.reportedEvents(live) == [.battleEnded(battle: first, reason: .timeOver)], "\(live)")
            let views = self.reportedBattles(afterEnd, to: live)
            #expect(views.first { $0.id == first }?.ended == .timeOver)
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0])
        }
        // A new battle of arena and bistro replaces the result of their first battle. From then on no live gets that
        // result any more.
        let third = harness.startBattle("arena", against: "bistro")
        let scoredAgain = harness.updateScores(second, [("disco", 9)])
        for live in connectedLives + ["forum"] {
            let views = self.reportedBattles(scoredAgain, to: live)
            #expect(Set(views.map(\.id)) == [second, third], "\(live)")
        }
    }

    @Test func `when a connection ends, each of its lives gets the results of all battles that end with it`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let first = harness.startBattle("arena", against: "cafe")
        let second = harness.startBattle("bistro", against: "disco")
        // Two of the four lives leave the connection, and with it their battles. arena and bistro remain.
        for live: LiveID in ["cafe", "disco"] { _ = harness.exit(live) }
        _ = harness.updateScores(second, [("bistro", 3)])
        // Of these two lives, arena leaves. That ends the connection and both battles.
        let afterEnd = harness.exit("arena")
        for live: LiveID in ["arena", "bistro"] {
            let ends = [first, second].map { StageEvent.battleEnded(battle: $0, reason: .allMemberExit) }
            #expect(afterEnd.reportedEvents(live).filter(ends.contains) == ends)
            let views = self.reportedBattles(afterEnd, to: live)
            // The battle in which the live took part comes first.
            #expect(views.map(\.id) == (live == "arena" ? [first, second] : [second, first]))
            #expect(views.allSatisfy { $0.ended == .allMemberExit })
            #expect(afterEnd.reportedConnection(live) == nil)
        }
    }

    /// Rules: R10.18.
    @Test func `scores reach all lives of the connection, even one that joins later, until the connection ends`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe")
        let id = harness.startBattle("arena", against: "bistro")
        #expect(harness.updateScores(id, [("arena", 5)]).notifiedLives == ["arena", "bistro", "cafe"])
        _ = harness.request("cafe", to: "disco")
        let joined = harness.accept("disco", inviter: "cafe")
        #expect(
            joined.reportedBattle("disco")?.sides.map(\.score) == [5, 0],
            "a live that joins later gets the battle with its stage")
        #expect(joined.reportedEvents("disco") == [.coHostJoined(member: harness.member("disco"))])
        // Scores are published at most every 500 ms.
        _ = harness.advance(milliseconds: 500)
        #expect(harness.updateScores(id, [("bistro", 7)]).notifiedLives == ["arena", "bistro", "cafe", "disco"])
        let left = harness.exit("cafe")
        #expect(left.reportedBattle("cafe") == nil, "a live that leaves the connection no longer shows the battle")
        #expect(left.reportedBattle("disco")?.sides.map(\.score) == [5, 7])
        // Without arena and bistro, only disco is left, so the connection ends.
        for live: LiveID in ["arena", "bistro"] { _ = harness.exit(live) }
        #expect(harness.machine.rows.sortedKeys.allSatisfy { $0.kind != .battle }, "expected no row of a battle")
        #expect(
            harness.updateScores(id, [("arena", 1)]).code == .noSuchBattle, "a result that no live shows is removed")
    }
}
