// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// Connected lives that take part in no battle show the battle of other members (R10.13).
struct BattleDisplayTests {
    /// Rules: R10.13.
    @Test func `a connected live outside the battle shows it from start to end, and can start another battle`() {
        var harness = ConnectionHarness(["a", "b", "c", "d"])
        harness.connect("a", "b", "c", "d")
        let id = harness.startBattle("a", "b")
        #expect(harness.live("c")?.battle == id)
        #expect(
            harness.score(id, [("c", 1), ("a", 5)]).liveCodes == [100414, 0], "a live outside the battle has no score")
        #expect(harness.call("c") { .exitBattle(battle: id, live: "c", caller: $0) }.code == 100414)
        let exited = harness.call("a") { .exitBattle(battle: id, live: "a", caller: $0) }
        #expect(exited.notifiedLives == ["a", "b", "c", "d"])
        #expect(exited.reportedEvents("c") == [.battleUserExited(battle: id, live: "a")])
        let other = harness.startBattle("c", "d")
        #expect(other != "none", "a live outside the battle may start another")
        #expect(
            harness.live("c")?.battle == other && harness.live("b")?.battle == id, "a live shows its own battle first")
        let ended = harness.call("b") { .exitBattle(battle: id, live: "b", caller: $0) }
        #expect(ended.notifiedLives == ["a", "b", "c", "d"])
        for live: LiveID in ["a", "c", "d"] {
            #expect(harness.live(live)?.battle == other, "the others show the battle that began last")
            #expect(ended.reportedEvents(live).contains(.battleEnded(battle: id, reason: .allMemberExit)))
            #expect(
                ended.reportedOtherBattles(live).map(\.ended) == [.allMemberExit],
                "and in addition the result of the first")
        }
        #expect(
            ended.reportedBattle("b")?.ended == .allMemberExit && ended.reportedOtherBattles("b").map(\.id) == [other])
        let over = harness.advance(milliseconds: 60_000)
        #expect(over.notifiedLives == ["c", "d", "a", "b"])
        #expect(over.reportedEvents("a") == [.battleEnded(battle: other, reason: .timeOver)])
        #expect(over.reportedBattle("a")?.ended == .timeOver, "with the result, until the next battle")
    }

    /// Rules: R10.13.
    @Test
    func `of two battles at once, every live of the connection gets all events, whichever it shows or takes part in`() {
        var harness = ConnectionHarness(["a", "b", "c", "d", "e", "f"])
        harness.connect("a", "b", "c", "d", "e")
        let first = harness.startBattle("a", "b")
        _ = harness.advance(milliseconds: 1000)
        let second = harness.startBattle("c", "d", seconds: 90)
        let all: [LiveID] = ["a", "b", "c", "d", "e"]
        #expect(all.map { harness.live($0)?.battle } == [first, first, second, second, second])
        let scored = harness.score(first, [("a", 5)])
        #expect(scored.notifiedLives == all)
        for live in all {
            let views = [scored.reportedBattle(live)].compactMap(\.self) + scored.reportedOtherBattles(live)
            #expect(Set(views.map(\.id)) == [first, second])
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0], "\(live)")
            #expect(scored.reportedEvents(live) == [.battleScored(battle: first)])
        }
        // A live that joins the connection now sees both battles.
        _ = harness.request("e", "f")
        let joined = harness.accept("f", "e")
        #expect(joined.reportedBattle("f")?.id == second && joined.reportedOtherBattles("f").map(\.id) == [first])
        let over = harness.advance(milliseconds: 60_000)
        for live in all + ["f"] {
            #expect(over.reportedEvents(live) == [.battleEnded(battle: first, reason: .timeOver)], "\(live)")
            let views = [over.reportedBattle(live)].compactMap(\.self) + over.reportedOtherBattles(live)
            #expect(views.first { $0.id == first }?.ended == .timeOver)
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0])
        }
        // The other stages remove the result when its own lives no longer show it.
        let third = harness.startBattle("a", "b")
        let scoredAgain = harness.score(second, [("d", 9)])
        for live in all + ["f"] {
            let views = [scoredAgain.reportedBattle(live)].compactMap(\.self) + scoredAgain.reportedOtherBattles(live)
            #expect(Set(views.map(\.id)) == [second, third], "\(live)")
        }
    }

    @Test func `a battle that ends with the connection is reported with its result to a live in another battle`() {
        var harness = ConnectionHarness(["a", "b", "c", "d"])
        harness.connect("a", "b", "c", "d")
        let first = harness.startBattle("a", "c")
        let second = harness.startBattle("b", "d")
        for live: LiveID in ["c", "d"] { _ = harness.exit(live) }
        _ = harness.score(second, [("b", 3)])
        let over = harness.exit("a")
        for live: LiveID in ["a", "b"] {
            let ends = [first, second].map { StageEvent.battleEnded(battle: $0, reason: .allMemberExit) }
            #expect(over.reportedEvents(live).filter(ends.contains) == ends)
            let views = [over.reportedBattle(live)].compactMap(\.self) + over.reportedOtherBattles(live)
            #expect(views.map(\.id) == (live == "a" ? [first, second] : [second, first]))
            #expect(views.allSatisfy { $0.ended == .allMemberExit })
            #expect(over.reportedConnection(live) == nil)
        }
    }

    /// Rules: R10.18.
    @Test func `scores reach all lives of the connection, also a new one, and are removed with the connection`() {
        var harness = ConnectionHarness(["a", "b", "c", "d"])
        harness.connect("a", "b", "c")
        let id = harness.startBattle("a", "b")
        #expect(harness.score(id, [("a", 5)]).notifiedLives == ["a", "b", "c"])
        _ = harness.request("c", "d")
        let joined = harness.accept("d", "c")
        #expect(
            joined.reportedBattle("d")?.sides.map(\.score) == [5, 0],
            "a live that joins later gets the battle with its stage")
        #expect(joined.reportedEvents("d") == [.coHostJoined(member: harness.member("d"))])
        _ = harness.advance(milliseconds: 500)
        #expect(harness.score(id, [("b", 7)]).notifiedLives == ["a", "b", "c", "d"])
        let left = harness.exit("c")
        #expect(left.reportedBattle("c") == nil, "a live that leaves the connection no longer shows it")
        #expect(left.reportedBattle("d")?.sides.map(\.score) == [5, 7])
        for live: LiveID in ["a", "b"] { _ = harness.exit(live) }
        let journal = harness.machine.journal
        #expect(journal.sortedKeys.allSatisfy { if case .battle? = journal[$0] { false } else { true } })
        #expect(harness.score(id, [("a", 1)]).code == 100411, "a result that no live shows is removed")
    }
}
