// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

struct BattleTests {
    /// Rules: R10.5.
    @Test func `a battle that needs no response starts at once, and ends by time with one result`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let caller = harness.callers.user("host-a")
        let effects = harness.handle(
            .requestBattle(
                from: "a", to: ["b"], durationSeconds: 30, needResponse: false, timeoutSeconds: 0, extensionInfo: "",
                caller: caller))
        let id = BattleID("b-\(harness.machine.moment.offset)")
        let start = harness.machine.moment.now
        var view = BattleView(
            id: id, extensionInfo: "", durationSeconds: 30, startTime: start, endTime: start + .seconds(30),
            sides: [
                BattleSide(live: "a", host: ConnectionHarness.host("a")),
                BattleSide(live: "b", host: ConnectionHarness.host("b")),
            ])
        let connection = effects.reportedConnection("a")
        #expect(connection?.members.count == 2)
        let began: [StageEvent] = [
            .battleStarted(battle: id), .battleUserJoined(battle: id, live: "a"),
            .battleUserJoined(battle: id, live: "b"),
        ]
        #expect(
            effects == [
                harness.seatReport("a", connection, view, began), harness.seatReport("b", connection, view, began),
                .success(
                    .battle(
                        battle: id, startTime: start, endTime: start + .seconds(30),
                        codes: [LiveCode(live: "b", code: 0)]), to: caller, app: "demo"),
            ])
        #expect(harness.advance(milliseconds: 29_999) == [])
        let ended = harness.advance(milliseconds: 1)
        view.ended = .timeOver
        #expect(
            ended == [
                harness.seatReport("a", connection, view, [.battleEnded(battle: id, reason: .timeOver)]),
                harness.seatReport("b", connection, view, [.battleEnded(battle: id, reason: .timeOver)]),
            ])
        #expect(harness.advance(milliseconds: 600_000).seatInputs == [], "the battle ends only once")
        let next = harness.startBattle("b", "a")
        #expect(next != id && harness.live("a")?.battle == next, "the next battle replaces the result")
        #expect(harness.score(id, [("a", 1)]).code == 100411)
    }

    /// Rules: R8.24, R10.3.
    @Test func `a battle that needs responses starts when all invitees have answered and one has accepted`() {
        var harness = ConnectionHarness(["a", "b", "c", "d"])
        harness.connect("a", "b", "c", "d")
        let id = harness.requestBattle("a", "b", "c", "d")
        let accepted = harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }
        #expect(
            accepted.first == harness.notice(to: "a", .battleRequestAccepted(battle: id, invitee: harness.member("b"))))
        #expect(accepted.seatInputs == [])
        let rejected = harness.call("c") { .rejectBattle(battle: id, live: "c", caller: $0) }
        #expect(rejected.notices.map(\.content) == [.battleRequestRejected(battle: id, invitee: harness.member("c"))])
        #expect(harness.score(id, [("a", 1)]).liveCodes == [100420])
        let notice = NoticeContent.battleRequestTimedOut(
            battle: id, inviter: "a", invitee: "d", inviterMember: harness.member("a"),
            inviteeMember: harness.member("d"))
        let late = harness.advance(milliseconds: 10_000)
        #expect(Array(late.prefix(2)) == [harness.notice(to: "a", notice), harness.notice(to: "d", notice)])
        #expect(late.notifiedLives == ["a", "b", "c", "d"], "all lives of the connection are notified of the start")
        #expect(late.reportedBattle("b")?.sides.map(\.live) == ["a", "b"])
        #expect(late.reportedBattle("b")?.startTime == harness.machine.moment.now)
    }

    /// Rules: R10.4.
    @Test func `a battle that nobody accepts never starts, and the inviter is notified`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        for answer in 0..<3 {
            let id = harness.requestBattle("a", "b")
            #expect(harness.call("b") { .acceptBattle(battle: "b-0", live: "b", caller: $0) }.code == 100411)
            let effects =
                switch answer {
                case 0: harness.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }
                case 1: harness.advance(milliseconds: 10_000)
                default: harness.call("a") { .cancelBattle(battle: id, live: "a", to: ["b", "x"], caller: $0) }
                }
            #expect(effects.notices.last?.content == .battleNotStarted(battle: id))
            #expect(effects.notices.last?.to.user == "host-a")
            #expect(effects.seatInputs == [])
            #expect(harness.live("a")?.battleRequest == nil && harness.live("b")?.battleRequest == nil)
        }
    }

    /// Rules: R10.9.
    @Test func `I14 a live is in one battle or battle request at a time`() {
        var harness = ConnectionHarness(["a", "b", "c", "d", "e"])
        harness.connect("a", "b", "c", "d")
        let first = harness.startBattle("a", "b")
        #expect(harness.requestBattle("c", "a", "b", "d", "e", "nobody", "c") != "none")
        #expect(harness.machine.journal.sortedKeys.filter { $0.kind == .battle }.count == 2)
        func code(_ harness: inout ConnectionHarness, _ from: LiveID, _ to: [LiveID]) -> Int? {
            harness.call(from) {
                .requestBattle(
                    from: from, to: to, durationSeconds: 0, needResponse: false, timeoutSeconds: 0, extensionInfo: "",
                    caller: $0)
            }.code
        }
        #expect(code(&harness, "a", ["d"]) == 100415)
        #expect(code(&harness, "c", ["d"]) == 100416)
        #expect(code(&harness, "d", ["c"]) == 100416)
        #expect(code(&harness, "e", ["a"]) == 100400)
        #expect(harness.call("b") { .exitBattle(battle: first, live: "b", caller: $0) }.code == 0)
        #expect(code(&harness, "b", ["a", "c"]) == 100412)
    }

    /// Rules: R10.1.
    @Test func `the result code of each invited live gives the reason why it cannot battle`() {
        var harness = ConnectionHarness(["a", "b", "c", "d", "e"])
        harness.connect("a", "b", "c", "d")
        _ = harness.startBattle("c", "d")
        let effects = harness.call("a") {
            .requestBattle(
                from: "a", to: ["b", "b", "c", "e", "nobody", "a"], durationSeconds: 0, needResponse: false,
                timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
        #expect(effects.liveCodes == [0, 2, 3, 4, 1, 2])
        #expect(effects.reportedBattle("a").map { $0.endTime - $0.startTime } == .seconds(300), "0 means the maximum")
    }

    /// Rules: R10.11.
    @Test func `a duration above the app's maximum is rejected`() {
        var harness = ConnectionHarness(["a", "b"], maxBattleSeconds: 60)
        harness.connect("a", "b")
        #expect(harness.startBattle("a", "b", seconds: 61) == "none")
        #expect(harness.startBattle("a", "b", seconds: -1) == "none")
        #expect(harness.startBattle("a", "b", seconds: 60) != "none")
    }

    /// Rules: R10.16.
    @Test func `I14 only the app's server changes scores, with a result code for each live`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let id = harness.startBattle("a", "b")
        let user = harness.callers.user("host-a")
        #expect(
            harness.handle(
                .updateScores(
                    battle: id, operation: .overwrite, scores: [ScoreUpdate(live: "a", score: 9)], caller: user)
            ).code == 100006)
        let effects = harness.score(id, [("a", 5), ("c", 1), ("nobody", 1), ("b", -1)])
        #expect(effects.liveCodes == [0, 100414, 100414, 100002])
        #expect(effects.notifiedLives == ["a", "b", "c"])
        #expect(effects.reportedBattle("b")?.sides.map(\.score) == [5, 0])
        _ = harness.advance(milliseconds: 1000)
        _ = harness.score(id, [("a", 7), ("b", 2)])
        _ = harness.advance(milliseconds: 1000)
        #expect(harness.score(id, [("a", 3)], .overwrite).reportedBattle("a")?.sides.map(\.score) == [3, 2])
        #expect(harness.score(id, [("b", .max)]).liveCodes == [100002])
        #expect(harness.score("b-0", [("a", 3)]).code == 100411)
        _ = harness.advance(milliseconds: 60_000)
        #expect(harness.score(id, [("a", 3)]).liveCodes == [100421])
    }

    /// Rules: R10.19.
    @Test func `I14 a score update that is sent several times counts once`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let id = harness.startBattle("a", "b")
        let command = ConnectionCommand.updateScores(
            battle: id, operation: .accumulate, scores: [ScoreUpdate(live: "a", score: 5)],
            caller: harness.callers.server())
        for _ in 0..<5 { #expect(harness.handle(command).liveCodes == [0]) }
        #expect(harness.advance(milliseconds: 60_000).reportedBattle("a")?.sides.map(\.score) == [5, 0])
    }

    /// Rules: R10.17.
    @Test func `I14 scores are published at most every half second, the last ones always, and the result is exact`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let id = harness.startBattle("a", "b", seconds: 10)
        #expect(harness.score(id, [("a", 1)]).notifiedLives == ["a", "b"], "the first score is published at once")
        #expect(harness.score(id, [("a", 1)]).notifiedLives == [])
        #expect(harness.advance(milliseconds: 499) == [])
        #expect(harness.score(id, [("b", 1)]).notifiedLives == [])
        let effects = harness.advance(milliseconds: 1)
        #expect(effects.reportedBattle("b")?.sides.map(\.score) == [2, 1])
        #expect(effects.reportedEvents("b") == [.battleScored(battle: id)])
        #expect(harness.advance(milliseconds: 500) == [], "no change, nothing published")
        #expect(harness.score(id, [("a", 0)]).notifiedLives == [])
        _ = harness.advance(milliseconds: 8_990)
        #expect(harness.score(id, [("b", 1)]).notifiedLives == ["a", "b"])
        #expect(harness.score(id, [("b", 40)]).notifiedLives == [])
        let ended = harness.advance(milliseconds: 10)
        #expect(ended.reportedBattle("a")?.sides.map(\.score) == [2, 42])
        #expect(ended.reportedEvents("a") == [.battleEnded(battle: id, reason: .timeOver)])
    }

    /// Rules: R10.14.
    @Test func `I14 the battle continues when one live exits, and ends when the last one does`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let id = harness.startBattle("a", "b")
        let first = harness.call("a") { .exitBattle(battle: id, live: "a", caller: $0) }
        #expect(first.reportedEvents("b") == [.battleUserExited(battle: id, live: "a")])
        #expect(first.reportedBattle("b")?.sides.map(\.hasLeft) == [true, false])
        #expect(harness.call("a") { .exitBattle(battle: id, live: "a", caller: $0) }.code == 100414)
        #expect(harness.score(id, [("a", 1), ("b", 1)]).liveCodes == [100414, 0])
        let last = harness.call("b") { .exitBattle(battle: id, live: "b", caller: $0) }
        #expect(
            last.reportedEvents("a") == [
                .battleUserExited(battle: id, live: "b"), .battleEnded(battle: id, reason: .allMemberExit),
            ])
        #expect(last.reportedBattle("a")?.ended == .allMemberExit)
        #expect(harness.call("b") { .exitBattle(battle: id, live: "b", caller: $0) }.code == 100421)
        #expect(harness.advance(milliseconds: 60_000).seatInputs == [])
    }

    /// Rules: R10.15.
    @Test func `I14 the end of the connection ends its battle, and both lives show the result`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let id = harness.startBattle("a", "b")
        _ = harness.score(id, [("a", 3)])
        _ = harness.score(id, [("b", 4)])
        let effects = harness.handle(.userGone(live: "b", user: "host-b"))
        for live: LiveID in ["a", "b"] {
            #expect(effects.reportedConnection(live) == nil)
            #expect(effects.reportedBattle(live)?.sides.map(\.score) == [3, 4])
            #expect(
                effects.reportedEvents(live) == [
                    .battleUserExited(battle: id, live: "b"), .battleUserExited(battle: id, live: "a"),
                    .battleEnded(battle: id, reason: .allMemberExit), .coHostLeft(member: harness.member("b")),
                ])
        }
        #expect(harness.score(id, [("a", 3)]).code == 100411)
    }

    @Test func `I13 a live that leaves the connection rejects or cancels its open battle request`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let connected = harness.machine.moment.now
        let first = harness.requestBattle("a", "b", "c")
        _ = harness.call("b") { .acceptBattle(battle: first, live: "b", caller: $0) }
        let started = harness.exit("c")
        #expect(started.notices.map(\.content) == [.battleRequestRejected(battle: first, invitee: harness.member("c"))])
        #expect(started.reportedBattle("b")?.sides.map(\.live) == ["a", "b"])
        _ = harness.advance(milliseconds: 60_000)
        let second = harness.requestBattle("a", "b")
        let gone = harness.handle(.ended(live: "a", ending: ending()))
        #expect(
            gone.notices.map(\.content) == [harness.battleRequestCancelled(second, "a", "b", at: connected)])
        #expect(harness.advance(milliseconds: 60_000).notices == [])
    }

    /// Rules: R10.7.
    @Test func `a running battle cannot be cancelled or answered`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let id = harness.startBattle("a", "b")
        #expect(harness.call("a") { .cancelBattle(battle: id, live: "a", to: ["b"], caller: $0) }.code == 100419)
        #expect(harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 100411)
        _ = harness.advance(milliseconds: 60_000)
        #expect(harness.call("a") { .cancelBattle(battle: id, live: "a", to: ["b"], caller: $0) }.code == 100411)
        #expect(harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 100421)
        let asked = harness.requestBattle("a", "b")
        #expect(harness.call("b") { .exitBattle(battle: asked, live: "b", caller: $0) }.code == 100420)
        #expect(harness.call("b") { .cancelBattle(battle: asked, live: "b", to: ["b"], caller: $0) }.code == 100006)
    }

    struct Rule: CustomTestStringConvertible, Sendable {
        let name: String
        /// The expected codes for the owner, another user of the live, and the app's server, in this order.
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

    /// Rules: R8.22.
    @Test(arguments: Self.rules, [0, 1, 2])
    func `only the owner of a live acts for it, and only the server scores`(rule: Rule, callerIndex: Int) {
        var harness = ConnectionHarness(["a", "b", "c", "d"])
        harness.connect("a", "b", "c")
        let battle = harness.requestBattle("a", "b", "c")
        let caller =
            switch callerIndex {
            case 0: harness.callers.user("host-b")
            case 1: harness.callers.user("adam")
            default: harness.callers.server()
            }
        let effects = harness.handle(rule.command(battle, caller))
        #expect(effects.code == rule.codes[callerIndex])
        if rule.codes[callerIndex] != 0 { #expect(effects.count == 1, "a rejected call notifies nobody") }
    }
}
