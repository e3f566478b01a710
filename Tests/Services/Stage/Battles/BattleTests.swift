// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// Starts, answers and ends of battles.
///
/// A battle lasts 60 s, and a battle request expires after 10 s, unless the test says otherwise. A battle is named
/// after the offset of its request.
struct BattleTests {
    /// Rules: R10.5.
    @Test func `a battle that needs no response starts at once, and ends by time with one result`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let caller = harness.callers.user("host-arena")
        let effects = harness.handle(
            .battleRequest(from: "arena", to: ["bistro"], seconds: 30, needResponse: false, caller: caller))
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
        let endEvents: [StageEvent] = [.battleEnded(battle: id, reason: .timeOver)]
        #expect(
            ended == [
                harness.seatReport("arena", connection: connection, battle: view, events: endEvents),
                harness.seatReport("bistro", connection: connection, battle: view, events: endEvents),
            ])
        #expect(harness.advance(milliseconds: 600_000).seatInputs == [], "a battle ends only once")
        let nextBattle = harness.startBattle("bistro", against: "arena")
        #expect(nextBattle != id)
        #expect(harness.live("arena")?.battle == nextBattle, "arena shows the next battle instead of the first result")
        #expect(
            harness.updateScores(id, [("arena", 1)]).code == .noSuchBattle, "a result that no live shows is removed")
    }

    /// Rules: R8.24, R10.3.
    @Test func `a battle that needs responses starts when all invitees have answered and at least one has accepted`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let id = harness.requestBattle("arena", against: "bistro", "cafe", "disco")
        let accepted = harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }
        #expect(
            accepted.first
                == harness.notice(to: "arena", .battleRequestAccepted(battle: id, invitee: harness.member("bistro"))))
        #expect(accepted.seatInputs == [], "the battle has not started: two invitees have not answered")
        let rejected = harness.call("cafe") { .rejectBattle(battle: id, live: "cafe", caller: $0) }
        #expect(
            rejected.notices.map(\.content) == [.battleRequestRejected(battle: id, invitee: harness.member("cafe"))])
        #expect(harness.updateScores(id, [("arena", 1)]).scoreCodes == [.battleNotStarted])
        let timeOutNotice = NoticeContent.battleRequestTimedOut(
            battle: id, inviter: "arena", invitee: "disco", inviterMember: harness.member("arena"),
            inviteeMember: harness.member("disco"))
        // The time-out of disco's request is the last answer, so it starts the battle.
        let timedOut = harness.advance(milliseconds: 10_000)
        #expect(
            Array(timedOut.prefix(2)) == [
                harness.notice(to: "arena", timeOutNotice), harness.notice(to: "disco", timeOutNotice),
            ])
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
        enum RequestEnd: CaseIterable { case rejection, timeOut, cancellation }
        for requestEnd in RequestEnd.allCases {
            let id = harness.requestBattle("arena", against: "bistro")
            #expect(
                harness.call("bistro") { .acceptBattle(battle: .unknown, live: "bistro", caller: $0) }.code
                    == .noSuchBattle, "accepting another battle does not answer the request")
            let effects =
                switch requestEnd {
                case .rejection: harness.call("bistro") { .rejectBattle(battle: id, live: "bistro", caller: $0) }
                case .timeOut: harness.advance(milliseconds: 10_000)
                case .cancellation:
                    // The live `nobody` does not exist, so its name has no effect.
                    harness.call("arena") {
                        .cancelBattle(battle: id, live: "arena", to: ["bistro", "nobody"], caller: $0)
                    }
                }
            #expect(effects.notices.last?.content == .battleNotStarted(battle: id), "\(requestEnd)")
            #expect(effects.notices.last?.to.user == "host-arena", "\(requestEnd)")
            #expect(effects.seatInputs == [], "\(requestEnd)")
            #expect(harness.live("arena")?.battleRequest == nil && harness.live("bistro")?.battleRequest == nil)
        }
    }

    /// Rules: R10.9.
    @Test func `I14 a live is in one battle or battle request at a time`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let runningBattle = harness.startBattle("arena", against: "bistro")
        // Only disco can be invited: arena and bistro are in a battle, expo is not connected, `nobody` is not a live,
        // and cafe is the inviter.
        #expect(
            harness.requestBattle("cafe", against: "arena", "bistro", "disco", "expo", "nobody", "cafe") != .rejected)
        #expect(
            harness.machine.rows.sortedKeys.filter { $0.kind == .battle }.count == 2,
            "expected two rows: the running battle of arena and bistro, and the open battle request of cafe to disco")
        /// The code of the reply when the owner of `from` starts a battle against `to` that needs no response.
        func startCode(_ harness: inout ConnectionHarness, from: LiveID, to: [LiveID]) -> ReplyCode? {
            harness.call(from) { .battleRequest(from: from, to: to, needResponse: false, caller: $0) }.code
        }
        #expect(startCode(&harness, from: "arena", to: ["disco"]) == .inAnotherBattle)
        #expect(startCode(&harness, from: "cafe", to: ["disco"]) == .battlePending)
        #expect(startCode(&harness, from: "disco", to: ["cafe"]) == .battlePending)
        #expect(startCode(&harness, from: "expo", to: ["arena"]) == .noSuchConnection)
        #expect(
            harness.call("bistro") { .exitBattle(battle: runningBattle, live: "bistro", caller: $0) }.code == .success)
        #expect(
            startCode(&harness, from: "bistro", to: ["arena", "cafe"]) == .noValidRoom,
            "arena is in a battle, and cafe has an open battle request")
    }

    /// Rules: R10.1.
    @Test func `the result code of each invited live gives the reason why the live cannot battle`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo"])
        harness.connect("arena", "bistro", "cafe", "disco")
        _ = harness.startBattle("cafe", against: "disco")
        let effects = harness.call("arena") {
            .battleRequest(
                from: "arena", to: ["bistro", "bistro", "cafe", "expo", "nobody", "arena"], needResponse: false,
                caller: $0)
        }
        // bistro is named twice, cafe is in a battle, expo is not connected, `nobody` is not a live, arena is the
        // inviter.
        #expect(
            effects.battleCodes == [.sent, .alreadyInvited, .inAnotherBattle, .hasLeft, .noSuchLive, .alreadyInvited])
        #expect(
            effects.reportedBattle("arena").map { $0.endTime - $0.startTime } == .seconds(300),
            "a requested duration of 0 means the app's maximum, 300 s")
    }

    /// Rules: R10.11.
    @Test func `a duration below zero or above the app's maximum is rejected`() {
        var harness = ConnectionHarness(["arena", "bistro"], maxBattleSeconds: 60)
        harness.connect("arena", "bistro")
        #expect(harness.startBattle("arena", against: "bistro", seconds: 61) == .rejected)
        #expect(harness.startBattle("arena", against: "bistro", seconds: -1) == .rejected)
        #expect(harness.startBattle("arena", against: "bistro", seconds: 60) != .rejected)
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
        #expect(harness.advance(milliseconds: 60_000).seatInputs == [], "the battle does not end again by time")
    }

    /// Rules: R10.15.
    @Test func `I14 the end of the connection ends its battle, and both lives get the result`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro")
        _ = harness.updateScores(id, [("arena", 3)])
        _ = harness.updateScores(id, [("bistro", 4)])
        // The owner of bistro leaves, so bistro leaves the connection. With one live left, the connection ends.
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

    @Test func `I13 a live that leaves the connection rejects the battle request to it, or cancels its own`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        // A notice names the time at which each live joined the connection.
        let joinTime = harness.machine.moment.now
        let firstBattle = harness.requestBattle("arena", against: "bistro", "cafe")
        _ = harness.call("bistro") { .acceptBattle(battle: firstBattle, live: "bistro", caller: $0) }
        // The exit rejects the request to cafe. The other invitee, bistro, has accepted, so the battle starts.
        let exitEffects = harness.exit("cafe")
        #expect(
            exitEffects.notices.map(\.content) == [
                .battleRequestRejected(battle: firstBattle, invitee: harness.member("cafe"))
            ])
        #expect(exitEffects.reportedBattle("bistro")?.sides.map(\.live) == ["arena", "bistro"])
        // The first battle ends by time. Then arena, which has requested a second battle, ends.
        _ = harness.advance(milliseconds: 60_000)
        let secondBattle = harness.requestBattle("arena", against: "bistro")
        let endEffects = harness.handle(.ended(live: "arena", ending: ending()))
        #expect(
            endEffects.notices.map(\.content) == [
                harness.battleRequestCancelled(secondBattle, "arena", "bistro", at: joinTime)
            ])
        #expect(harness.advance(milliseconds: 60_000).notices == [], "the cancelled request does not time out")
    }

    /// Rules: R10.7.
    @Test func `a running or ended battle cannot be cancelled or accepted, and a requested battle cannot be left`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro")
        #expect(
            harness.call("arena") { .cancelBattle(battle: id, live: "arena", to: ["bistro"], caller: $0) }.code
                == .notWhileFighting)
        #expect(harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }.code == .noSuchBattle)
        // The battle ends by time.
        _ = harness.advance(milliseconds: 60_000)
        #expect(
            harness.call("arena") { .cancelBattle(battle: id, live: "arena", to: ["bistro"], caller: $0) }.code
                == .noSuchBattle)
        #expect(harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }.code == .battleOver)
        let secondBattle = harness.requestBattle("arena", against: "bistro")
        #expect(
            harness.call("bistro") { .exitBattle(battle: secondBattle, live: "bistro", caller: $0) }.code
                == .battleNotStarted)
        #expect(
            harness.call("bistro") { .cancelBattle(battle: secondBattle, live: "bistro", to: ["bistro"], caller: $0) }
                .code == .noPermission, "only the inviter may cancel")
    }
}
