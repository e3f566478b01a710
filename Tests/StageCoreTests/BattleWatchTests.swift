// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// Connected lives that take part in no battle show their partners' (reference 10: all lives hear of it).
struct BattleWatchTests {
    @Test func `a connected live that does not fight is shown the battle from start to end, and stays free`() {
        var rig = ConnectionRig(["a", "b", "c", "d"])
        rig.connect("a", "b", "c", "d")
        let id = rig.fight("a", "b")
        #expect(rig.live("c")?.battle == id)
        #expect(rig.score(id, [("c", 1), ("a", 5)]).liveCodes == [100414, 0], "who watches has no score")
        #expect(rig.call("c") { .exitBattle(battle: id, live: "c", caller: $0) }.code == 100414)
        let exited = rig.call("a") { .exitBattle(battle: id, live: "a", caller: $0) }
        #expect(exited.toldLives == ["a", "b", "c", "d"])
        #expect(exited.toldEvents("c") == [.battleUserExited(battle: id, live: "a")])
        let other = rig.fight("c", "d")
        #expect(other != "none", "who watches may fight")
        #expect(rig.live("c")?.battle == other && rig.live("b")?.battle == id, "one's own battle comes first")
        let ended = rig.call("b") { .exitBattle(battle: id, live: "b", caller: $0) }
        #expect(ended.toldLives == ["a", "b", "c", "d"])
        for live: LiveID in ["a", "c", "d"] {
            #expect(rig.live(live)?.battle == other, "the others show the battle that began last")
            #expect(ended.toldEvents(live).contains(.battleEnded(battle: id, reason: .allMemberExit)))
            #expect(ended.toldOthers(live).map(\.ended) == [.allMemberExit], "and beside it how this one ended")
        }
        #expect(ended.toldBattle("b")?.ended == .allMemberExit && ended.toldOthers("b").map(\.id) == [other])
        let over = rig.pass(milliseconds: 60_000)
        #expect(over.toldLives == ["c", "d", "a", "b"])
        #expect(over.toldEvents("a") == [.battleEnded(battle: other, reason: .timeOver)])
        #expect(over.toldBattle("a")?.ended == .timeOver, "with the result, until the next battle")
    }

    @Test func `of two battles at once every live of the connection hears all, whichever it shows or fights in`() {
        var rig = ConnectionRig(["a", "b", "c", "d", "e", "f"])
        rig.connect("a", "b", "c", "d", "e")
        let first = rig.fight("a", "b")
        _ = rig.pass(milliseconds: 1000)
        let second = rig.fight("c", "d", seconds: 90)
        let all: [LiveID] = ["a", "b", "c", "d", "e"]
        #expect(all.map { rig.live($0)?.battle } == [first, first, second, second, second])
        let scored = rig.score(first, [("a", 5)])
        #expect(scored.toldLives == all)
        for live in all {
            let views = [scored.toldBattle(live)].compactMap(\.self) + scored.toldOthers(live)
            #expect(Set(views.map(\.id)) == [first, second])
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0], "\(live)")
            #expect(scored.toldEvents(live) == [.battleScored(battle: first)])
        }
        // Who comes now sees both.
        _ = rig.request("e", "f")
        let joined = rig.accept("f", "e")
        #expect(joined.toldBattle("f")?.id == second && joined.toldOthers("f").map(\.id) == [first])
        let over = rig.pass(milliseconds: 60_000)
        for live in all + ["f"] {
            #expect(over.toldEvents(live) == [.battleEnded(battle: first, reason: .timeOver)], "\(live)")
            let views = [over.toldBattle(live)].compactMap(\.self) + over.toldOthers(live)
            #expect(views.first { $0.id == first }?.ended == .timeOver)
            #expect(views.first { $0.id == first }?.sides.map(\.score) == [5, 0])
        }
        // The result goes from the other stages when its own lives show it no more.
        let third = rig.fight("a", "b")
        let scoredAgain = rig.score(second, [("d", 9)])
        for live in all + ["f"] {
            let views = [scoredAgain.toldBattle(live)].compactMap(\.self) + scoredAgain.toldOthers(live)
            #expect(Set(views.map(\.id)) == [second, third], "\(live)")
        }
    }

    @Test func `a battle that ends with the connection is told with its result to the live that fought another`() {
        var rig = ConnectionRig(["a", "b", "c", "d"])
        rig.connect("a", "b", "c", "d")
        let first = rig.fight("a", "c")
        let second = rig.fight("b", "d")
        for live: LiveID in ["c", "d"] { _ = rig.exit(live) }
        _ = rig.score(second, [("b", 3)])
        let over = rig.exit("a")
        for live: LiveID in ["a", "b"] {
            let ends = [first, second].map { StageEvent.battleEnded(battle: $0, reason: .allMemberExit) }
            #expect(over.toldEvents(live).filter(ends.contains) == ends)
            let views = [over.toldBattle(live)].compactMap(\.self) + over.toldOthers(live)
            #expect(views.map(\.id) == (live == "a" ? [first, second] : [second, first]))
            #expect(views.allSatisfy { $0.ended == .allMemberExit })
            #expect(over.toldConnection(live) == nil)
        }
    }

    @Test func `scores reach all lives of the connection, a newcomer's too, and go with it`() {
        var rig = ConnectionRig(["a", "b", "c", "d"])
        rig.connect("a", "b", "c")
        let id = rig.fight("a", "b")
        #expect(rig.score(id, [("a", 5)]).toldLives == ["a", "b", "c"])
        _ = rig.request("c", "d")
        let joined = rig.accept("d", "c")
        #expect(joined.toldBattle("d")?.sides.map(\.score) == [5, 0], "a late one has it with its stage")
        #expect(joined.toldEvents("d") == [.coHostJoined(member: rig.member("d"))])
        _ = rig.pass(milliseconds: 500)
        #expect(rig.score(id, [("b", 7)]).toldLives == ["a", "b", "c", "d"])
        let left = rig.exit("c")
        #expect(left.toldBattle("c") == nil, "who leaves the connection watches no more")
        #expect(left.toldBattle("d")?.sides.map(\.score) == [5, 7])
        for live: LiveID in ["a", "b"] { _ = rig.exit(live) }
        let journal = rig.rig.journal
        #expect(journal.sortedKeys.allSatisfy { if case .battle? = journal[$0] { false } else { true } })
        #expect(rig.score(id, [("a", 1)]).code == 100411, "shown nowhere, it is forgotten")
    }
}
