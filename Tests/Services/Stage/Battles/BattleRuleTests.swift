// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// Rate limits, answers, and the queries and webhooks of an app's backend.
struct BattleRuleTests {
    private func webhooks(_ effects: [Effect]) -> [WebhookEvent] {
        effects.compactMap { if case .webhook(let event) = $0 { event } else { nil } }
    }

    private func info(_ harness: inout ConnectionHarness, _ battle: BattleID?, of live: LiveID? = nil) -> [Effect] {
        harness.handle(.battleInfo(battle: battle, live: live, caller: harness.callers.server()))
    }

    /// Rules: R10.10.
    @Test func `a live may send ten battle requests at once, then one each second`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        for _ in 0..<10 {
            let id = harness.requestBattle("a", "b")
            #expect(id != "none")
            _ = harness.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }
        }
        func again() -> [Effect] {
            harness.call("a") {
                .requestBattle(
                    from: "a", to: ["b"], durationSeconds: 0, needResponse: true, timeoutSeconds: 0,
                    extensionInfo: "", caller: $0)
            }
        }
        let before = harness.machine.journal[.live(LiveKey("demo", "a"))]
        #expect(again().code == 100413)
        #expect(harness.machine.journal[.live(LiveKey("demo", "a"))] == before, "a rejected call changes nothing")
        _ = harness.advance(milliseconds: 1000)
        #expect(again().code == 0)
    }

    @Test func `each result code of a battle request comes with a service-wide code`() {
        var harness = ConnectionHarness(["a", "b", "c", "d", "e", "f"])
        harness.connect("a", "b", "c", "d", "f")
        _ = harness.startBattle("c", "d")
        let effects = harness.call("a") {
            .requestBattle(
                from: "a", to: ["b", "b", "c", "e", "nobody", "a"], durationSeconds: 0, needResponse: true,
                timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
        guard case .battle(_, _, _, let codes)? = effects.result else {
            Issue.record("refused: \(effects)")
            return
        }
        #expect(codes.map { $0.reason?.code } == [nil, 100416, 100415, 100400, 100004, 100002])
        let other = harness.call("f") {
            .requestBattle(
                from: "f", to: ["b"], durationSeconds: 0, needResponse: true, timeoutSeconds: 0, extensionInfo: "",
                caller: $0)
        }
        #expect(other.code == 100412, "the only invitee has another open battle request")
    }

    /// Rules: R10.2.
    @Test func `a battle request can name all lives of a connection, and each gets a complete notice`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        func ask(_ targets: [LiveID]) -> [Effect] {
            harness.call("a") {
                .requestBattle(
                    from: "a", to: targets, durationSeconds: 30, needResponse: true, timeoutSeconds: 20,
                    extensionInfo: "pk", caller: $0)
            }
        }
        let many = ask((1...9).map { LiveID("l\($0)") })
        #expect(many.code == 100013 && many.count == 1, "nine partners are too many")
        let asked = ask(["b", "c"])
        let received = NoticeContent.battleRequestReceived(
            battle: BattleID("b-\(harness.machine.moment.offset)"), inviter: harness.member("a"),
            expiresAt: harness.machine.moment.now + .seconds(20), durationSeconds: 30, extensionInfo: "pk")
        #expect(asked.prefix(2) == [harness.notice(to: "b", received), harness.notice(to: "c", received)])
        #expect(asked.liveCodes == [0, 0])
    }

    /// Rules: R10.8.
    @Test func `a live that has accepted cannot reject while other answers are pending`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let id = harness.requestBattle("a", "b", "c")
        #expect(harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 0)
        #expect(harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 100416)
        #expect(harness.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }.code == 100411)
    }

    /// Rules: R10.6.
    @Test func `cancelling affects only lives that are both named and invited`() {
        var harness = ConnectionHarness(["a", "b", "c", "d"])
        harness.connect("a", "b", "c", "d")
        let id = harness.requestBattle("a", "b", "c")
        let none = harness.call("a") { .cancelBattle(battle: id, live: "a", to: ["d", "nobody"], caller: $0) }
        #expect(none.code == 0 && none.notices == [] && none.seatInputs == [])
        _ = harness.call("c") { .acceptBattle(battle: id, live: "c", caller: $0) }
        let started = harness.call("a") { .cancelBattle(battle: id, live: "a", to: ["b", "d"], caller: $0) }
        #expect(
            started.notices.map(\.content) == [harness.battleRequestCancelled(id, "a", "b")])
        #expect(started.reportedBattle("c")?.sides.map(\.live) == ["a", "c"], "all remaining invitees have accepted")
    }

    @Test func `an app's server creates a battle for a live`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let effects = harness.handle(
            .requestBattle(
                from: "a", to: ["b"], durationSeconds: 0, needResponse: false, timeoutSeconds: 0, extensionInfo: "x",
                caller: harness.callers.server()))
        #expect(effects.liveCodes == [0])
        #expect(effects.reportedBattle("b")?.durationSeconds == 300, "0 means the maximum")
        #expect(effects.reportedBattle("b")?.needResponse == false)
    }

    /// Rules: R13.25.
    @Test func `an app's server reads a battle by its id or by a live`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        #expect(self.info(&harness, "b-1").code == 100411)
        #expect(self.info(&harness, nil, of: "a").code == 100418)
        #expect(self.info(&harness, nil, of: "nobody").code == 100004)
        #expect(
            harness.handle(.battleInfo(battle: nil, live: "a", caller: harness.callers.user("host-a"))).code == 100006)
        harness.connect("a", "b", "c")
        let id = harness.requestBattle("a", "b", "c", seconds: 60)
        _ = harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }
        let created = harness.machine.moment.now
        guard case .battleInfo(let asking)? = self.info(&harness, nil, of: "c").result else {
            Issue.record("nothing of \(id)")
            return
        }
        #expect(
            asking
                == BattleDetails(
                    id: id, inviter: "a", createTime: created, durationSeconds: 60, needResponse: true,
                    extensionInfo: "pk", expiresAt: created + .seconds(10),
                    invitees: [.init(live: "b", hasAccepted: true), .init(live: "c", hasAccepted: false)]))
        _ = harness.call("c") { .rejectBattle(battle: id, live: "c", caller: $0) }
        _ = harness.score(id, [("a", 3)])
        #expect(self.info(&harness, nil, of: "c").code == 100418)
        guard case .battleInfo(let running)? = self.info(&harness, id).result else {
            Issue.record("nothing of \(id)")
            return
        }
        #expect(running.invitees == [] && running.expiresAt == nil)
        #expect(running.battle?.sides.map(\.score) == [3, 0], "the exact scores, even between two updates for viewers")
        _ = harness.advance(milliseconds: 60_000)
        guard case .battleInfo(let over)? = self.info(&harness, nil, of: "b").result else {
            Issue.record("nothing of \(id)")
            return
        }
        #expect(over.battle?.ended == .timeOver)
    }

    /// Rules: R14.21.
    @Test func `the app's backend is notified of the creation, the start and the end of a battle with its scores`() {
        var harness = ConnectionHarness(["a", "b", "c"], hasWebhooks: true)
        harness.connect("a", "b", "c")
        func side(_ live: LiveID, _ score: Int64 = 0, left: Bool = false) -> BattleSide {
            BattleSide(live: live, host: ConnectionHarness.host(live), score: score, hasLeft: left)
        }
        let key = LiveKey("demo", "a")
        let caller = harness.callers.user("host-a")
        let asked = harness.handle(
            .requestBattle(
                from: "a", to: ["b", "c"], durationSeconds: 60, needResponse: true, timeoutSeconds: 20,
                extensionInfo: "pk", caller: caller))
        let id = BattleID("b-\(harness.machine.moment.offset)")
        let created = harness.machine.moment.now
        #expect(
            self.webhooks(asked) == [
                WebhookEvent(
                    key, at: created,
                    .battleCreated(
                        battle: id, from: side("a"), to: [side("b"), side("c")], durationMilliseconds: 60_000,
                        timeoutMilliseconds: 20_000, needResponse: true, extensionInfo: "pk"))
            ])
        _ = harness.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }
        _ = harness.advance(milliseconds: 1000)
        let began = harness.call("c") { .rejectBattle(battle: id, live: "c", caller: $0) }
        let start = harness.machine.moment.now
        #expect(
            self.webhooks(began) == [
                WebhookEvent(
                    key, at: start,
                    .battleStarted(
                        battle: id, from: side("a"), to: [side("b")], createdAt: created, startTime: start,
                        endTime: start + .seconds(60)))
            ])
        #expect(self.webhooks(harness.score(id, [("b", 7)])) == [], "the backend sets the scores itself")
        let ended = harness.advance(milliseconds: 60_000)
        #expect(
            self.webhooks(ended) == [
                WebhookEvent(
                    key, at: harness.machine.moment.now,
                    .battleEnded(
                        battle: id, from: side("a"), to: [side("b", 7)], createdAt: created, startTime: start,
                        endTime: start + .seconds(60), kind: .timeOver))
            ])
    }

    /// Rules: R14.22.
    @Test func `a battle that never starts is reported as such, for each of the possible reasons`() {
        var harness = ConnectionHarness(["a", "b"], hasWebhooks: true)
        for way in 0..<4 {
            harness.connect("a", "b")
            let id = harness.requestBattle("a", "b")
            let created = harness.machine.moment.now
            let effects =
                switch way {
                case 0: harness.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }
                case 1: harness.advance(milliseconds: 10_000)
                case 2: harness.call("a") { .cancelBattle(battle: id, live: "a", to: ["b"], caller: $0) }
                default: harness.exit("a")
                }
            #expect(
                self.webhooks(effects).map(\.content) == [
                    .battleEnded(
                        battle: id, from: BattleSide(live: "a", host: ConnectionHarness.host("a")),
                        to: [BattleSide(live: "b", host: ConnectionHarness.host("b"))], createdAt: created,
                        startTime: nil, endTime: harness.machine.moment.now, kind: .neverStarted)
                ], "way \(way)")
            if way < 3 { _ = harness.exit("a") }
        }
    }

    @Test func `an end by leaving is reported as such, and an app without webhooks gets no event`() {
        var harness = ConnectionHarness(["a", "b"], hasWebhooks: true)
        harness.connect("a", "b")
        let id = harness.startBattle("a", "b")
        let ended = self.webhooks(harness.exit("a")).map(\.content)
        guard case .battleEnded(id, _, _, _, _, _, .allMemberExit)? = ended.first, ended.count == 1 else {
            Issue.record("\(ended)")
            return
        }
        var plain = ConnectionHarness(["a", "b"])
        plain.connect("a", "b")
        _ = plain.startBattle("a", "b")
        #expect(self.webhooks(plain.exit("a")) == [])
    }

    /// Rules: R10.12.
    @Test func `at the start each live is notified of the lives that take part`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let effects = harness.call("a") {
            .requestBattle(
                from: "a", to: ["b"], durationSeconds: 30, needResponse: false, timeoutSeconds: 0, extensionInfo: "",
                caller: $0)
        }
        let id = BattleID("b-\(harness.machine.moment.offset)")
        #expect(effects.notifiedLives == ["a", "b", "c"], "all lives of the connection, the sides first")
        for live: LiveID in ["a", "b", "c"] {
            #expect(
                effects.reportedEvents(live) == [
                    .battleStarted(battle: id), .battleUserJoined(battle: id, live: "a"),
                    .battleUserJoined(battle: id, live: "b"),
                ])
            #expect(effects.reportedBattle(live)?.sides.map(\.live) == ["a", "b"], "the inviter's side comes first")
        }
        #expect(
            harness.advance(milliseconds: 30_000).reportedConnection("a")?.members.count == 3, "the connection stays")
    }
}
