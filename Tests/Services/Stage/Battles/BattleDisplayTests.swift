// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// Connected lives that take part in no battle show the battle of other members (R10.13).
///
/// A battle of the harness lasts 60 s unless the test says otherwise.
struct BattleDisplayTests {
    /// All battles in the last report to the live's seat machine: first the one that the live shows, then the others.
    private func reportedBattles(_ effects: [Effect], _ live: LiveID) -> [BattleView] {
        var battles = effects.reportedOtherBattles(live)
        if let shownBattle = effects.reportedBattle(live) { battles.insert(shownBattle, at: 0) }
        return battles
    }

    /// Rules: R10.13.
    @Test func `a connected live outside the battle shows it from start to end, and can start another battle`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let id = harness.startBattle("arena", against: "bistro")
        #expect(harness.live("cafe")?.battle == id)
        #expect(
            harness.updateScores(id, [("cafe", 1), ("arena", 5)]).scoreCodes == [.roomNotInBattle, .success],
            "a live outside the battle has no score")
        #expect(harness.call("cafe") { .exitBattle(battle: id, live: "cafe", caller: $0) }.code == .roomNotInBattle)
        let exited = harness.call("arena") { .exitBattle(battle: id, live: "arena", caller: $0) }
        #expect(exited.notifiedLives == ["arena", "bistro", "cafe", "disco"])
        #expect(exited.reportedEvents("cafe") == [.battleUserExited(battle: id, live: "arena")])
        let secondBattle = harness.startBattle("cafe", against: "disco")
        #expect(secondBattle != "none", "cafe, outside the first battle, may start another battle")
        #expect(
            harness.live("cafe")?.battle == secondBattle && harness.live("bistro")?.battle == id,
            "a live shows its own battle first")
        let ended = harness.call("bistro") { .exitBattle(battle: id, live: "bistro", caller: $0) }
        #expect(ended.notifiedLives == ["arena", "bistro", "cafe", "disco"])
        // bistro, which stayed in the first battle until its end, shows the result. arena left that battle earlier, so
        // it shows the running battle, as cafe and disco do.
        for live: LiveID in ["arena", "cafe", "disco"] {
            #expect(harness.live(live)?.battle == secondBattle)
            #expect(ended.reportedEvents(live).contains(.battleEnded(battle: id, reason: .allMemberExit)))
            #expect(
                ended.reportedOtherBattles(live).map(\.ended) == [.allMemberExit],
                "each of these lives also gets the result of the first battle")
        }
        #expect(
            ended.reportedBattle("bistro")?.ended == .allMemberExit
                && ended.reportedOtherBattles("bistro").map(\.id) == [secondBattle])
        let afterEnd = harness.advance(milliseconds: 60_000)
        #expect(afterEnd.notifiedLives == ["cafe", "disco", "arena", "bistro"], "first the sides of the battle")
        #expect(afterEnd.reportedEvents("arena") == [.battleEnded(battle: secondBattle, reason: .timeOver)])
        #expect(afterEnd.reportedBattle("arena")?.ended == .timeOver, "arena shows the result of the second battle")
    }

    /// Rules: R10.13.
    @Test
    func `while two battles run, every live of the connection gets all events of both battles`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo", "forum"])
        harness.connect("arena", "bistro", "cafe", "disco", "expo")
        let first = harness.startBattle("arena", against: "bistro")
        // The second battle begins later.
        _ = harness.advance(milliseconds: 1000)
        let second = harness.startBattle("cafe", against: "disco", seconds: 90)
        // expo takes part in no battle, so it shows the battle that began last.
        let connectedLives: [LiveID] = ["arena", "bistro", "cafe", "disco", "expo"]
        #expect(connectedLives.map { harness.live($0)?.battle } == [first, first, second, second, second])
        let scored = harness.updateScores(first, [("arena", 5)])
        #expect(scored.notifiedLives == connectedLives)
        for live in connectedLives {
            let views = self.reportedBattles(scored, live)
            #expect(Set(views.map(\.id)) == [first, second])
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0], "\(live)")
            #expect(scored.reportedEvents(live) == [.battleScored(battle: first)])
        }
        // A live that joins the connection now sees both battles.
        _ = harness.request("expo", to: "forum")
        let joined = harness.accept("forum", inviter: "expo")
        #expect(
            joined.reportedBattle("forum")?.id == second && joined.reportedOtherBattles("forum").map(\.id) == [first])
        let afterEnd = harness.advance(milliseconds: 60_000)
        for live in connectedLives + ["forum"] {
            #expect(afterEnd.reportedEvents(live) == [.battleEnded(battle: first, reason: .timeOver)], "\(live)")
            let views = self.reportedBattles(afterEnd, live)
            #expect(views.first { $0.id == first }?.ended == .timeOver)
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0])
        }
        // A new battle of arena and bistro replaces the result of their first battle. The stages of the other lives
        // then remove that result too.
        let third = harness.startBattle("arena", against: "bistro")
        let scoredAgain = harness.updateScores(second, [("disco", 9)])
        for live in connectedLives + ["forum"] {
            let views = self.reportedBattles(scoredAgain, live)
            #expect(Set(views.map(\.id)) == [second, third], "\(live)")
        }
    }

    @Test func `a battle that ends with the connection is reported with its result to a live in another battle`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let first = harness.startBattle("arena", against: "cafe")
        let second = harness.startBattle("bistro", against: "disco")
        for live: LiveID in ["cafe", "disco"] { _ = harness.exit(live) }
        _ = harness.updateScores(second, [("bistro", 3)])
        let afterEnd = harness.exit("arena")
        for live: LiveID in ["arena", "bistro"] {
            let ends = [first, second].map { StageEvent.battleEnded(battle: $0, reason: .allMemberExit) }
            #expect(afterEnd.reportedEvents(live).filter(ends.contains) == ends)
            let views = self.reportedBattles(afterEnd, live)
            // A live's own battle comes first.
            #expect(views.map(\.id) == (live == "arena" ? [first, second] : [second, first]))
            #expect(views.allSatisfy { $0.ended == .allMemberExit })
            #expect(afterEnd.reportedConnection(live) == nil)
        }
    }

    /// Rules: R10.18.
    @Test func `scores reach all lives of the connection, also one that joins later, and end with the connection`() {
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
        for live: LiveID in ["arena", "bistro"] { _ = harness.exit(live) }
        let journal = harness.machine.journal
        #expect(journal.sortedKeys.allSatisfy { if case .battle? = journal[$0] { false } else { true } })
        #expect(
            harness.updateScores(id, [("arena", 1)]).code == .noSuchBattle, "a result that no live shows is removed")
    }
}
