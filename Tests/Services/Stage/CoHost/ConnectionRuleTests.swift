// SPDX-License-Identifier: Apache-2.0
import MachineKit
import PlazaModel
import StageCore
import Testing

/// Templates, rate limits, crowded voice lives, members' seats, muting, and owners who leave and return.
struct ConnectionRuleTests {
    private func reasons(_ effects: [Effect]) -> [Int?] {
        guard case .coHost(let codes)? = effects.result else { return [] }
        return codes.map { $0.reason?.code }
    }

    private func ask(_ harness: inout ConnectionHarness, _ from: LiveID, _ to: LiveID, template: Int) -> [Effect] {
        harness.call(from) {
            .request(
                from: from, to: [to], layoutTemplate: template, timeoutSeconds: 0, extensionInfo: "", caller: $0)
        }
    }

    /// Rules: R8.3.
    @Test func `each result code of a co-host request comes with a service-wide code`() {
        var harness = ConnectionHarness(["a", "b", "c", "d", "e", "f"])
        _ = harness.handle(.opened(live: "voice", owner: ConnectionHarness.host("voice"), isVoice: true))
        harness.connect("a", "b")
        harness.connect("c", "d")
        _ = harness.request("c", "e")
        let effects = harness.request("a", "nobody", "voice", "b", "c", "e", "f", "f", "a")
        #expect(self.reasons(effects) == [100004, 100015, 100401, 100403, 100402, nil, 100402, 100002])
    }

    /// Rules: R8.16.
    @Test func `I12 a live that joins gets the connection's id and template, and loses both when it leaves`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        _ = self.ask(&harness, "a", "b", template: 601)
        let first = harness.accept("b", "a").reportedConnection("b")
        #expect(first?.templateID == 601)
        _ = self.ask(&harness, "b", "c", template: 600)
        let joined = harness.accept("c", "b")
        #expect(joined.notifiedLives == ["a", "b", "c"])
        #expect(joined.reportedConnection("c")?.templateID == 601)
        #expect(joined.reportedConnection("c")?.id == first?.id)
        _ = harness.exit("c")
        #expect(harness.exit("b").reportedConnection("a") == nil, "without a connection its own template counts again")
    }

    /// Rules: R8.17.
    @Test func `a layout number must fit voice or video lives, and an unknown number stands for the default`() {
        var harness = ConnectionHarness(["a", "b"])
        for (requested, resolved) in [(0, 600), (600, 600), (601, 601), (400, 400), (801, 600), (999, 600)] {
            _ = self.ask(&harness, "a", "b", template: requested)
            #expect(harness.accept("b", "a").reportedConnection("a")?.templateID == resolved, "\(requested)")
            _ = harness.exit("a")
        }
        for wrong in [2, 50, 199, 1000, -1] {
            #expect(self.ask(&harness, "a", "b", template: wrong).code == 100002, "\(wrong)")
        }
        var voice = ConnectionHarness([])
        for live: LiveID in ["u", "v"] {
            _ = voice.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        #expect(self.ask(&voice, "u", "v", template: 600).code == 100002)
        _ = self.ask(&voice, "u", "v", template: 50)
        #expect(voice.accept("v", "u").reportedConnection("u")?.templateID == 2)
    }

    @Test(arguments: [(400, 2), (601, 7), (600, 9)])
    func `I12 a connection is full when its layout has no free place`(template: Int, capacity: Int) {
        let lives = (0..<10).map { LiveID("l\($0)") }
        var harness = ConnectionHarness(lives)
        // The last live was invited while a place was free.
        _ = self.ask(&harness, lives[0], lives[1], template: template)
        _ = harness.accept(lives[1], lives[0])
        _ = harness.request(lives[1], lives[9])
        for live in lives[2...8].prefix(capacity - 2) {
            #expect(harness.request(lives[0], live).liveCodes == [0])
            #expect(harness.accept(live, lives[0]).code == 0)
        }
        #expect(harness.live(lives[0])?.connection != nil)
        if capacity == 2 {
            #expect(harness.live(lives[9])?.incoming == nil, "a full connection sends no request")
        } else {
            #expect(harness.accept(lives[9], lives[1]).code == 100404)
        }
        let late = harness.request(lives[1], "l8")
        #expect(capacity == 9 || late.liveCodes == [4])
        #expect(capacity == 9 || self.reasons(late) == [100404])
    }

    /// Rules: R8.5.
    @Test func `a live may send ten co-host requests at once, then one each second`() {
        var harness = ConnectionHarness(["a", "b"])
        for _ in 0..<10 { #expect(harness.request("a", "nobody").liveCodes == [1]) }
        let before = harness.machine.journal[.live(LiveKey("demo", "a"))]
        let refused = harness.request("a", "b")
        #expect(refused.code == 100405)
        guard case .failure(let error)? = refused.replies.last?.outcome else {
            Issue.record("not refused")
            return
        }
        #expect(error.retryAfter == 1000 && error.message.contains("10"))
        #expect(harness.machine.journal[.live(LiveKey("demo", "a"))] == before, "a rejected call changes nothing")
        #expect(harness.request("b", "nobody").code == 0, "each live has its own limit")
        _ = harness.advance(milliseconds: 999)
        #expect(harness.request("a", "b").code == 100405)
        _ = harness.advance(milliseconds: 1)
        #expect(harness.request("a", "b").liveCodes == [0])
        #expect(harness.request("a", "b").code == 100405)
    }

    /// Ten seats of a voice live, of which the first `occupied` are taken.
    private func seats(_ live: LiveID, occupied: Int) -> [Seat] {
        (0..<10).map { index in
            let user = SeatUser(user: info(UserID("guest\(index)")), role: .generalUser, live: live)
            return Seat(index: index, occupant: index < occupied ? user : nil)
        }
    }

    /// Rules: R7.14.
    @Test func `a voice live with more than six occupied seats can neither invite, nor be invited, nor accept`() {
        var harness = ConnectionHarness([])
        for live: LiveID in ["u", "v"] {
            _ = harness.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        _ = harness.handle(.seatsChanged(live: "u", seats: self.seats("u", occupied: 7)))
        #expect(harness.request("u", "v").code == 100013)
        let requested = harness.request("v", "u")
        #expect(requested.liveCodes == [4] && self.reasons(requested) == [100013])
        _ = harness.handle(.seatsChanged(live: "u", seats: self.seats("u", occupied: 6)))
        #expect(harness.request("v", "u").liveCodes == [0])
        _ = harness.handle(.seatsChanged(live: "u", seats: self.seats("u", occupied: 7)))
        #expect(harness.accept("u", "v").code == 100013)
        _ = harness.handle(.seatsChanged(live: "u", seats: self.seats("u", occupied: 6)))
        _ = harness.handle(.seatsChanged(live: "v", seats: self.seats("v", occupied: 8)))
        #expect(harness.accept("u", "v").code == 100013, "the inviting live is crowded now")
        _ = harness.handle(.seatsChanged(live: "v", seats: self.seats("v", occupied: 0)))
        #expect(harness.accept("u", "v").code == 0)
    }

    @Test func `a video live with any number of occupied seats can connect`() {
        var harness = ConnectionHarness(["a", "b"])
        _ = harness.handle(.seatsChanged(live: "a", seats: self.seats("a", occupied: 10)))
        #expect(harness.request("a", "b").liveCodes == [0])
        #expect(harness.accept("b", "a").code == 0)
    }

    /// Rules: R7.12.
    @Test func `members see each other's occupants, and a live does not see its own twice`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let seats = self.seats("b", occupied: 3)
        let effects = harness.handle(.seatsChanged(live: "b", seats: seats))
        #expect(effects.notifiedLives == ["a", "c"])
        #expect(effects.reportedConnection("a")?.members.map(\.seats) == [nil, Array(seats.prefix(3)), nil])
        #expect(effects.reportedEvents("a") == [])
        #expect(harness.handle(.seatsChanged(live: "b", seats: seats)) == [], "nothing new")
        let joined = harness.handle(.seatsChanged(live: "c", seats: self.seats("c", occupied: 1)))
        #expect(joined.reportedConnection("b")?.members.map(\.seats?.count) == [nil, nil, 1])
        let left = harness.handle(.seatsChanged(live: "c", seats: self.seats("c", occupied: 0)))
        #expect(left.reportedConnection("a")?.members.map(\.seats?.count) == [nil, 3, 0], "nobody sits there any more")
        _ = harness.exit("b")
        #expect(harness.live("b")?.seats == nil)
        #expect(
            harness.handle(.seatsChanged(live: "b", seats: seats)) == [], "the live has no members to notify any more")
        #expect(harness.handle(.seatsChanged(live: "nobody", seats: seats)) == [])
    }

    /// Rules: R8.15.
    @Test func `I16 members see at most fifty seats of a video live, and six of a voice live`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let many = (0..<60).map { index in
            Seat(index: index, occupant: SeatUser(user: info("g"), role: .generalUser, live: "a"))
        }
        #expect(
            harness.handle(.seatsChanged(live: "a", seats: many)).reportedConnection("b")?.members[0].seats?.count == 50
        )
        var voice = ConnectionHarness([])
        for live: LiveID in ["u", "v"] {
            _ = voice.handle(.opened(live: live, owner: ConnectionHarness.host(live), isVoice: true))
        }
        voice.connect("u", "v")
        let shown = voice.handle(.seatsChanged(live: "u", seats: self.seats("u", occupied: 2)))
        #expect(shown.reportedConnection("v")?.members[0].seats == Array(self.seats("u", occupied: 2).prefix(6)))
    }

    /// Rules: R8.13.
    @Test func `owner and admins can mute a remote host, in their own live only`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        _ = harness.handle(.rights(live: "a", admins: ["adam"]))
        func mute(_ user: UserID, _ other: LiveID, _ isMuted: Bool) -> [Effect] {
            harness.handle(.muteRemote(live: "a", other: other, isMuted: isMuted, caller: harness.callers.user(user)))
        }
        #expect(mute("gina", "b", true).code == -2301)
        let muted = mute("adam", "b", true)
        #expect(muted.notifiedLives == ["a"], "the other host is not notified")
        #expect(muted.reportedConnection("a")?.mutedLives == ["b"])
        #expect(muted.reportedEvents("a") == [.coHostMuted(live: "b", isMuted: true)])
        #expect(mute("host-a", "b", true).seatInputs == [], "muted already")
        #expect(mute("host-a", "c", true).reportedConnection("a")?.mutedLives == ["b", "c"])
        #expect(mute("host-a", "b", false).reportedConnection("a")?.mutedLives == ["c"])
        #expect(mute("host-a", "a", true).code == 100400)
        #expect(mute("host-a", "nobody", true).code == 100400)
        #expect(harness.exit("c").reportedConnection("a")?.mutedLives == [], "a live that leaves is no longer muted")
        _ = harness.handle(.rights(live: "a", admins: []))
        #expect(mute("adam", "b", true).code == -2301)
        _ = harness.exit("a")
        #expect(mute("host-a", "b", true).code == 100400)
    }

    /// Rules: R8.20.
    @Test func `the live of an owner who was gone and returns is in no connection, and must send new requests`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        #expect(harness.handle(.userGone(live: "a", user: "host-a")).reportedConnection("b") == nil)
        #expect(harness.handle(.userBack(live: "a", user: ConnectionHarness.host("a"))) == [])
        #expect(harness.live("a")?.connection == nil)
        #expect(harness.request("b", "a").liveCodes == [0])
        #expect(harness.accept("a", "b").code == 0)
    }

    @Test func `members see a host's new name`() {
        var harness = ConnectionHarness(["a", "b"])
        harness.connect("a", "b")
        let renamed = UserInfo(userID: "host-a", userName: "Anna the Great")
        let effects = harness.handle(.userBack(live: "a", user: renamed))
        #expect(effects.notifiedLives == ["a", "b"])
        #expect(effects.reportedConnection("b")?.members[0].host == renamed)
        #expect(harness.handle(.userBack(live: "a", user: info("gina"))) == [], "a viewer's name changes nothing")
        let later = harness.handle(.profile(live: "b", user: UserInfo(userID: "host-b", userName: "Bea")))
        #expect(later.reportedConnection("a")?.members.map(\.host.userName) == ["Anna the Great", "Bea"])
        #expect(
            harness.handle(.profile(live: "b", user: UserInfo(userID: "host-b", userName: "Bea"))) == [],
            "a repeated report changes nothing")
        #expect(harness.handle(.profile(live: "b", user: info("gina"))) == [], "a viewer's name changes nothing")
        // An older report of the seats arrives after the new name. It is ignored, because only presence reports
        // names.
        let seated = SeatUser(user: ConnectionHarness.host("b"), role: .owner, live: "b")
        let seats = harness.handle(.seatsChanged(live: "b", seats: [Seat(index: 0, occupant: seated)]))
        #expect(seats.reportedConnection("a")?.members[1].host.userName == "Bea")
    }

    /// Rules: R2.15.
    @Test func `a running battle and later battles show a host's new name`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let battle = harness.startBattle("a", "b")
        let renamed = UserInfo(userID: "host-b", userName: "Bea")
        let effects = harness.handle(.profile(live: "b", user: renamed))
        #expect(effects.notifiedLives == ["a", "b", "c"])
        for live: LiveID in ["a", "b"] {
            let view = effects.reportedBattle(live)
            #expect(view?.id == battle)
            #expect(view?.sides.map(\.host) == [ConnectionHarness.host("a"), renamed])
            #expect(effects.reportedEvents(live) == [])
        }
        _ = harness.advance(milliseconds: 60_000)
        _ = harness.startBattle("b", "c")
        #expect(harness.live("b")?.owner == renamed)
        let moved = harness.handle(.profile(live: "c", user: UserInfo(userID: "host-c", userName: "Cleo")))
        #expect(moved.reportedBattle("b")?.sides.map(\.host.userName) == ["Bea", "Cleo"])
        #expect(
            moved.reportedBattle("a")?.sides.map(\.host.userName) == ["Bea", "Cleo"],
            "a live outside the battle sees it too")
    }

    /// Rules: R8.21.
    @Test func `an ended live leaves battle and connection, then the members are notified, and then its seats`() {
        var harness = ConnectionHarness(["a", "b", "c"])
        harness.connect("a", "b", "c")
        let battle = harness.startBattle("a", "b")
        let effects = harness.handle(.ended(live: "a", ending: ending()))
        #expect(effects.notifiedLives == ["a", "b", "c", "a"])
        #expect(
            effects.reportedEvents("b") == [
                .battleUserExited(battle: battle, live: "a"), .coHostLeft(member: harness.member("a")),
            ])
        #expect(
            effects.reportedEvents("c") == [
                .battleUserExited(battle: battle, live: "a"), .coHostLeft(member: harness.member("a")),
            ])
        #expect(effects.last == .seat(SeatInput(LiveKey("demo", "a"), .ended(ending: ending()))))
        #expect(
            harness.handle(.ended(live: "unknown", ending: ending()))
                == [.seat(SeatInput(LiveKey("demo", "unknown"), .ended(ending: ending())))])
    }

    @Test func `I6 the revocation fence is read only if the live has kicked users, and is removed with the live`() {
        var harness = ConnectionHarness(["a", "b"])
        _ = harness.handle(.floor(live: "a", user: "host-a", ticket: Ticket(51)))
        #expect(harness.live("a")?.hasRevocations == true && harness.live("b")?.hasRevocations == false)
        #expect(harness.handle(.exit(live: "b", caller: harness.callers.user("host-b", ticket: nil))).code == -2101)
        _ = harness.handle(.ended(live: "a", ending: ending()))
        _ = harness.handle(.opened(live: "a", owner: ConnectionHarness.host("a"), isVoice: false))
        #expect(harness.request("a", "b").liveCodes == [0], "another live of the same name")
    }

    /// Rules: R16.11.
    @Test func `I15 a late retry asks nobody, and gets its outcome while it is remembered`() {
        var harness = ConnectionHarness(["a", "b"])
        var caller = harness.callers.user("host-a")
        func request(_ caller: Caller) -> ConnectionCommand {
            .request(from: "a", to: ["b"], layoutTemplate: 0, timeoutSeconds: 0, extensionInfo: "", caller: caller)
        }
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)).code == ReplyCode.requestForgotten.code)
        caller.isLateRetry = false
        let first = harness.handle(request(caller))
        #expect(first.notices.count == 1)
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)) == first.filter { if case .reply = $0 { true } else { false } })
        _ = harness.advance(milliseconds: 70_000)
        caller.isLateRetry = false
        #expect(harness.handle(request(caller)).code == ReplyCode.requestForgotten.code, "the floor is kept")
        #expect(harness.advance(milliseconds: 310_000).notices == [])
        caller.isLateRetry = true
        #expect(harness.handle(request(caller)).code == ReplyCode.requestForgotten.code)
    }
}
