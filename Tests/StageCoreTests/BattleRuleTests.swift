// SPDX-License-Identifier: Apache-2.0
import CoreKit
import PlazaModel
import StageCore
import Testing

/// Paces, answers, what an app's backend asks and is told.
struct BattleRuleTests {
    private func webhooks(_ effects: [Effect]) -> [WebhookEvent] {
        effects.compactMap { if case .webhook(let event) = $0 { event } else { nil } }
    }

    private func info(_ rig: inout ConnectionRig, _ battle: BattleID?, of live: LiveID? = nil) -> [Effect] {
        rig.tell(.battleInfo(battle: battle, live: live, caller: rig.callers.server()))
    }

    @Test func `a live sends ten battle requests at once, then one each second`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        for _ in 0..<10 {
            let id = rig.ask("a", "b")
            #expect(id != "none")
            _ = rig.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }
        }
        func again() -> [Effect] {
            rig.call("a") {
                .requestBattle(
                    from: "a", to: ["b"], durationSeconds: 0, needResponse: true, timeoutSeconds: 0,
                    extensionInfo: "", caller: $0)
            }
        }
        let before = rig.rig.journal[.live(LiveKey("demo", "a"))]
        #expect(again().code == 100413)
        #expect(rig.rig.journal[.live(LiveKey("demo", "a"))] == before, "a refused call changes nothing")
        _ = rig.pass(milliseconds: 1000)
        #expect(again().code == 0)
    }

    @Test func `behind each code of a battle request stands a code of the whole service`() {
        var rig = ConnectionRig(["a", "b", "c", "d", "e", "f"])
        rig.connect("a", "b", "c", "d", "f")
        _ = rig.fight("c", "d")
        let effects = rig.call("a") {
            .requestBattle(
                from: "a", to: ["b", "b", "c", "e", "nobody", "a"], durationSeconds: 0, needResponse: true,
                timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
        guard case .battle(_, _, _, let codes)? = effects.result else {
            Issue.record("refused: \(effects)")
            return
        }
        #expect(codes.map { $0.reason?.code } == [nil, 100416, 100415, 100400, 100004, 100002])
        let other = rig.call("f") {
            .requestBattle(
                from: "f", to: ["b"], durationSeconds: 0, needResponse: true, timeoutSeconds: 0, extensionInfo: "",
                caller: $0)
        }
        #expect(other.code == 100412, "the only one that is asked agrees on another battle")
    }

    @Test func `a battle request names as many lives as a connection can have, and reaches each with what it needs`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        func ask(_ targets: [LiveID]) -> [Effect] {
            rig.call("a") {
                .requestBattle(
                    from: "a", to: targets, durationSeconds: 30, needResponse: true, timeoutSeconds: 20,
                    extensionInfo: "pk", caller: $0)
            }
        }
        let many = ask((1...9).map { LiveID("l\($0)") })
        #expect(many.code == 100013 && many.count == 1, "nine partners are too many")
        let asked = ask(["b", "c"])
        let received = NoticeContent.battleRequestReceived(
            battle: BattleID("b-\(rig.rig.moment.offset)"), inviter: rig.member("a"),
            expiresAt: rig.rig.moment.now + .seconds(20), durationSeconds: 30, extensionInfo: "pk")
        #expect(asked.prefix(2) == [rig.notice(to: "b", received), rig.notice(to: "c", received)])
        #expect(asked.liveCodes == [0, 0])
    }

    @Test func `who has accepted waits for the others, and cannot decline any more`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let id = rig.ask("a", "b", "c")
        #expect(rig.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 0)
        #expect(rig.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }.code == 100416)
        #expect(rig.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }.code == 100411)
    }

    @Test func `only those who are named and invited are cancelled`() {
        var rig = ConnectionRig(["a", "b", "c", "d"])
        rig.connect("a", "b", "c", "d")
        let id = rig.ask("a", "b", "c")
        let none = rig.call("a") { .cancelBattle(battle: id, live: "a", to: ["d", "nobody"], caller: $0) }
        #expect(none.code == 0 && none.notices == [] && none.seatInputs == [])
        _ = rig.call("c") { .acceptBattle(battle: id, live: "c", caller: $0) }
        let started = rig.call("a") { .cancelBattle(battle: id, live: "a", to: ["b", "d"], caller: $0) }
        #expect(
            started.notices.map(\.content) == [.battleRequestCancelled(battle: id, inviter: "a", invitee: "b")])
        #expect(started.toldBattle("c")?.sides.map(\.live) == ["a", "c"], "all who are left have accepted")
    }

    @Test func `an app's server creates a battle for a live`() {
        var rig = ConnectionRig(["a", "b"])
        rig.connect("a", "b")
        let effects = rig.tell(
            .requestBattle(
                from: "a", to: ["b"], durationSeconds: 0, needResponse: false, timeoutSeconds: 0, extensionInfo: "x",
                caller: rig.callers.server()))
        #expect(effects.liveCodes == [0])
        #expect(effects.toldBattle("b")?.durationSeconds == 300, "0 is the longest")
        #expect(effects.toldBattle("b")?.needResponse == false)
    }

    @Test func `an app's server asks for a battle by its id or by a live`() {
        var rig = ConnectionRig(["a", "b", "c"])
        #expect(self.info(&rig, "b-1").code == 100411)
        #expect(self.info(&rig, nil, of: "a").code == 100418)
        #expect(self.info(&rig, nil, of: "nobody").code == 100004)
        #expect(rig.tell(.battleInfo(battle: nil, live: "a", caller: rig.callers.user("host-a"))).code == 100006)
        rig.connect("a", "b", "c")
        let id = rig.ask("a", "b", "c", seconds: 60)
        _ = rig.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }
        let created = rig.rig.moment.now
        guard case .battleInfo(let asking)? = self.info(&rig, nil, of: "c").result else {
            Issue.record("nothing of \(id)")
            return
        }
        #expect(
            asking
                == BattleDetails(
                    id: id, inviter: "a", createTime: created, durationSeconds: 60, needResponse: true,
                    extensionInfo: "pk", expiresAt: created + .seconds(10),
                    invitees: [.init(live: "b", hasAccepted: true), .init(live: "c", hasAccepted: false)]))
        _ = rig.call("c") { .rejectBattle(battle: id, live: "c", caller: $0) }
        _ = rig.score(id, [("a", 3)])
        #expect(self.info(&rig, nil, of: "c").code == 100418)
        guard case .battleInfo(let running)? = self.info(&rig, id).result else {
            Issue.record("nothing of \(id)")
            return
        }
        #expect(running.invitees == [] && running.expiresAt == nil)
        #expect(running.battle?.sides.map(\.score) == [3, 0], "exact, also between two updates to viewers")
        _ = rig.pass(milliseconds: 60_000)
        guard case .battleInfo(let over)? = self.info(&rig, nil, of: "b").result else {
            Issue.record("nothing of \(id)")
            return
        }
        #expect(over.battle?.ended == .timeOver)
    }

    @Test func `the app's backend is told that a battle was created, began and ended with its scores`() {
        var rig = ConnectionRig(["a", "b", "c"], hasWebhooks: true)
        rig.connect("a", "b", "c")
        func side(_ live: LiveID, _ score: Int64 = 0, left: Bool = false) -> BattleSide {
            BattleSide(live: live, host: ConnectionRig.host(live), score: score, hasLeft: left)
        }
        let key = LiveKey("demo", "a")
        let caller = rig.callers.user("host-a")
        let asked = rig.tell(
            .requestBattle(
                from: "a", to: ["b", "c"], durationSeconds: 60, needResponse: true, timeoutSeconds: 20,
                extensionInfo: "pk", caller: caller))
        let id = BattleID("b-\(rig.rig.moment.offset)")
        let created = rig.rig.moment.now
        #expect(
            self.webhooks(asked) == [
                WebhookEvent(
                    key, at: created,
                    .battleCreated(
                        battle: id, from: side("a"), to: [side("b"), side("c")], durationMilliseconds: 60_000,
                        timeoutMilliseconds: 20_000, needResponse: true, extensionInfo: "pk"))
            ])
        _ = rig.call("b") { .acceptBattle(battle: id, live: "b", caller: $0) }
        _ = rig.pass(milliseconds: 1000)
        let began = rig.call("c") { .rejectBattle(battle: id, live: "c", caller: $0) }
        let start = rig.rig.moment.now
        #expect(
            self.webhooks(began) == [
                WebhookEvent(
                    key, at: start,
                    .battleStarted(
                        battle: id, from: side("a"), to: [side("b")], createdAt: created, startTime: start,
                        endTime: start + .seconds(60)))
            ])
        #expect(self.webhooks(rig.score(id, [("b", 7)])) == [], "scores are the backend's own")
        let ended = rig.pass(milliseconds: 60_000)
        #expect(
            self.webhooks(ended) == [
                WebhookEvent(
                    key, at: rig.rig.moment.now,
                    .battleEnded(
                        battle: id, from: side("a"), to: [side("b", 7)], createdAt: created, startTime: start,
                        endTime: start + .seconds(60), kind: .timeOver))
            ])
    }

    @Test func `a battle that never starts is told as such, however that came`() {
        var rig = ConnectionRig(["a", "b"], hasWebhooks: true)
        for way in 0..<4 {
            rig.connect("a", "b")
            let id = rig.ask("a", "b")
            let created = rig.rig.moment.now
            let effects =
                switch way {
                case 0: rig.call("b") { .rejectBattle(battle: id, live: "b", caller: $0) }
                case 1: rig.pass(milliseconds: 10_000)
                case 2: rig.call("a") { .cancelBattle(battle: id, live: "a", to: ["b"], caller: $0) }
                default: rig.exit("a")
                }
            #expect(
                self.webhooks(effects).map(\.content) == [
                    .battleEnded(
                        battle: id, from: BattleSide(live: "a", host: ConnectionRig.host("a")),
                        to: [BattleSide(live: "b", host: ConnectionRig.host("b"))], createdAt: created,
                        startTime: nil, endTime: rig.rig.moment.now, kind: .neverStarted)
                ], "way \(way)")
            if way < 3 { _ = rig.exit("a") }
        }
    }

    @Test func `an end by leaving is told as such, and nothing is told to an app without hooks`() {
        var rig = ConnectionRig(["a", "b"], hasWebhooks: true)
        rig.connect("a", "b")
        let id = rig.fight("a", "b")
        let ended = self.webhooks(rig.exit("a")).map(\.content)
        guard case .battleEnded(id, _, _, _, _, _, .allMemberExit)? = ended.first, ended.count == 1 else {
            Issue.record("\(ended)")
            return
        }
        var plain = ConnectionRig(["a", "b"])
        plain.connect("a", "b")
        _ = plain.fight("a", "b")
        #expect(self.webhooks(plain.exit("a")) == [])
    }

    @Test func `at the start each live hears who takes part`() {
        var rig = ConnectionRig(["a", "b", "c"])
        rig.connect("a", "b", "c")
        let effects = rig.call("a") {
            .requestBattle(
                from: "a", to: ["b"], durationSeconds: 30, needResponse: false, timeoutSeconds: 0, extensionInfo: "",
                caller: $0)
        }
        let id = BattleID("b-\(rig.rig.moment.offset)")
        #expect(effects.toldLives == ["a", "b", "c"], "all of the connection, those who fight first")
        for live: LiveID in ["a", "b", "c"] {
            #expect(
                effects.toldEvents(live) == [
                    .battleStarted(battle: id), .battleUserJoined(battle: id, live: "a"),
                    .battleUserJoined(battle: id, live: "b"),
                ])
            #expect(effects.toldBattle(live)?.sides.map(\.live) == ["a", "b"], "the inviter's side comes first")
        }
        #expect(rig.pass(milliseconds: 30_000).toldConnection("a")?.members.count == 3, "the connection stays")
    }
}
