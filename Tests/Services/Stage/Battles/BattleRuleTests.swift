// SPDX-License-Identifier: Apache-2.0
import MachineKit
import MachineTestSupport
import PlazaModel
import Testing

@testable import StageCore

/// The rate limit, the result codes and the answers of battle requests.
///
/// Other tests are about an app's backend: its calls, its queries and its webhook events.
///
/// A battle is named after the offset of its request, and a battle request expires after 10 s unless the test says
/// otherwise.
struct BattleRuleTests {
    /// The webhook events among the effects, in order.
    private func webhooks(_ effects: [Effect]) -> [WebhookEvent] {
        effects.compactMap { if case .webhook(let event) = $0 { event } else { nil } }
    }

    /// Lets the app's server read a battle by its id, or by a live that takes part.
    private func battleInfo(
        _ harness: inout ConnectionHarness, battle: BattleID? = nil, live: LiveID? = nil
    ) -> [Effect] {
        harness.handle(.battleInfo(battle: battle, live: live, caller: harness.callers.server()))
    }

    /// Rules: R10.10.
    @Test func `a live may send ten battle requests at once, then one each second`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        for _ in 0..<10 {
            let id = harness.requestBattle("arena", against: "bistro")
            #expect(id != .rejected)
            // arena can request a battle again only after an answer.
            _ = harness.call("bistro") { .rejectBattle(battle: id, live: "bistro", caller: $0) }
        }
        func requestAgain() -> [Effect] {
            harness.call("arena") {
                .battleRequest(from: "arena", to: ["bistro"], needResponse: true, caller: $0)
            }
        }
        let rowBefore = harness.machine.rows[.live(LiveKey("demo", "arena"))]
        #expect(requestAgain().code == .battleTooFrequent)
        let rowAfter = harness.machine.rows[.live(LiveKey("demo", "arena"))]
        #expect(rowAfter == rowBefore, "a rejected call changes nothing")
        _ = harness.advance(milliseconds: 1000)
        #expect(requestAgain().code == .success)
    }

    @Test func `each result code of a battle request, except sent, comes with the reply code of the reason`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco", "expo", "forum"])
        harness.connect("arena", "bistro", "cafe", "disco", "forum")
        _ = harness.startBattle("cafe", against: "disco")
        let effects = harness.call("arena") {
            .battleRequest(
                from: "arena", to: ["bistro", "bistro", "cafe", "expo", "nobody", "arena"], needResponse: true,
                caller: $0)
        }
        guard case .battle(_, _, _, let codes)? = effects.result else {
            Issue.record("the battle request is rejected: \(effects)")
            return
        }
        // bistro is named twice, cafe is in a battle, expo is not connected, `nobody` is not a live, arena is the
        // inviter.
        #expect(
            codes.map { $0.reason } == [
                nil, .battlePending, .inAnotherBattle, .noSuchConnection, .noSuchRoom, .badParameter,
            ])

        let effectsOfOtherInviter = harness.call("forum") {
            .battleRequest(from: "forum", to: ["bistro"], needResponse: true, caller: $0)
        }
        #expect(
            effectsOfOtherInviter.code == .noValidRoom, "the only invitee, bistro, has the open battle request of arena"
        )
    }

    /// Rules: R10.2.
    @Test func `a battle request can name all lives of a connection, and each gets a complete notice`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        func requestBattle(_ targets: [LiveID]) -> [Effect] {
            harness.call("arena") {
                .battleRequest(
                    from: "arena", to: targets, seconds: 30, needResponse: true, timeoutSeconds: 20,
                    extensionInfo: "pk", caller: $0)
            }
        }
        let withNineTargets = requestBattle((1...9).map { LiveID("l\($0)") })
        #expect(withNineTargets.code == .overLimit, "a request names at most eight lives")
        #expect(withNineTargets.count == 1, "the reply is the only effect")
        let requested = requestBattle(["bistro", "cafe"])
        let received = NoticeContent.battleRequestReceived(
            battle: BattleID("b-\(harness.machine.moment.offset)"), inviter: harness.member("arena"),
            expiresAt: harness.machine.moment.now + .seconds(20), durationSeconds: 30, extensionInfo: "pk")
        #expect(requested.prefix(2) == [harness.notice(to: "bistro", received), harness.notice(to: "cafe", received)])
        #expect(requested.battleCodes == [.sent, .sent])
    }

    /// Rules: R10.8.
    @Test func `a live that has accepted can neither accept again nor reject while the battle has not started`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        // cafe does not answer, so the battle does not start.
        let id = harness.requestBattle("arena", against: "bistro", "cafe")
        #expect(harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }.code == .success)
        #expect(harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }.code == .battlePending)
        #expect(harness.call("bistro") { .rejectBattle(battle: id, live: "bistro", caller: $0) }.code == .noSuchBattle)
    }

    /// Rules: R10.6.
    @Test func `a cancellation has an effect only for lives that it names and that are invited`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe", "disco"])
        harness.connect("arena", "bistro", "cafe", "disco")
        let id = harness.requestBattle("arena", against: "bistro", "cafe")
        let cancelled = harness.call("arena") {
            .cancelBattle(battle: id, live: "arena", to: ["disco", "nobody"], caller: $0)
        }
        #expect(cancelled.code == .success && cancelled.notices == [] && cancelled.seatInputs == [])
        // cafe accepts. When the request to bistro is cancelled, all remaining invitees have accepted.
        _ = harness.call("cafe") { .acceptBattle(battle: id, live: "cafe", caller: $0) }
        let started = harness.call("arena") {
            .cancelBattle(battle: id, live: "arena", to: ["bistro", "disco"], caller: $0)
        }
        #expect(
            started.notices.map(\.content) == [harness.battleRequestCancelled(id, "arena", "bistro")])
        #expect(started.reportedBattle("cafe")?.sides.map(\.live) == ["arena", "cafe"], "expected the battle to start")
    }

    @Test func `an app's server starts a battle on behalf of a live`() {
        var harness = ConnectionHarness(["arena", "bistro"])
        harness.connect("arena", "bistro")
        let effects = harness.handle(
            .battleRequest(
                from: "arena", to: ["bistro"], needResponse: false, extensionInfo: "x",
                caller: harness.callers.server()))
        #expect(effects.battleCodes == [.sent])
        #expect(effects.reportedBattle("bistro")?.durationSeconds == 300, "the duration 0 means the maximum")
        #expect(effects.reportedBattle("bistro")?.needResponse == false)
    }

    /// Rules: R13.25.
    @Test func `an app's server reads a battle by its id or by a live`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        #expect(self.battleInfo(&harness, battle: .unknown).code == .noSuchBattle)
        #expect(self.battleInfo(&harness, live: "arena").code == .noBattleInRoom)
        #expect(self.battleInfo(&harness, live: "nobody").code == .noSuchRoom)
        #expect(
            harness.handle(.battleInfo(battle: nil, live: "arena", caller: harness.callers.user("host-arena"))).code
                == .noPermission, "only the app's server may read battles")
        harness.connect("arena", "bistro", "cafe")
        let id = harness.requestBattle("arena", against: "bistro", "cafe", seconds: 60)
        _ = harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }
        let creation = harness.machine.moment.now
        guard case .battleInfo(let requestDetails)? = self.battleInfo(&harness, live: "cafe").result else {
            Issue.record("the requested battle cannot be read")
            return
        }
        #expect(
            requestDetails
                == BattleDetails(
                    id: id, inviter: "arena", createTime: creation, durationSeconds: 60, needResponse: true,
                    extensionInfo: "pk", expiresAt: creation + .seconds(10),
                    invitees: [.init(live: "bistro", hasAccepted: true), .init(live: "cafe", hasAccepted: false)]))

        // cafe's rejection is the last answer, so it starts the battle of arena and bistro.
        _ = harness.call("cafe") { .rejectBattle(battle: id, live: "cafe", caller: $0) }
        _ = harness.updateScores(id, [("arena", 3)])
        #expect(self.battleInfo(&harness, live: "cafe").code == .noBattleInRoom, "cafe takes no part")
        guard case .battleInfo(let runningDetails)? = self.battleInfo(&harness, battle: id).result else {
            Issue.record("the running battle cannot be read")
            return
        }
        #expect(runningDetails.invitees == [] && runningDetails.expiresAt == nil)
        #expect(
            runningDetails.battle?.sides.map(\.score) == [3, 0],
            "the server reads the exact scores, also those that viewers do not see yet")
        _ = harness.advance(milliseconds: 60_000)
        guard case .battleInfo(let endedDetails)? = self.battleInfo(&harness, live: "bistro").result else {
            Issue.record("the ended battle cannot be read")
            return
        }
        #expect(endedDetails.battle?.ended == .timeOver)
    }

    /// Rules: R14.21.
    @Test func `the app's backend is notified of the creation, the start and the end of a battle with its scores`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"], hasWebhooks: true)
        harness.connect("arena", "bistro", "cafe")
        func side(_ live: LiveID, _ score: Int64 = 0, hasLeft: Bool = false) -> BattleSide {
            BattleSide(live: live, host: ConnectionHarness.host(live), score: score, hasLeft: hasLeft)
        }
        let key = LiveKey("demo", "arena")
        let caller = harness.callers.user("host-arena")
        let requested = harness.handle(
            .battleRequest(
                from: "arena", to: ["bistro", "cafe"], seconds: 60, needResponse: true, timeoutSeconds: 20,
                extensionInfo: "pk", caller: caller))
        let id = BattleID("b-\(harness.machine.moment.offset)")
        let creation = harness.machine.moment.now
        #expect(
            self.webhooks(requested) == [
                WebhookEvent(
                    key, at: creation,
                    .battleCreated(
                        battle: id, from: side("arena"), to: [side("bistro"), side("cafe")],
                        durationMilliseconds: 60_000,
                        timeoutMilliseconds: 20_000, needResponse: true, extensionInfo: "pk"))
            ])
        _ = harness.call("bistro") { .acceptBattle(battle: id, live: "bistro", caller: $0) }
        _ = harness.advance(milliseconds: 1000)
        let started = harness.call("cafe") { .rejectBattle(battle: id, live: "cafe", caller: $0) }
        let start = harness.machine.moment.now
        // cafe has rejected, so only bistro is named as an opponent.
        #expect(
            self.webhooks(started) == [
                WebhookEvent(
                    key, at: start,
                    .battleStarted(
                        battle: id, from: side("arena"), to: [side("bistro")], createdAt: creation, startTime: start,
                        endTime: start + .seconds(60)))
            ])
        #expect(
            self.webhooks(harness.updateScores(id, [("bistro", 7)])) == [],
            "the backend gets no event for scores, because it sets them itself")
        let ended = harness.advance(milliseconds: 60_000)
        #expect(
            self.webhooks(ended) == [
                WebhookEvent(
                    key, at: harness.machine.moment.now,
                    .battleEnded(
                        battle: id, from: side("arena"), to: [side("bistro", 7)], createdAt: creation, startTime: start,
                        endTime: start + .seconds(60), kind: .timeOver))
            ])
    }

    /// Rules: R14.22.
    @Test func `a battle that never starts is reported to the backend as never started, whatever the reason`() {
        var harness = ConnectionHarness(["arena", "bistro"], hasWebhooks: true)
        enum Reason: CaseIterable { case rejection, timeOut, cancellation, inviterExits }
        for reason in Reason.allCases {
            harness.connect("arena", "bistro")
            let id = harness.requestBattle("arena", against: "bistro")
            let creation = harness.machine.moment.now
            let effects =
                switch reason {
                case .rejection: harness.call("bistro") { .rejectBattle(battle: id, live: "bistro", caller: $0) }
                case .timeOut: harness.advance(milliseconds: 10_000)
                case .cancellation:
                    harness.call("arena") { .cancelBattle(battle: id, live: "arena", to: ["bistro"], caller: $0) }
                case .inviterExits: harness.exit("arena")
                }
            #expect(
                self.webhooks(effects).map(\.content) == [
                    .battleEnded(
                        battle: id, from: BattleSide(live: "arena", host: ConnectionHarness.host("arena")),
                        to: [BattleSide(live: "bistro", host: ConnectionHarness.host("bistro"))], createdAt: creation,
                        startTime: nil, endTime: harness.machine.moment.now, kind: .neverStarted)
                ], "\(reason)")
            // End this connection, because the loop connects the two lives again for the next reason.
            if reason != .inviterExits { _ = harness.exit("arena") }
        }
    }

    @Test
    func `a battle that all lives leave is reported as left by all, and an app without webhooks gets no event`() {
        var harness = ConnectionHarness(["arena", "bistro"], hasWebhooks: true)
        harness.connect("arena", "bistro")
        let id = harness.startBattle("arena", against: "bistro")
        // arena leaves the connection of two lives. That ends the connection, and both lives leave the battle.
        let events = self.webhooks(harness.exit("arena")).map(\.content)
        guard case .battleEnded(id, _, _, _, _, _, .allMemberExit)? = events.first, events.count == 1 else {
            Issue.record("expected one event for the end of \(id) with allMemberExit, not \(events)")
            return
        }
        var withoutWebhooks = ConnectionHarness(["arena", "bistro"])
        withoutWebhooks.connect("arena", "bistro")
        _ = withoutWebhooks.startBattle("arena", against: "bistro")
        #expect(self.webhooks(withoutWebhooks.exit("arena")) == [])
    }

    /// Rules: R10.12.
    @Test func `at the start each live is notified of the lives that take part`() {
        var harness = ConnectionHarness(["arena", "bistro", "cafe"])
        harness.connect("arena", "bistro", "cafe")
        let effects = harness.call("arena") {
            .battleRequest(from: "arena", to: ["bistro"], seconds: 30, needResponse: false, caller: $0)
        }
        let id = BattleID("b-\(harness.machine.moment.offset)")
        #expect(effects.notifiedLives == ["arena", "bistro", "cafe"], "all lives of the connection, the sides first")
        for live: LiveID in ["arena", "bistro", "cafe"] {
            #expect(
                effects.reportedEvents(live) == [
                    .battleStarted(battle: id), .battleUserJoined(battle: id, live: "arena"),
                    .battleUserJoined(battle: id, live: "bistro"),
                ])
            #expect(
                effects.reportedBattle(live)?.sides.map(\.live) == ["arena", "bistro"], "the inviter's side comes first"
            )
        }
        #expect(
            harness.advance(milliseconds: 30_000).reportedConnection("arena")?.members.count == 3,
            "the connection stays after the battle")
    }
}
