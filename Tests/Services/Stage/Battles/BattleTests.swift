// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import Testing

@testable import StageCore

/// Starts, answers, scores and ends of battles.
///
/// A battle of the harness lasts 60 s, and a battle request expires after 10 s, unless the test says otherwise. A
/// battle is named after the offset of its request. Scores are published at most every 500 ms.
struct BattleTests {
    /// Rules: R10.5.
    @Test func `a battle that needs no response starts at once, and ends by time with one result`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let caller = harness.callers.user("host-arena")
        let effects = harness.handle(
            .requestBattle(
                from: "arena", to: ["bistro"], durationSeconds: 30, needResponse: false, timeoutSeconds: 0,
                extensionInfo: "",
                caller: caller))
        let id = BattleID("b-\(harness.machine.moment.offset)")
        let start = harness.machine.moment.now
        var view = BattleView(
            id: id, extensionInfo: "", durationSeconds: 30, startTime: start, endTime: start + .seconds(30),
            sides: [
                BattleSide(live: "arena", host: ConnectionHarness.host("arena")),
                BattleSide(live: "bistro", host: ConnectionHarness.host("bistro")),
            ])
        let connection = effects.reportedConnection("arena")
        #expect(connection?.members.count == 2)
        let startEvents: [StageEvent] = [
            .battleStarted(battle: id), .battleUserJoined(battle: id, live: "arena"),
            .battleUserJoined(battle: id, live: "bistro"),
        ]
        #expect(
            effects == [
                harness.seatReport("arena", connection: connection, battle: view, events: startEvents),
                harness.seatReport("bistro", connection: connection, battle: view, events: startEvents),
                .success(
                    .battle(
                        battle: id, startTime: start, endTime: start + .seconds(30),
                        codes: [LiveCode(live: "bistro", code: 0)]), to: caller, app: "demo"),
            ])
        #expect(harness.advance(milliseconds: 29_999) == [])
        let ended = harness.advance(milliseconds: 1)
        view.ended = .timeOver
        #expect(
            ended == [
                harness.seatReport(
                    "arena", connection: connection, battle: view, events: [.battleEnded(battle: id, reason: .timeOver)]
                ),
                harness.seatReport(
                    "bistro", connection: connection, battle: view,
                    events: [.battleEnded(battle: id, reason: .timeOver)]),
            ])
        #expect(harness.advance(milliseconds: 600_000).seatInputs == [], "the battle ends only once")
        let nextBattle = harness.startBattle("bistro", against: "arena")
        #expect(
            nextBattle != id && harness.live("arena")?.battle == nextBattle, "the next battle replaces the result")
        #expect(harness.updateScores(id, [("arena", 1)]).code == .noSuchBattle)
    }

    /// Rules: R8.24, R10.3.
    @Test func `a battle that needs responses starts when all invitees have answered and one has accepted`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let id = harness.requestBattle("arena", against: "bistro", "cafe", "disco")
        let accepted = harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }
        #expect(
            accepted.first
                == harness.notice(to: "arena", .battleRequestAccepted(battle: id, invitee: harness.member("bistro"))))
        #expect(accepted.seatInputs == [])
        let rejected = harness.call("cafe") { .rejectBattle(battle: id, live: "cafe", caller: $0) }
        #expect(
            rejected.notices.map(\.content) == [.battleRequestRejected(battle: id, invitee: harness.member("cafe"))])
        #expect(harness.updateScores(id, [("arena", 1)]).scoreCodes == [.battleNotStarted])
        let notice = NoticeContent.battleRequestTimedOut(
            battle: id, inviter: "arena", invitee: "disco", inviterMember: harness.member("arena"),
            inviteeMember: harness.member("disco"))
        let timedOut = harness.advance(milliseconds: 10_000)
        #expect(
            Array(timedOut.prefix(2)) == [harness.notice(to: "arena", notice), harness.notice(to: "disco", notice)])
        #expect(
            timedOut.notifiedLives == ["arena", "bistro", "cafe", "disco"],
            "all lives of the connection are notified of the start")
        #expect(timedOut.reportedBattle("bistro")?.sides.map(\.live) == ["arena", "bistro"])
        #expect(timedOut.reportedBattle("bistro")?.startTime == harness.machine.moment.now)
    }

    /// Rules: R10.4.
    @Test func `a battle that nobody accepts never starts, and the inviter is notified`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        for ending in ["rejected", "timed out", "cancelled"] {
            let id = harness.requestBattle("arena", against: "bistro")
            // No battle has the id b-0, because inputs have offsets above 100.
            #expect(
                harness.call("bistro") { .acceptBattle(battle: "b-0", live: "bistro", caller: $0) }.code
                    == .noSuchBattle)
            let effects =
                switch ending {
                case "rejected": harness.call("bistro") { .rejectBattle(battle: id, live: "bistro", caller: $0) }
                case "timed out": harness.advance(milliseconds: 10_000)
                // "cancelled"
                default:
                    harness.call("arena") { .cancelBattle(battle: id, live: "arena", to: ["bistro", "x"], caller: $0) }
                }
            #expect(effects.notices.last?.content == .battleNotStarted(battle: id))
            #expect(effects.notices.last?.to.user == "host-arena")
            #expect(effects.seatInputs == [])
            #expect(harness.live("arena")?.battleRequest == nil && harness.live("bistro")?.battleRequest == nil)
        }
    }

    /// Rules: R10.9.
    @Test func `I14 a live is in one battle or battle request at a time`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let first = harness.startBattle("arena", against: "bistro")
        // Of the named lives only disco can be invited.
        #expect(harness.requestBattle("cafe", against: "arena", "bistro", "disco", "expo", "nobody", "cafe") != "none")
        #expect(
            harness.machine.journal.sortedKeys.filter { $0.kind == .battle }.count == 2,
            "a running battle and an open battle request")
        /// The code of the reply when the owner of `from` starts a battle against `to` that needs no response.
        func startCode(_ harness: inout ConnectionHarness, from: LiveID, to: [LiveID]) -> ReplyCode? {
            harness.call(from) {
                .requestBattle(
                    from: from, to: to, durationSeconds: 0, needResponse: false, timeoutSeconds: 0, extensionInfo: "",
                    caller: $0)
            }.code
        }
        #expect(startCode(&harness, from: "arena", to: ["disco"]) == .inAnotherBattle)
        #expect(startCode(&harness, from: "cafe", to: ["disco"]) == .battlePending)
        #expect(startCode(&harness, from: "disco", to: ["cafe"]) == .battlePending)
        #expect(startCode(&harness, from: "expo", to: ["arena"]) == .noSuchConnection)
        #expect(harness.call("bistro") { .exitBattle(battle: first, live: "bistro", caller: $0) }.code == .success)
        #expect(startCode(&harness, from: "bistro", to: ["arena", "cafe"]) == .noValidRoom, "both invitees are busy")
    }

    /// Rules: R10.1.
    @Test func `the result code of each invited live gives the reason why it cannot battle`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo"])
        harness.connect("arena", "bistro", "cafe", "disco")
        _ = harness.startBattle("cafe", against: "disco")
        let effects = harness.call("arena") {
            .requestBattle(
                from: "arena", to: ["bistro", "bistro", "cafe", "expo", "nobody", "arena"], durationSeconds: 0,
                needResponse: false,
                timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
        // bistro is named twice, cafe is in a battle, expo is not connected, nobody is no live, arena is the inviter.
        #expect(
            effects.battleCodes == [.sent, .alreadyInvited, .inAnotherBattle, .hasLeft, .noSuchLive, .alreadyInvited])
        #expect(
            effects.reportedBattle("arena").map { $0.endTime - $0.startTime } == .seconds(300), "0 means the maximum")
    }

    /// Rules: R10.11.
    @Test func `a duration above the app's maximum is rejected`() {
        var harness = ConnectionHarness(["arena", "bistro"], maxBattleSeconds: 60)
        harness.connect("arena", "bistro")
        #expect(harness.startBattle("arena", against: "bistro", seconds: 61) == "none")
        #expect(harness.startBattle("arena", against: "bistro", seconds: -1) == "none")
        #expect(harness.startBattle("arena", against: "bistro", seconds: 60) != "none")
    }

    /// Rules: R10.16.
    @Test func `I14 only the app's server changes scores, with a result code for each live`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let id = harness.startBattle("arena", against: "bistro")
        let user = harness.callers.user("host-arena")
        #expect(
            harness.handle(
                .updateScores(
                    battle: id, operation: .overwrite, scores: [ScoreUpdate(live: "arena", score: 9)], caller: user)
            ).code == .noPermission)
        let effects = harness.updateScores(id, [("arena", 5), ("cafe", 1), ("nobody", 1), ("bistro", -1)])
        #expect(effects.scoreCodes == [.success, .roomNotInBattle, .roomNotInBattle, .badParameter])
        #expect(effects.notifiedLives == ["arena", "bistro", "cafe"])
        #expect(effects.reportedBattle("bistro")?.sides.map(\.score) == [5, 0])
        _ = harness.advance(milliseconds: 1000)
        _ = harness.updateScores(id, [("arena", 7), ("bistro", 2)])
        _ = harness.advance(milliseconds: 1000)
        #expect(
            harness.updateScores(id, [("arena", 3)], .overwrite).reportedBattle("arena")?.sides.map(\.score) == [3, 2])
        #expect(harness.updateScores(id, [("bistro", .max)]).scoreCodes == [.badParameter], "the maximum is 2^53")
        #expect(harness.updateScores("b-0", [("arena", 3)]).code == .noSuchBattle)
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
        #expect(harness.advance(milliseconds: 60_000).reportedBattle("arena")?.sides.map(\.score) == [5, 0])
    }

    /// Rules: R10.17.
    @Test func `I14 scores are published at most every half second, the last ones always, and the result is exact`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro", seconds: 10)
        #expect(
            harness.updateScores(id, [("arena", 1)]).notifiedLives == ["arena", "bistro"],
            "the first score is published at once")
        #expect(harness.updateScores(id, [("arena", 1)]).notifiedLives == [])
        #expect(harness.advance(milliseconds: 499) == [])
        #expect(harness.updateScores(id, [("bistro", 1)]).notifiedLives == [])
        let effects = harness.advance(milliseconds: 1)
        #expect(effects.reportedBattle("bistro")?.sides.map(\.score) == [2, 1])
        #expect(effects.reportedEvents("bistro") == [.battleScored(battle: id)])
        #expect(harness.advance(milliseconds: 500) == [], "no change, nothing published")
        #expect(harness.updateScores(id, [("arena", 0)]).notifiedLives == [], "adding 0 changes nothing")
        // 499 + 1 + 500 + 8,990 = 9,990 ms have passed; the battle of 10 s ends 10 ms later.
        _ = harness.advance(milliseconds: 8_990)
        #expect(harness.updateScores(id, [("bistro", 1)]).notifiedLives == ["arena", "bistro"])
        #expect(harness.updateScores(id, [("bistro", 40)]).notifiedLives == [])
        let ended = harness.advance(milliseconds: 10)
        #expect(ended.reportedBattle("arena")?.sides.map(\.score) == [2, 42], "1 + 1, and 1 + 1 + 40")
        #expect(ended.reportedEvents("arena") == [.battleEnded(battle: id, reason: .timeOver)])
    }

    /// Rules: R10.14.
    @Test func `I14 a battle continues when one live exits, and ends when the last live exits`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro")
        let firstExit = harness.call("arena") { .exitBattle(battle: id, live: "arena", caller: $0) }
        #expect(firstExit.reportedEvents("bistro") == [.battleUserExited(battle: id, live: "arena")])
        #expect(firstExit.reportedBattle("bistro")?.sides.map(\.hasLeft) == [true, false])
        #expect(harness.call("arena") { .exitBattle(battle: id, live: "arena", caller: $0) }.code == .roomNotInBattle)
        #expect(harness.updateScores(id, [("arena", 1), ("bistro", 1)]).scoreCodes == [.roomNotInBattle, .success])
        let lastExit = harness.call("bistro") { .exitBattle(battle: id, live: "bistro", caller: $0) }
        #expect(
            lastExit.reportedEvents("arena") == [
                .battleUserExited(battle: id, live: "bistro"), .battleEnded(battle: id, reason: .allMemberExit),
            ])
        #expect(lastExit.reportedBattle("arena")?.ended == .allMemberExit)
        #expect(harness.call("bistro") { .exitBattle(battle: id, live: "bistro", caller: $0) }.code == .battleOver)
        #expect(harness.advance(milliseconds: 60_000).seatInputs == [])
    }

    /// Rules: R10.15.
    @Test func `I14 the end of the connection ends its battle, and both lives show the result`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro")
        _ = harness.updateScores(id, [("arena", 3)])
        _ = harness.updateScores(id, [("bistro", 4)])
        let effects = harness.handle(.userGone(live: "bistro", user: "host-bistro"))
        for live: LiveID in ["arena", "bistro"] {
            #expect(effects.reportedConnection(live) == nil)
            #expect(effects.reportedBattle(live)?.sides.map(\.score) == [3, 4])
            #expect(
                effects.reportedEvents(live) == [
                    .battleUserExited(battle: id, live: "bistro"), .battleUserExited(battle: id, live: "arena"),
                    .battleEnded(battle: id, reason: .allMemberExit), .coHostLeft(member: harness.member("bistro")),
                ])
        }
        #expect(harness.updateScores(id, [("arena", 3)]).code == .noSuchBattle)
    }

    @Test func `I13 a live that leaves the connection rejects or cancels its open battle request`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let joinTime = harness.machine.moment.now
        // A notice describes a live as the member that joined at this time.
        let firstBattle = harness.requestBattle("arena", against: "bistro", "cafe")
        _ = harness.call("bistro") { .acceptBattle(battle: firstBattle, live: "bistro", caller: $0) }
        // The exit rejects the request to cafe. Bistro has accepted, so the battle starts.
        let exitEffects = harness.exit("cafe")
        #expect(
            exitEffects.notices.map(\.content) == [
                .battleRequestRejected(battle: firstBattle, invitee: harness.member("cafe"))
            ])
        #expect(exitEffects.reportedBattle("bistro")?.sides.map(\.live) == ["arena", "bistro"])
        _ = harness.advance(milliseconds: 60_000)
        let secondBattle = harness.requestBattle("arena", against: "bistro")
        let endEffects = harness.handle(.ended(live: "arena", ending: ending()))
        #expect(
            endEffects.notices.map(\.content) == [
                harness.battleRequestCancelled(secondBattle, "arena", "bistro", at: joinTime)
            ])
        #expect(harness.advance(milliseconds: 60_000).notices == [])
    }

    /// Rules: R10.7.
    @Test func `a running battle cannot be cancelled or answered`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro")
        #expect(
            harness.call("arena") { .cancelBattle(battle: id, live: "arena", to: ["bistro"], caller: $0) }.code
                == .notWhileFighting)
        #expect(harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }.code == .noSuchBattle)
        _ = harness.advance(milliseconds: 60_000)
        #expect(
            harness.call("arena") { .cancelBattle(battle: id, live: "arena", to: ["bistro"], caller: $0) }.code
                == .noSuchBattle)
        #expect(harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }.code == .battleOver)
        let openRequest = harness.requestBattle("arena", against: "bistro")
        #expect(
            harness.call("bistro") { .exitBattle(battle: openRequest, live: "bistro", caller: $0) }.code
                == .battleNotStarted)
        #expect(
            harness.call("bistro") { .cancelBattle(battle: openRequest, live: "bistro", to: ["bistro"], caller: $0) }
                .code == .noPermission)
    }

    /// Who calls: the owner of `bistro`, another user, or the app's server.
    enum CallerKind: String, CaseIterable { case owner, otherUser, server }

    /// A call, and its expected codes for each caller.
    struct Rule: CustomTestStringConvertible, Sendable {
        let name: String
        /// The expected codes, in the order of `CallerKind`.
        let codes: [ReplyCode]
        let command: @Sendable (BattleID, Caller) -> ConnectionCommand
        var testDescription: String { self.name }
    }

    /// In each case bistro is invited to an open battle request, and has no open co-host request.
    static let rules: [Rule] = [
        Rule(name: "request", codes: [.success, .needsOwner, .success]) {
            .request(from: "bistro", to: ["disco"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: $1)
        },
        Rule(name: "accept", codes: [.noSuchConnection, .needsOwner, .noSuchConnection]) {
            .accept(live: "bistro", inviter: "disco", caller: $1)
        },
        Rule(name: "reject", codes: [.noSuchConnection, .needsOwner, .noSuchConnection]) {
            .reject(live: "bistro", inviter: "disco", caller: $1)
        },
        Rule(name: "cancel", codes: [.noSuchConnection, .needsOwner, .noSuchConnection]) {
            .cancelRequest(from: "bistro", to: ["disco"], caller: $1)
        },
        Rule(name: "exit", codes: [.success, .needsOwner, .success]) { .exit(live: "bistro", caller: $1) },
        Rule(name: "request battle", codes: [.battlePending, .needsOwner, .battlePending]) {
            .requestBattle(
                from: "bistro", to: ["cafe"], durationSeconds: 0, needResponse: true, timeoutSeconds: 0,
                extensionInfo: "",
                caller: $1)
        },
        Rule(name: "accept battle", codes: [.success, .needsOwner, .success]) {
            .acceptBattle(battle: $0, live: "bistro", caller: $1)
        },
        Rule(name: "reject battle", codes: [.success, .needsOwner, .success]) {
            .rejectBattle(battle: $0, live: "bistro", caller: $1)
        },
        Rule(name: "cancel battle", codes: [.noPermission, .needsOwner, .noPermission]) {
            .cancelBattle(battle: $0, live: "bistro", to: ["bistro"], caller: $1)
        },
        Rule(name: "exit battle", codes: [.battleNotStarted, .needsOwner, .battleNotStarted]) {
            .exitBattle(battle: $0, live: "bistro", caller: $1)
        },
        Rule(name: "scores", codes: [.noPermission, .noPermission, .success]) {
            .updateScores(
                battle: $0, operation: .overwrite, scores: [ScoreUpdate(live: "bistro", score: 1)], caller: $1)
        },
    ]

    /// Rules: R8.22.
    @Test(arguments: Self.rules, CallerKind.allCases)
    func `only the owner of a live and the server act for the live, and only the server changes scores`(
        rule: Rule, callerKind: CallerKind
    ) throws {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe")
        let battle = harness.requestBattle("arena", against: "bistro", "cafe")
        let caller =
            switch callerKind {
            case .owner: harness.callers.user("host-bistro")
            case .otherUser: harness.callers.user("adam")
            case .server: harness.callers.server()
            }
        let effects = harness.handle(rule.command(battle, caller))
        let expectedCode = rule.codes[try #require(CallerKind.allCases.firstIndex(of: callerKind))]
        #expect(effects.code == expectedCode)
        if expectedCode != .success { #expect(effects.count == 1, "a rejected call notifies nobody") }
    }
}
