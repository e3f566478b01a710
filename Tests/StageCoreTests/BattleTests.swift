// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

struct BattleTests {
    @Test func `a battle without response starts at once, and ends by time with one result`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let caller = rig.callers.user("host-a")
        let effects = rig.tell(
            .requestBattle(
                from: "a", to: ["b"], durationSeconds: 30, needResponse: false, timeoutSeconds: 0, extensionInfo: "",
                caller: caller))
        let id = BattleID("b-\(rig.rig.moment.offset)")
        let start = rig.rig.moment.now
        var view = BattleView(
            id: id, extensionInfo: "", durationSeconds: 30, startTime: start, endTime: start + .seconds(30),
            sides: [
                BattleSide(live: "a", host: ConnectionRig.host("a")),
                BattleSide(live: "b", host: ConnectionRig.host("b")),
            ])
        let connection = effects.toldConnection("a")
        #expect(connection?.members.count == 2)
        let began: [StageEvent] = [
            .battleStarted(battle: id), .battleUserJoined(battle: id, live: "a"),
            .battleUserJoined(battle: id, live: "b"),
        ]
        #expect(
            effects == [
                rig.seat("a", connection, view, began), rig.seat("b", connection, view, began),
                .success(
                    .battle(
                        battle: id, startTime: start, endTime: start + .seconds(30),
                        codes: [LiveCode(live: "b", code: 0)]), to: caller, app: "demo"),
            ])
        #expect(rig.pass(milliseconds: 29_999) == [])
        let ended = rig.pass(milliseconds: 1)
        view.ended = .timeOver
        #expect(
            ended == [
                rig.seat("a", connection, view, [.battleEnded(battle: id, reason: .timeOver)]),
                rig.seat("b", connection, view, [.battleEnded(battle: id, reason: .timeOver)]),
            ])
        #expect(rig.pass(milliseconds: 600_000).seatInputs == [], "one end only")
        let next = rig.fight("b", "a")
        #expect(next != id && rig.live("a")?.battle == next, "the next battle takes the result's place")
        #expect(rig.score(id, [("a", 1)]).code == 100411)
    }

    @Test func `with response it starts when all are processed and one accepted`() {
        var rig = ConnectionRig(["a", "b", "c", "d"])
        rig.connect("a", "b", "c", "d")
        let id = rig.ask("a", "b", "c", "d")
        let accepted = rig.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }
        #expect(accepted.first == rig.notice(to: "a", .battleRequestAccepted(battle: id, invitee: rig.member("b"))))
        #expect(accepted.seatInputs == [])
        let rejected = rig.call("c") { .rejectBattle(battle: id, live: "c", caller: $0) }
        #expect(rejected.notices.map(\.content) == [.battleRequestRejected(battle: id, invitee: rig.member("c"))])
        #expect(rig.score(id, [("a", 1)]).liveCodes == [100420])
        let late = rig.pass(milliseconds: 10_000)
        #expect(
            Array(late.prefix(2)) == [
                rig.notice(to: "a", .battleRequestTimedOut(battle: id, inviter: "a", invitee: "d")),
                rig.notice(to: "d", .battleRequestTimedOut(battle: id, inviter: "a", invitee: "d")),
            ])
        #expect(late.toldLives == ["a", "b", "c", "d"], "all of the connection hear of the start")
        #expect(late.toldBattle("b")?.sides.map(\.live) == ["a", "b"])
        #expect(late.toldBattle("b")?.startTime == rig.rig.moment.now)
    }

    @Test func `nobody accepts: the battle never starts, and the inviter learns it`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        for answer in 0..<3 {
            let id = rig.ask("a", "b")
            #expect(rig.call("b") { .acceptBattle(battle: "b-0", live: "b", caller: $0) }.code == 100411)
            let effects =
                switch answer {
                case 0: rig.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }
                case 1: rig.pass(milliseconds: 10_000)
                default: rig.call("a") { .cancelBattle(battle: id, live: "a", to: ["b", "x"], caller: $0) }
                }
            #expect(effects.notices.last?.content == .battleNotStarted(battle: id))
            #expect(effects.notices.last?.to.user == "host-a")
            #expect(effects.seatInputs == [])
            #expect(rig.live("a")?.battleRequest == nil && rig.live("b")?.battleRequest == nil)
        }
    }

    @Test func `I14 a live is in one battle or agreement at a time`() {
        var rig = ConnectionRig(["a", "b", "c", "d", "e"])
        rig.connect("a", "b", "c", "d")
        let first = rig.fight("a", "b")
        #expect(rig.ask("c", "a", "b", "d", "e", "nobody", "c") != "none")
        #expect(rig.rig.journal.sortedKeys.filter { $0.kind == .battle }.count == 2)
        func code(_ rig: inout ConnectionRig, _ from: LiveID, _ to: [LiveID]) -> Int? {
            rig.call(from) {
                .requestBattle(
                    from: from, to: to, durationSeconds: 0, needResponse: false, timeoutSeconds: 0, extensionInfo: "",
                    caller: $0)
            }.code
        }
        #expect(code(&rig, "a", ["d"]) == 100415)
        #expect(code(&rig, "c", ["d"]) == 100416)
        #expect(code(&rig, "d", ["c"]) == 100416)
        #expect(code(&rig, "e", ["a"]) == 100400)
        #expect(rig.call("b") { .exitBattle(battle: first, live: "b", caller: $0) }.code == 0)
        #expect(code(&rig, "b", ["a", "c"]) == 100412)
    }

    @Test func `the code of each live that is asked to a battle says why not`() {
        var rig = ConnectionRig(["a", "b", "c", "d", "e"])
        rig.connect("a", "b", "c", "d")
        _ = rig.fight("c", "d")
        let effects = rig.call("a") {
            .requestBattle(
                from: "a", to: ["b", "b", "c", "e", "nobody", "a"], durationSeconds: 0, needResponse: false,
                timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
        #expect(effects.liveCodes == [0, 2, 3, 4, 1, 2])
        #expect(effects.toldBattle("a").map { $0.endTime - $0.startTime } == .seconds(300), "0 is the longest")
    }

    @Test func `a duration over the app's maximum is refused`() {
        var rig = ConnectionRig(["a", "b"], maxBattleSeconds: 60)
        rig.connect("a", "b")
        #expect(rig.fight("a", "b", seconds: 61) == "none")
        #expect(rig.fight("a", "b", seconds: -1) == "none")
        #expect(rig.fight("a", "b", seconds: 60) != "none")
    }

    @Test func `I14 scores change by the server alone, each live with its own code`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let id = rig.fight("a", "b")
        let user = rig.callers.user("host-a")
        #expect(
            rig.tell(
                .updateScores(
                    battle: id, operation: .overwrite, scores: [ScoreUpdate(live: "a", score: 9)], caller: user)
            ).code == 100006)
        let effects = rig.score(id, [("a", 5), ("c", 1), ("nobody", 1), ("b", -1)])
        #expect(effects.liveCodes == [0, 100414, 100414, 100002])
        #expect(effects.toldLives == ["a", "b", "c"])
        #expect(effects.toldBattle("b")?.sides.map(\.score) == [5, 0])
        _ = rig.pass(milliseconds: 1000)
        _ = rig.score(id, [("a", 7), ("b", 2)])
        _ = rig.pass(milliseconds: 1000)
        #expect(rig.score(id, [("a", 3)], .overwrite).toldBattle("a")?.sides.map(\.score) == [3, 2])
        #expect(rig.score(id, [("b", .max)]).liveCodes == [100002])
        #expect(rig.score("b-0", [("a", 3)]).code == 100411)
        _ = rig.pass(milliseconds: 60_000)
        #expect(rig.score(id, [("a", 3)]).liveCodes == [100421])
    }

    @Test func `I14 a score update counts once however often it is sent`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let id = rig.fight("a", "b")
        let command = ConnectionCommand.updateScores(
            battle: id, operation: .accumulate, scores: [ScoreUpdate(live: "a", score: 5)],
            caller: rig.callers.server())
        for _ in 0..<5 { #expect(rig.tell(command).liveCodes == [0]) }
        #expect(rig.pass(milliseconds: 60_000).toldBattle("a")?.sides.map(\.score) == [5, 0])
    }

    @Test func `I14 scores reach viewers at most each half second, the last always, the result exact`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let id = rig.fight("a", "b", seconds: 10)
        #expect(rig.score(id, [("a", 1)]).toldLives == ["a", "b"], "the first is told at once")
        #expect(rig.score(id, [("a", 1)]).toldLives == [])
        #expect(rig.pass(milliseconds: 499) == [])
        #expect(rig.score(id, [("b", 1)]).toldLives == [])
        let told = rig.pass(milliseconds: 1)
        #expect(told.toldBattle("b")?.sides.map(\.score) == [2, 1])
        #expect(told.toldEvents("b") == [.battleScored(battle: id)])
        #expect(rig.pass(milliseconds: 500) == [], "nothing new, nothing told")
        #expect(rig.score(id, [("a", 0)]).toldLives == [])
        _ = rig.pass(milliseconds: 8_990)
        #expect(rig.score(id, [("b", 1)]).toldLives == ["a", "b"])
        #expect(rig.score(id, [("b", 40)]).toldLives == [])
        let ended = rig.pass(milliseconds: 10)
        #expect(ended.toldBattle("a")?.sides.map(\.score) == [2, 42])
        #expect(ended.toldEvents("a") == [.battleEnded(battle: id, reason: .timeOver)])
    }

    @Test func `I14 who exits leaves the others fighting, and the last one out ends the battle`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let id = rig.fight("a", "b")
        let first = rig.call("a") { .exitBattle(battle: id, live: "a", caller: $0) }
        #expect(first.toldEvents("b") == [.battleUserExited(battle: id, live: "a")])
        #expect(first.toldBattle("b")?.sides.map(\.hasLeft) == [true, false])
        #expect(rig.call("a") { .exitBattle(battle: id, live: "a", caller: $0) }.code == 100414)
        #expect(rig.score(id, [("a", 1), ("b", 1)]).liveCodes == [100414, 0])
        let last = rig.call("b") { .exitBattle(battle: id, live: "b", caller: $0) }
        #expect(
            last.toldEvents("a") == [
                .battleUserExited(battle: id, live: "b"), .battleEnded(battle: id, reason: .allMemberExit),
            ])
        #expect(last.toldBattle("a")?.ended == .allMemberExit)
        #expect(rig.call("b") { .exitBattle(battle: id, live: "b", caller: $0) }.code == 100421)
        #expect(rig.pass(milliseconds: 60_000).seatInputs == [])
    }

    @Test func `I14 the end of the connection ends its battle, and both lives show the result`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let id = rig.fight("a", "b")
        _ = rig.score(id, [("a", 3)])
        _ = rig.score(id, [("b", 4)])
        let effects = rig.tell(.userGone(live: "b", user: "host-b"))
        for live: LiveID in ["a", "b"] {
            #expect(effects.toldConnection(live) == nil)
            #expect(effects.toldBattle(live)?.sides.map(\.score) == [3, 4])
            #expect(
                effects.toldEvents(live) == [
                    .battleUserExited(battle: id, live: "b"), .battleUserExited(battle: id, live: "a"),
                    .battleEnded(battle: id, reason: .allMemberExit), .coHostLeft(member: rig.member("b")),
                ])
        }
        #expect(rig.score(id, [("a", 3)]).code == 100411)
    }

    @Test func `I13 who leaves the connection declines or takes back what is being agreed on`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let first = rig.ask("a", "b", "c")
        _ = rig.call("b") { .acceptBattle(battle: first, live: "b", caller: $0) }
        let started = rig.exit("c")
        #expect(started.notices.map(\.content) == [.battleRequestRejected(battle: first, invitee: rig.member("c"))])
        #expect(started.toldBattle("b")?.sides.map(\.live) == ["a", "b"])
        _ = rig.pass(milliseconds: 60_000)
        let second = rig.ask("a", "b")
        let gone = rig.tell(.ended(live: "a", ending: ending()))
        #expect(
            gone.notices.map(\.content) == [.battleRequestCancelled(battle: second, inviter: "a", invitee: "b")])
        #expect(rig.pass(milliseconds: 60_000).notices == [])
    }

    @Test func `a running battle cannot be cancelled or answered`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let id = rig.fight("a", "b")
        #expect(rig.call("a") { .cancelBattle(battle: id, live: "a", to: ["b"], caller: $0) }.code == 100419)
        #expect(rig.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 100411)
        _ = rig.pass(milliseconds: 60_000)
        #expect(rig.call("a") { .cancelBattle(battle: id, live: "a", to: ["b"], caller: $0) }.code == 100411)
        #expect(rig.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 100421)
        let asked = rig.ask("a", "b")
        #expect(rig.call("b") { .exitBattle(battle: asked, live: "b", caller: $0) }.code == 100420)
        #expect(rig.call("b") { .cancelBattle(battle: asked, live: "b", to: ["b"], caller: $0) }.code == 100006)
    }

    struct Rule: CustomTestStringConvertible, Sendable {
        let name: String
        /// Codes for the owner, another user of the room, and the app's server.
        let codes: [Int]
        let command: @Sendable (BattleID, Caller) -> ConnectionCommand
        var testDescription: String { self.name }
    }

    static let rules: [Rule] = [
        Rule(name: "request", codes: [0, -2300, 0]) {
            .request(from: "b", to: ["d"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: $1)
        },
        Rule(name: "accept", codes: [100400, -2300, 100400]) { .accept(live: "b", inviter: "d", caller: $1) },
        Rule(name: "reject", codes: [100400, -2300, 100400]) { .reject(live: "b", inviter: "d", caller: $1) },
        Rule(name: "cancel", codes: [100400, -2300, 100400]) { .cancelRequest(from: "b", to: ["d"], caller: $1) },
        Rule(name: "exit", codes: [0, -2300, 0]) { .exit(live: "b", caller: $1) },
        Rule(name: "request battle", codes: [100416, -2300, 100416]) {
            .requestBattle(
                from: "b", to: ["c"], durationSeconds: 0, needResponse: true, timeoutSeconds: 0, extensionInfo: "",
                caller: $1)
        },
        Rule(name: "accept battle", codes: [0, -2300, 0]) { .acceptBattle(battle: $0, live: "b", caller: $1) },
        Rule(name: "reject battle", codes: [0, -2300, 0]) { .rejectBattle(battle: $0, live: "b", caller: $1) },
        Rule(name: "cancel battle", codes: [100006, -2300, 100006]) {
            .cancelBattle(battle: $0, live: "b", to: ["b"], caller: $1)
        },
        Rule(name: "exit battle", codes: [100420, -2300, 100420]) { .exitBattle(battle: $0, live: "b", caller: $1) },
        Rule(name: "scores", codes: [100006, 100006, 0]) {
            .updateScores(battle: $0, operation: .overwrite, scores: [ScoreUpdate(live: "b", score: 1)], caller: $1)
        },
    ]

    @Test(arguments: Self.rules, [0, 1, 2])
    func `only the owner of a live acts for it, and only the server scores`(rule: Rule, who: Int) {
        var rig = ConnectionRig(["a", "b", "c", "d"])
        rig.connect("a", "b", "c")
        let battle = rig.ask("a", "b", "c")
        let caller =
            switch who {
            case 0: rig.callers.user("host-b")
            case 1: rig.callers.user("adam")
            default: rig.callers.server()
            }
        let effects = rig.tell(rule.command(battle, caller))
        #expect(effects.code == rule.codes[who])
        if rule.codes[who] != 0 { #expect(effects.count == 1, "a refused call tells nobody") }
    }
}
