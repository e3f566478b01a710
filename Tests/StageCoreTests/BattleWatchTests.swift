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
        #expect(ended.toldLives == ["b"], "the others show the battle that began last")
        #expect(rig.live("a")?.battle == other)
        let over = rig.pass(milliseconds: 60_000)
        #expect(over.toldLives == ["c", "d", "a"])
        #expect(over.toldEvents("a") == [.battleEnded(battle: other, reason: .timeOver)])
        #expect(over.toldBattle("a")?.ended == .timeOver, "with the result, until the next battle")
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
